use std::error::Error;
use std::sync::Arc;

use compare::{ALLOCATED_BYTES, COPIED_BYTES, ELEMENTS, KERNELS, kernels, serve, timed};
use cudarc::driver::sys::{CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaGraph, CudaStream, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;

fn shape(grid: u32, block: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (block, 1, 1), shared_mem_bytes: 0 }
}

/// The default stream cannot be captured.
fn graph(context: &Arc<CudaContext>, empty: &CudaFunction) -> Result<CudaGraph, Box<dyn Error>> {
    let stream = context.per_thread_stream();
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    for _ in 0..KERNELS {
        // SAFETY: it does nothing.
        unsafe { stream.launch_builder(empty).launch(shape(1, 1)) }?;
    }
    Ok(stream.end_capture(CUgraphInstantiate_flags(0))?.ok_or("an empty graph")?)
}

fn whole(
    stream: &Arc<CudaStream>,
    saxpy: &CudaFunction,
    x: &[f32],
    y: &mut [f32],
) -> Result<(), DriverError> {
    let (there_x, mut there_y) = (stream.clone_htod(x)?, stream.clone_htod(y)?);
    let (n, alpha) = (x.len() as u32, 2f32);
    let mut launch = stream.launch_builder(saxpy);
    launch.arg(&n).arg(&alpha).arg(&there_x).arg(&mut there_y);
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
    unsafe { launch.launch(shape(n.div_ceil(256), 256)) }?;
    stream.memcpy_dtoh(&there_y, y)
}

fn main() -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let [empty, saxpy] = kernels()?;
    let empty = context.load_module(Ptx::from_src(empty))?.load_function("empty")?;
    let saxpy = context.load_module(Ptx::from_src(saxpy))?.load_function("saxpy")?;
    // A context with a stream other than the default one records two events for each argument of
    // each launch.
    let stream = context.default_stream();
    let (one, warp) = (shape(1, 1), shape(1, 32));

    let (x, mut y) = (stream.clone_htod(&[1f32; 32])?, stream.clone_htod(&[0f32; 32])?);
    let (mut bytes, mut host) = (stream.alloc_zeros::<u8>(COPIED_BYTES)?, vec![0u8; COPIED_BYTES]);
    let timing = Some(CUevent_flags::CU_EVENT_DEFAULT);
    let (start, end) = (context.new_event(timing)?, context.new_event(timing)?);
    let graph = graph(&context, &empty)?;

    let (host_x, mut host_y) = (vec![1f32; ELEMENTS], vec![1f32; ELEMENTS]);
    whole(&stream, &saxpy, &host_x, &mut host_y)?;
    assert!(host_y.iter().all(|&sum| sum == 3.0));

    let settle = || context.synchronize().expect("a wait");
    serve("cudarc 0.19", |operation, times| match operation {
        // SAFETY: it does nothing.
        "launch" => timed(times, || unsafe { stream.launch_builder(&empty).launch(one) }, settle),
        "launch_arguments" => {
            let once = || {
                let mut launch = stream.launch_builder(&saxpy);
                launch.arg(&32u32).arg(&2f32).arg(&x).arg(&mut y);
                // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
                unsafe { launch.launch(warp) }
            };
            timed(times, once, settle)
        }
        "launch_wait" => {
            let once = || {
                // SAFETY: it does nothing.
                unsafe { stream.launch_builder(&empty).launch(one) }?;
                stream.synchronize()
            };
            timed(times, once, settle)
        }
        "to_device" => timed(times, || stream.memcpy_htod(&host, &mut bytes), settle),
        "to_host" => timed(times, || stream.memcpy_dtoh(&bytes, &mut host), settle),
        // SAFETY: it is never read.
        "alloc_ordered" => timed(times, || unsafe { stream.alloc::<u8>(ALLOCATED_BYTES) }, settle),
        "event" => {
            let once = || {
                start.record(&stream)?;
                end.record(&stream)?;
                start.elapsed_ms(&end)
            };
            timed(times, once, settle)
        }
        "graph" => timed(times, || graph.launch(), settle),
        "saxpy" => timed(times, || whole(&stream, &saxpy, &host_x, &mut host_y), settle),
        // Not in its safe API, where memory is in the order of a stream if the device can.
        "alloc" => Ok(None),
        other => Err(format!("there is no {other}").into()),
    })
}
