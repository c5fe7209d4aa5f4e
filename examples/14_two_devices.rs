//! Two devices in one program: a kernel on each at the same time, a copy from one to the other, and a kernel that reads
//! the other's memory where it lies. The software device has two as well. More than one machine: `15_nccl`.

use cuprum::{Buffer, Driver, In, InOut, LaunchConfig, Module, PrimaryContext, Stream};
use cuprum::{SharedContext, SharedKernel};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const LEN: usize = 1 << 16;

/// What each device has.
struct Part {
    context: SharedContext,
    saxpy: SharedKernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
    stream: Stream<'static>,
    x: Buffer<'static, f32>,
    y: Buffer<'static, f32>,
}

impl Part {
    fn new(context: SharedContext, x: f32) -> Result<Self> {
        context.enter(|cx| {
            let module = Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?.share();
            let (saxpy, stream) = (module.kernel("saxpy")?, Stream::new(cx)?);
            let (x, y) = (Buffer::from_slice(cx, &[x; LEN])?, Buffer::zeroed(cx, LEN)?);
            Ok(Self { context: context.clone(), saxpy, stream, x, y })
        })?
    }
}

fn main() -> Result<()> {
    cuprum_emulator::Settings::from_env()?.devices(2).install()?;
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let driver = Driver::init(library)?;
    let (first, second) = (driver.device(0)?, driver.device(1)?);
    let mut here = Part::new(PrimaryContext::retain(first)?.share(), 1.0)?;
    let mut there = Part::new(PrimaryContext::retain(second)?.share(), 10.0)?;

    let (n, config) = (LEN as u32, LaunchConfig::for_elements(LEN, 256));
    for Part { context, saxpy, stream, x, y } in [&mut here, &mut there] {
        // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; both streams, at work together, are waited for below.
        context.enter(|cx| unsafe { saxpy.launch(cx, stream, config, (n, 2.0, &*x, y)) })??;
    }
    there.context.enter(|cx| there.stream.synchronize(cx))??;

    here.context.enter(|cx| {
        // After all work of both contexts so far; without access it passes through the host.
        let access = first.can_access_peer(second)?.then(|| cx.enable_peer_access(&there.context));
        let access = access.transpose()?;
        here.x.as_mut_slice().copy_from_peer(cx, there.y.as_slice())?;
        println!("copied: {:?}", &here.x.to_vec(cx)?[..3]);
        if access.is_some() {
            // SAFETY: as above; nobody writes `there.y`, which this device may read as long as `access` lives.
            unsafe { here.saxpy.launch(cx, &here.stream, config, (n, 0.5, &there.y, &mut here.y)) }?;
        }
        println!("read where it lies: {:?}", &here.y.to_vec(cx)?[..3]);
        Ok(())
    })?
}
