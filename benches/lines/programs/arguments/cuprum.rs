use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::launch::{HostIn, HostInOut, HostOut};
use cuprum::{Driver, In, InOut, LaunchConfig, Module, Stream};

const N: usize = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = PrimaryContext::retain(Driver::load()?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let module = Module::load_ptx(&cx, include_str!("../../../../kernels/vector_add.ptx"))?;
    let add = module
        .function("vector_add")?
        .bind::<(In<f32>, In<f32>, InOut<f32>, u32)>()?;
    let module = Module::load_ptx(&cx, include_str!("../../../../kernels/saxpy.ptx"))?;
    let saxpy = module
        .function("saxpy")?
        .bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    let (stream, config) = (Stream::default_in(&cx), LaunchConfig::for_elements(N, 256));
    let (a, b, mut y) = (vec![1.5f32; N], vec![2.0f32; N], vec![0.0f32; N]);
    let arguments = (HostIn(&a), HostIn(&b), HostOut(&mut y), N as u32);
    // SAFETY: vector_add(a, b, sums, n) touches n elements of each.
    unsafe { add.call(&cx, &stream, config, arguments) }?;
    let arguments = (N as u32, 2.0, HostIn(&a), HostInOut(&mut y));
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
    unsafe { saxpy.call(&cx, &stream, config, arguments) }?;
    println!("{:.1} {:.1}", y[0], y[N - 1]);
    Ok(())
}
