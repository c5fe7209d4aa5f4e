use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::compile_ptx;

const SOURCE: &str = r#"
extern "C" __global__ void saxpy(unsigned n, float alpha, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let module = context.load_module(compile_ptx(SOURCE)?)?;
    let saxpy = module.load_function("saxpy")?;
    let x = stream.clone_htod(&[1.0f32; 1000])?;
    let mut y = stream.clone_htod(&[2.0f32; 1000])?;
    let (n, alpha) = (1000u32, 3.0f32);
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&n).arg(&alpha).arg(&x).arg(&mut y);
    // SAFETY: saxpy touches n elements of each; the copy below comes after it on the same stream.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;
    println!("{}", stream.clone_dtoh(&y)?.iter().sum::<f32>());
    Ok(())
}
