use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

const N: usize = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let add = context
        .load_module(Ptx::from_src(include_str!(
            "../../../../kernels/vector_add.ptx"
        )))?
        .load_function("vector_add")?;
    let saxpy = context
        .load_module(Ptx::from_src(include_str!("../../../../kernels/saxpy.ptx")))?
        .load_function("saxpy")?;
    let config = LaunchConfig {
        grid_dim: (N.div_ceil(256) as u32, 1, 1),
        block_dim: (256, 1, 1),
        shared_mem_bytes: 0,
    };
    let (a, b, mut y) = (vec![1.5f32; N], vec![2.0f32; N], vec![0.0f32; N]);
    let n = N as u32;
    let (on_device, other) = (stream.clone_htod(&a)?, stream.clone_htod(&b)?);
    let mut sums = stream.alloc_zeros::<f32>(N)?;
    let mut launch = stream.launch_builder(&add);
    launch.arg(&on_device).arg(&other).arg(&mut sums).arg(&n);
    // SAFETY: vector_add(a, b, sums, n) touches n elements of each.
    unsafe { launch.launch(config) }?;
    stream.memcpy_dtoh(&sums, &mut y)?;
    let (x, mut on_device) = (stream.clone_htod(&a)?, stream.clone_htod(&y)?);
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&n).arg(&2.0f32).arg(&x).arg(&mut on_device);
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
    unsafe { launch.launch(config) }?;
    stream.memcpy_dtoh(&on_device, &mut y)?;
    stream.synchronize()?;
    println!("{:.1} {:.1}", y[0], y[N - 1]);
    Ok(())
}
