use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::memory::{Buffer, PinnedBuffer, PinnedFlags};
use cuprum::{Driver, In, InOut, LaunchConfig, Module, Stream};

const CHUNKS: usize = 4;
const N: usize = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = PrimaryContext::retain(Driver::load()?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let module = Module::load_ptx(&cx, include_str!("../../../../kernels/saxpy.ptx"))?.share();
    let saxpy = module.kernel::<(u32, f32, In<f32>, InOut<f32>)>("saxpy")?;
    let streams = [Stream::new(&cx)?, Stream::new(&cx)?];
    let x = Buffer::from_slice(&cx, &vec![1f32; N])?;
    let mut chunks = Vec::new();
    for i in 0..CHUNKS {
        let host = PinnedBuffer::from_slice(&cx, &vec![i as f32; N], PinnedFlags::empty())?;
        chunks.push((host, Buffer::<f32>::alloc(&cx, N)?));
    }
    let config = LaunchConfig::for_elements(N, 256);
    cx.multi_scope(|scope| {
        for (i, (host, device)) in chunks.iter_mut().enumerate() {
            let (stream, lane) = (&streams[i % 2], scope.on(&streams[i % 2])?);
            let (host, y) = (lane.lend(host)?, lane.lend(device.as_mut_slice())?);
            lane.copy(&y, &host)?;
            // SAFETY: saxpy touches N elements of each; x is only read, and y is lent to the scope
            // of this stream.
            unsafe { saxpy.launch(&cx, stream, config, (N as u32, 2.0, &x, &y)) }?;
            lane.copy(&host, &y)?;
        }
        Ok(())
    })?;
    for (i, (host, _)) in chunks.iter().enumerate() {
        assert!(host.iter().all(|&sum| sum == i as f32 + 2.0));
        println!("chunk {i} is right");
    }
    Ok(())
}
