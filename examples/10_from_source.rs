//! From CUDA C++ to a result: a kernel and an instance of a template, compiled at run time.
//!
//! ```text
//! pip install nvidia-cuda-nvrtc        # without a CUDA toolkit; the error lists the places searched
//! cargo run --example 10_from_source
//! ```

use std::error::Error;

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::{Buffer, Driver, In, InOut, LaunchConfig, Stream};
use cuprum_compile::{Compiler, Options, Source};

const SAXPY: &str = r#"
extern "C" __global__ void saxpy(unsigned n, float alpha, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}"#;

const FILL: &str = r#"
#include "scale.h"
template <class T> __global__ void fill(T *out, T value) { out[threadIdx.x] = SCALE * value; }"#;

fn main() -> Result<(), Box<dyn Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let stream = Stream::default_in(&cx);

    // From source to a bound kernel.
    let module = cuprum_compile::compile(&cx, SAXPY)?;
    let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;

    let x = Buffer::from_slice(&cx, &[1.0f32; 1000])?;
    let mut y = Buffer::from_slice(&cx, &[2.0f32; 1000])?;
    let config = LaunchConfig::for_elements(x.len(), 256);
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; the copy below comes after it on
    // the same stream.
    unsafe { saxpy.launch(&cx, &stream, config, (1000, 3.0, &x, &mut y)) }?;
    assert_eq!(y.to_vec(&cx)?, [5.0; 1000]);

    // With a header in memory, options, and an instance of a template, named by its expression.
    let compiler = Compiler::load_for(context.driver())?;
    let source = Source::new(FILL).named("fill.cu").header("scale.h", "#pragma once").expression("fill<int>");
    let options = Options::new().define("SCALE", 2).option("--std=c++17").option("--generate-line-info");
    let code = compiler.compile_for(context.device(), &source, &options)?;
    let module = code.load(&cx)?;
    let fill = module.function("fill<int>")?.bind::<(InOut<i32>, i32)>()?;
    let mut out = Buffer::<i32>::zeroed(&cx, 32)?;
    // SAFETY: each of the 32 threads writes the element with its number.
    unsafe { fill.launch(&cx, &stream, LaunchConfig::new(1, 32), (&mut out, 21)) }?;
    assert_eq!(out.to_vec(&cx)?, [42; 32]);

    println!("{compiler} made {} for {}: all right", code.output(), context.device().name()?);
    Ok(())
}
