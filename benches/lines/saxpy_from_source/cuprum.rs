use cuprum::{Buffer, ContextStack, Driver, In, InOut, LaunchConfig, Module, PrimaryContext, Stream};

const SOURCE: &str = r#"
extern "C" __global__ void saxpy(unsigned n, float alpha, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let module = Module::compile(&cx, SOURCE)?;
    let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    let x = Buffer::from_slice(&cx, &[1.0f32; 1000])?;
    let mut y = Buffer::from_slice(&cx, &[2.0f32; 1000])?;
    let config = LaunchConfig::for_elements(1000, 256);
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; the copy below comes after it on the same stream.
    unsafe { saxpy.launch(&cx, &Stream::default_in(&cx), config, (1000, 3.0, &x, &mut y)) }?;
    assert_eq!(y.to_vec(&cx)?, [5.0; 1000]);
    Ok(())
}
