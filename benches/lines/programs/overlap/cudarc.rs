use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

const CHUNKS: usize = 4;
const N: usize = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let module =
        context.load_module(Ptx::from_src(include_str!("../../../../kernels/saxpy.ptx")))?;
    let saxpy = module.load_function("saxpy")?;
    let streams = [context.new_stream()?, context.new_stream()?];
    let x = streams[0].clone_htod(&vec![1f32; N])?;
    let mut chunks = Vec::new();
    for i in 0..CHUNKS {
        // SAFETY: all of it is written before it is read.
        let mut host = unsafe { context.alloc_pinned::<f32>(N) }?;
        host.as_mut_slice()?.fill(i as f32);
        chunks.push((host, streams[i % 2].alloc_zeros::<f32>(N)?));
    }
    let (n, alpha) = (N as u32, 2f32);
    for (i, (host, y)) in chunks.iter_mut().enumerate() {
        let stream = &streams[i % 2];
        stream.memcpy_htod(host, y)?;
        let mut launch = stream.launch_builder(&saxpy);
        launch.arg(&n).arg(&alpha).arg(&x).arg(&mut *y);
        // SAFETY: saxpy touches N elements of each.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;
        stream.memcpy_dtoh(y, host)?;
    }
    for stream in &streams {
        stream.synchronize()?;
    }
    for (i, (host, _)) in chunks.iter().enumerate() {
        assert!(host.as_slice()?.iter().all(|&sum| sum == i as f32 + 2.0));
        println!("chunk {i} is right");
    }
    Ok(())
}
