//! The device, opened on first use, and its operations.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cuprum::context::PrimaryContext;
use cuprum::launch::{HostIn, HostOut};
use cuprum::{ContextRef, Driver, In, Kernel, LaunchConfig, Module, Shared, Stream};

use crate::array::{Array, Arrays, same_length};
use crate::code::{Failure, forked, invalid};

type Add = Kernel<'static, (In<f32>, In<f32>, cuprum::InOut<f32>, u32)>;

/// A context, a kernel, and the existing arrays.
pub(crate) struct Gpu {
    pub(crate) context: Shared<ContextRef>,
    pub(crate) name: String,
    add: Add,
    arrays: Mutex<Arrays>,
}

impl Gpu {
    /// The device. A failure is kept, so every caller gets the same one.
    pub(crate) fn get() -> Result<&'static Self, Failure> {
        static GPU: OnceLock<Result<Gpu, Failure>> = OnceLock::new();
        // The first process that asks. A child must not wait for a thread or a lock that exists
        // only in its parent.
        static PROCESS: OnceLock<u32> = OnceLock::new();
        let this = std::process::id();
        if *PROCESS.get_or_init(|| this) != this {
            return Err(forked());
        }
        GPU.get_or_init(Self::new).as_ref().map_err(Failure::clone)
    }

    fn new() -> Result<Self, Failure> {
        let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
        let device = Driver::init(library)?.choose_device(Ok)?;
        let name = format!("{} ({choice})", device.name()?);
        let context = PrimaryContext::retain(device)?.share();
        let ptx = include_str!("../../../kernels/vector_add.ptx");
        let module = context.enter(|cx| Ok(Module::load_ptx(cx, ptx)?))?.share();
        let add = module.kernel("vector_add")?;
        Ok(Self { context, name, add, arrays: Mutex::default() })
    }

    /// The arrays, for one thread at a time.
    pub(crate) fn arrays(&self) -> MutexGuard<'_, Arrays> {
        // A panic while they were locked leaves no array half-made.
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds two arrays into a third one.
    pub(crate) fn add(&self, a: &Array, b: &Array, sum: &mut Array) -> Result<(), Failure> {
        let len = sum.len();
        let (a, b, sum) = (a.floats()?, b.floats()?, sum.floats_mut()?);
        same_length(a.len(), len)?;
        same_length(b.len(), len)?;
        let Some(n) = launched(len)? else { return Ok(()) };
        self.context.enter_as(|cx| {
            let (stream, config) = (Stream::default_in(cx), LaunchConfig::for_elements(len, 256));
            // SAFETY: vector_add(a, b, out, n) touches n elements of each, their length. Any later
            // operation is on the same stream, or waits.
            unsafe { self.add.launch(cx, &stream, config, (a, b, sum, n)) }?;
            Ok(stream.synchronize(cx)?)
        })
    }

    /// Adds elements of the host.
    pub(crate) fn add_host(&self, a: &[f32], b: &[f32], sum: &mut [f32]) -> Result<(), Failure> {
        let Some(n) = launched(sum.len())? else { return Ok(()) };
        self.context.enter_as(|cx| {
            let (stream, config) = (Stream::default_in(cx), LaunchConfig::for_elements(sum.len(), 256));
            // SAFETY: vector_add(a, b, out, n) touches n elements of each, their length; the call
            // waits.
            unsafe { self.add.call(cx, &stream, config, (HostIn(a), HostIn(b), HostOut(sum), n)) }?;
            Ok(())
        })
    }
}

/// The number of elements as the kernel takes it; `None` if there is nothing to do.
fn launched(len: usize) -> Result<Option<u32>, Failure> {
    let n = u32::try_from(len).map_err(|_| invalid("the kernel counts elements with 32 bits"))?;
    Ok((n > 0).then_some(n))
}
