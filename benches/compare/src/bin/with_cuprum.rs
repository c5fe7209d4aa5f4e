use std::error::Error;

use compare::{ALLOCATED_BYTES, COPIED_BYTES, ELEMENTS, KERNELS, kernels, serve, timed};
use cuprum::graph::{CaptureMode, InstantiateFlags};
use cuprum::pool::StreamBuffer;
use cuprum::{
    Buffer, ContextStack, Driver, Event, EventFlags, HostIn, HostInOut, In, InOut, LaunchConfig, Module,
    PrimaryContext, Stream,
};

fn main() -> Result<(), Box<dyn Error>> {
    let context = PrimaryContext::retain(Driver::load()?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let modules = kernels()?;
    let modules = [Module::load_ptx(&cx, &modules[0])?, Module::load_ptx(&cx, &modules[1])?];
    let empty = modules[0].function("empty")?.bind::<()>()?;
    let saxpy = modules[1].function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    let stream = Stream::new(&cx)?;
    let (one, warp, all) =
        (LaunchConfig::new(1, 1), LaunchConfig::new(1, 32), LaunchConfig::for_elements(ELEMENTS, 256));

    let (x, mut y) = (Buffer::from_slice(&cx, &[1f32; 32])?, Buffer::from_slice(&cx, &[0f32; 32])?);
    let (mut bytes, mut host) = (Buffer::<u8>::zeroed(&cx, COPIED_BYTES)?, vec![0u8; COPIED_BYTES]);
    let (start, end) = (Event::new(&cx, EventFlags::empty())?, Event::new(&cx, EventFlags::empty())?);
    let mut captured = Stream::new(&cx)?;
    let (graph, ()) = cx.capture(&mut captured, CaptureMode::ThreadLocal, |capture| {
        // SAFETY: it does nothing.
        (0..KERNELS).try_for_each(|_| unsafe { capture.launch(&empty, one, ()) })
    })?;
    let mut graph = graph.instantiate(&cx, InstantiateFlags::empty())?;

    let (n, host_x, mut host_y) = (ELEMENTS as u32, vec![1f32; ELEMENTS], vec![1f32; ELEMENTS]);
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
    unsafe { saxpy.call(&cx, &stream, all, (n, 2.0, HostIn(&host_x), HostInOut(&mut host_y))) }?;
    assert!(host_y.iter().all(|&sum| sum == 3.0));

    let settle = || stream.synchronize(&cx).expect("a wait");
    serve("cuprum", |operation, times| match operation {
        // SAFETY: it does nothing.
        "launch" => timed(times, || unsafe { empty.launch(&cx, &stream, one, ()) }, settle),
        "launch_arguments" => {
            // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
            timed(times, || unsafe { saxpy.launch(&cx, &stream, warp, (32, 2.0, &x, &mut y)) }, settle)
        }
        "launch_wait" => {
            let once = || {
                // SAFETY: it does nothing.
                unsafe { empty.launch(&cx, &stream, one, ()) }?;
                Ok::<_, Box<dyn Error>>(stream.synchronize(&cx)?)
            };
            timed(times, once, settle)
        }
        "to_device" => timed(times, || bytes.copy_from_host(&cx, &host), settle),
        "to_host" => timed(times, || bytes.copy_to_host(&cx, &mut host), settle),
        "alloc" => timed(times, || Buffer::<u8>::alloc(&cx, ALLOCATED_BYTES), settle),
        "alloc_ordered" => timed(times, || StreamBuffer::<u8>::alloc(&cx, &stream, ALLOCATED_BYTES), settle),
        "event" => {
            let once = || {
                start.record(&cx, &stream)?;
                end.record(&cx, &stream)?;
                end.synchronize()?;
                end.elapsed_since(&start)
            };
            timed(times, once, settle)
        }
        "graph" => graph.replay(&cx, &stream, |replay| timed(times, || replay.launch(), settle))?,
        "saxpy" => {
            let once = || {
                let arguments = (n, 2.0, HostIn(&host_x), HostInOut(&mut host_y));
                // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
                unsafe { saxpy.call(&cx, &stream, all, arguments) }
            };
            timed(times, once, settle)
        }
        other => Err(format!("there is no {other}").into()),
    })
}
