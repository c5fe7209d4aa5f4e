//! Two devices in one program: a kernel on each at the same time, a copy from one to the other, and
//! a kernel that reads the other device's memory directly. The software device also provides two.
//! For several machines, see `cuprum-nccl`.

use cuprum::memory::Peer;
use cuprum::{Buffer, ContextRef, In, InOut, Kernel, LaunchConfig, Module, Shared, Stream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const LEN: usize = 1 << 16;

/// The objects of each device.
struct Part {
    context: Shared<ContextRef>,
    saxpy: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
    stream: Stream<'static>,
    x: Buffer<'static, f32>,
    y: Buffer<'static, f32>,
}

impl Part {
    fn new(context: Shared<ContextRef>, x: f32) -> Result<Self> {
        context.enter_as(|cx| {
            let module = Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?.share();
            let (saxpy, stream) = (module.kernel("saxpy")?, Stream::new(cx)?);
            let (x, y) = (Buffer::from_slice(cx, &[x; LEN])?, Buffer::zeroed(cx, LEN)?);
            Ok(Self { context: context.clone(), saxpy, stream, x, y })
        })
    }
}

fn main() -> Result<()> {
    cuprum_emulator::Settings::from_env()?.devices(2).install()?;
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let mut here = Part::new(cuprum::open_in(library, 0)?, 1.0)?;
    let mut there = Part::new(cuprum::open_in(library, 1)?, 10.0)?;
    let (first, second) = (here.context.device(), there.context.device());

    let (n, config) = (LEN as u32, LaunchConfig::for_elements(LEN, 256));
    for Part { context, saxpy, stream, x, y } in [&mut here, &mut there] {
        // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; the waits for both are below.
        context.enter(|cx| Ok(unsafe { saxpy.launch(cx, stream, config, (n, 2.0, &*x, y)) }?))?;
    }
    there.context.enter(|cx| Ok(there.stream.synchronize(cx)?))?;

    here.context.enter_as(|cx| {
        // Runs after all work of both contexts. Without peer access, the data takes the host's way.
        let access = first.can_access_peer(second)?.then(|| cx.enable_peer_access(&there.context));
        let access = access.transpose()?;
        cx.copy(&mut here.x, &Peer(&there.y))?;
        println!("copied: {:?}", &here.x.to_vec(cx)?[..3]);
        if access.is_some() {
            // SAFETY: as above; this device may read `there.y` while `access` lives.
            unsafe { here.saxpy.launch(cx, &here.stream, config, (n, 0.5, &there.y, &mut here.y)) }?;
        }
        println!("read where it lies: {:?}", &here.y.to_vec(cx)?[..3]);
        Ok(())
    })
}
