use cudarc::driver::sys::CUevent_flags_enum::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

const N: usize = 1 << 22;
const BLOCKS: u32 = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let module = context.load_module(Ptx::from_src(include_str!(
        "../../../../kernels/reduce_shared.ptx"
    )))?;
    let reduce = module.load_function("reduce_shared")?;
    let stream = context.new_stream()?;
    let input = stream.clone_htod(&vec![0.5f32; N])?;
    let mut partial = stream.alloc_zeros::<f32>(BLOCKS as usize)?;
    let (n, config) = (
        N as u32,
        LaunchConfig {
            grid_dim: (BLOCKS, 1, 1),
            block_dim: (256, 1, 1),
            shared_mem_bytes: 0,
        },
    );
    let start = stream.record_event(Some(CU_EVENT_DEFAULT))?;
    let mut launch = stream.launch_builder(&reduce);
    launch.arg(&input).arg(&mut partial).arg(&n);
    // SAFETY: blocks of 256 threads read N elements, and each writes one of BLOCKS sums.
    unsafe { launch.launch(config) }?;
    let end = stream.record_event(Some(CU_EVENT_DEFAULT))?;
    let sum: f32 = stream.clone_dtoh(&partial)?.iter().sum();
    let milliseconds = start.elapsed_ms(&end)?;
    println!("{sum}, in less than a minute: {}", milliseconds < 60e3);
    Ok(())
}
