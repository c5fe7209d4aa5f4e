//! From CUDA C to a result, with host arrays: the first program of the README.
//!
//! ```text
//! pip install nvidia-cuda-nvrtc        # without a CUDA toolkit
//! cargo run --example 18_from_c
//! ```

use cuprum::launch::{HostIn, HostInOut};
use cuprum::{In, InOut, LaunchConfig, Stream};

const SOURCE: &str = r#"
extern "C" __global__ void saxpy(unsigned n, float alpha, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?; // a GPU if there is one, otherwise the software device
    let context = cuprum::open_in(library, 0)?; // to require a GPU, replace both lines by `let context = cuprum::open(0)?;`
    context.enter(|cx| {
        let module = cuprum_compile::compile(cx, SOURCE)?; // compiled by NVRTC
        let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?; // sizes checked against the kernel
        let (x, mut y) = (vec![1.0f32; 1000], vec![2.0f32; 1000]);
        let (stream, config) = (Stream::new(cx)?, LaunchConfig::for_elements(x.len(), 256));
        // SAFETY: saxpy accesses the first 1000 elements of x and of y, and both have 1000.
        unsafe { saxpy.call(cx, &stream, config, (1000u32, 3f32, HostIn(&x), HostInOut(&mut y))) }?;
        assert_eq!(y, [5.0; 1000]);
        Ok(())
    })?;
    println!("1000 sums, every one right");
    Ok(())
}
