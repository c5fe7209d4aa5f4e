//! From CUDA C to a result, with arrays of the host: the first program of the README.
//!
//! ```text
//! pip install nvidia-cuda-nvrtc        # where there is no CUDA toolkit
//! cargo run --example 18_from_c
//! ```

use cuprum::{
    ContextStack, Driver, HostIn, HostInOut, In, InOut, LaunchConfig, Module, PrimaryContext, Stream,
};

const SOURCE: &str = r#"
extern "C" __global__ void saxpy(unsigned n, float alpha, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?; // a GPU, or else the software device
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?; // current on this thread until `cx` is dropped

    let module = Module::compile(&cx, SOURCE)?; // with the NVRTC that the machine has
    let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?; // compared with the kernel
    let (x, mut y) = (vec![1.0f32; 1000], vec![2.0f32; 1000]);
    let (stream, config) = (Stream::new(&cx)?, LaunchConfig::for_elements(x.len(), 256));
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
    unsafe { saxpy.call(&cx, &stream, config, (1000u32, 3f32, HostIn(&x), HostInOut(&mut y))) }?;
    assert_eq!(y, [5.0; 1000]);
    println!("1000 sums, every one right");
    Ok(())
}
