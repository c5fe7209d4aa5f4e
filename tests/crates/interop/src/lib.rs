//! Functions of C that the Python example (`examples/python/dlpack.py`) loads: memory of the host
//! and of the device as DLPack tensors, and a kernel on tensors of others.
//!
//! Each returns null or a code instead of an error, which it prints: Python needs no more here.

use std::error::Error;
use std::ptr;
use std::sync::OnceLock;

use cuprum::context::PrimaryContext;
use cuprum::launch::{HostIn, HostInOut};
use cuprum::memory::PinnedFlags;
use cuprum::{
    Buffer, ContextRef, Driver, In, InOut, Kernel, LaunchConfig, Module, PinnedBuffer, Shared, Stream,
};
use cuprum_dlpack::Tensor;
use cuprum_dlpack::abi::{CPU, CUDA_HOST, DLManagedTensor, DLManagedTensorVersioned};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct State {
    context: Shared<ContextRef>,
    saxpy: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
}

impl State {
    /// The device's primary context, which other libraries share, and a kernel.
    fn new() -> Result<Self> {
        let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
        eprintln!("{choice}");
        let context = Driver::init(library)?.choose_device(PrimaryContext::retain)?.share();
        let saxpy = context.enter_as(|cx| -> Result<_> {
            Ok(Module::load_ptx(cx, include_str!("../../../../kernels/saxpy.ptx"))?
                .share()
                .kernel("saxpy")?)
        })?;
        Ok(Self { context, saxpy })
    }

    fn get() -> Option<&'static Self> {
        static STATE: OnceLock<Option<State>> = OnceLock::new();
        STATE.get_or_init(|| said(Self::new())).as_ref()
    }
}

fn said<T>(result: Result<T>) -> Option<T> {
    result.map_err(|error| eprintln!("{error}")).ok()
}

fn made(make: impl FnOnce(&State) -> Result<Tensor>) -> *mut DLManagedTensorVersioned {
    let tensor = State::get().and_then(|state| said(make(state)));
    tensor.map_or(ptr::null_mut(), Tensor::into_versioned)
}

fn numbers(len: usize) -> Vec<f32> {
    (0..len as u32).map(|number| number as f32).collect()
}

/// The numbers from 0 on in page-locked memory of the host.
#[unsafe(no_mangle)]
pub extern "C" fn cuprum_pinned(len: usize) -> *mut DLManagedTensorVersioned {
    made(|state| {
        let pinned = |cx: &mut cuprum::Current<'_, 'static>| {
            PinnedBuffer::from_slice(cx, &numbers(len), PinnedFlags::empty())
        };
        Ok(Tensor::export(state.context.enter_as(pinned)?, &[len])?)
    })
}

/// The numbers from 0 on in memory of the device.
#[unsafe(no_mangle)]
pub extern "C" fn cuprum_device(len: usize) -> *mut DLManagedTensorVersioned {
    made(|state| {
        let buffer = state.context.enter_as(|cx| Buffer::from_slice(cx, &numbers(len)))?;
        Ok(Tensor::export(buffer, &[len])?)
    })
}

/// The same tensor for a capsule without a version; null if it cannot be one.
///
/// # Safety
/// As for [`Tensor::from_versioned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuprum_unversioned(tensor: *mut DLManagedTensorVersioned) -> *mut DLManagedTensor {
    // SAFETY: guaranteed by the caller.
    let tensor = said(unsafe { Tensor::from_versioned(tensor) }.map_err(Into::into));
    tensor.and_then(|tensor| tensor.into_unversioned().ok()).unwrap_or(ptr::null_mut())
}

/// Frees a tensor without another owner.
///
/// # Safety
/// As for [`Tensor::from_versioned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuprum_free(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: guaranteed by the caller.
    drop(unsafe { Tensor::from_versioned(tensor) });
}

/// As [`cuprum_free`].
///
/// # Safety
/// As for [`Tensor::from_unversioned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuprum_free_unversioned(tensor: *mut DLManagedTensor) {
    // SAFETY: guaranteed by the caller.
    drop(unsafe { Tensor::from_unversioned(tensor) });
}

/// Doubles the floats of a tensor in place, by a kernel. Returns 0 on success. The tensor is freed
/// in any case.
///
/// # Safety
/// As for [`Tensor::from_versioned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuprum_double(tensor: *mut DLManagedTensorVersioned) -> i32 {
    // SAFETY: guaranteed by the caller.
    double(said(unsafe { Tensor::from_versioned(tensor) }.map_err(Into::into)))
}

/// As [`cuprum_double`].
///
/// # Safety
/// As for [`Tensor::from_unversioned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuprum_double_unversioned(tensor: *mut DLManagedTensor) -> i32 {
    // SAFETY: guaranteed by the caller.
    double(said(unsafe { Tensor::from_unversioned(tensor) }.map_err(Into::into)))
}

fn double(tensor: Option<Tensor>) -> i32 {
    let done = State::get().zip(tensor).and_then(|(state, tensor)| said(doubled(state, tensor)));
    if done.is_some() { 0 } else { 1 }
}

fn doubled(state: &State, mut tensor: Tensor) -> Result<()> {
    let len = tensor.len();
    let (config, n) = (LaunchConfig::for_elements(len, 256), u32::try_from(len)?);
    state.context.enter_as(|cx| {
        let stream = Stream::new(cx)?;
        if matches!(tensor.device().device_type, CPU | CUDA_HOST) {
            let floats = tensor.as_mut_host_slice::<f32>()?;
            let same = floats.to_vec();
            // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
            return Ok(unsafe {
                state.saxpy.call(cx, &stream, config, (n, 1.0, HostIn(&same), HostInOut(floats)))
            }?);
        }
        let mut floats = tensor.into_buffer::<f32>(cx)?;
        let same = floats.as_slice().to_vec(cx)?;
        // SAFETY: as above; the call waits for it.
        Ok(unsafe { state.saxpy.call(cx, &stream, config, (n, 1.0, HostIn(&same), &mut floats)) }?)
    })
}
