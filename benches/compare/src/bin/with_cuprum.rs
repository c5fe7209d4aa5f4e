use std::error::Error;
use std::time::Duration;

use compare::{ALLOCATED_BYTES, COPIED_BYTES, ELEMENTS, KERNELS, kernels, serve, timed};
use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::graph::{CaptureMode, GraphExec, InstantiateFlags};
use cuprum::launch::{HostIn, HostInOut};
use cuprum::pool::StreamBuffer;
use cuprum::stream::{Event, EventFlags};
use cuprum::{Buffer, Current, Driver, In, InOut, Kernel, LaunchConfig, Module, Stream};

type Saxpy<'m> = Kernel<'m, (u32, f32, In<f32>, InOut<f32>)>;

fn whole(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    saxpy: &Saxpy<'_>,
    x: &[f32],
    y: &mut [f32],
) -> cuprum::Result<()> {
    let config = LaunchConfig::for_elements(x.len(), 256);
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
    unsafe { saxpy.call(cx, stream, config, (x.len() as u32, 2.0, HostIn(x), HostInOut(y))) }
}

/// Launches of a graph, in a scope.
fn launches(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    graph: &mut GraphExec<'_>,
    times: usize,
    settle: impl Fn(),
) -> Result<Option<Duration>, Box<dyn Error>> {
    cx.scope_as(stream, |scope| {
        let graph = scope.lend_graph(graph)?;
        timed(times, || graph.launch(), settle)
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let context = PrimaryContext::retain(Driver::load()?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let modules = kernels()?;
    let modules = [Module::load_ptx(&cx, &modules[0])?, Module::load_ptx(&cx, &modules[1])?];
    let empty = modules[0].function("empty")?.bind::<()>()?;
    let saxpy: Saxpy<'_> = modules[1].function("saxpy")?.bind()?;
    let stream = Stream::new(&cx)?;
    let (one, warp) = (LaunchConfig::new(1, 1), LaunchConfig::new(1, 32));

    let (x, mut y) = (Buffer::from_slice(&cx, &[1f32; 32])?, Buffer::from_slice(&cx, &[0f32; 32])?);
    let (mut bytes, mut host) = (Buffer::<u8>::zeroed(&cx, COPIED_BYTES)?, vec![0u8; COPIED_BYTES]);
    let (start, end) = (Event::new(&cx, EventFlags::empty())?, Event::new(&cx, EventFlags::empty())?);
    let mut captured = Stream::new(&cx)?;
    let (graph, ()) = cx.capture(&mut captured, CaptureMode::ThreadLocal, |capture| {
        // SAFETY: it does nothing.
        (0..KERNELS).try_for_each(|_| unsafe { capture.launch(&empty, one, ()) })
    })?;
    let mut graph = graph.instantiate(&cx, InstantiateFlags::empty())?;

    let (host_x, mut host_y) = (vec![1f32; ELEMENTS], vec![1f32; ELEMENTS]);
    whole(&cx, &stream, &saxpy, &host_x, &mut host_y)?;
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
        "to_device" => timed(times, || cx.copy(&mut bytes, &host), settle),
        "to_host" => timed(times, || cx.copy(&mut host, &bytes), settle),
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
        "graph" => launches(&cx, &stream, &mut graph, times, settle),
        "saxpy" => timed(times, || whole(&cx, &stream, &saxpy, &host_x, &mut host_y), settle),
        other => Err(format!("there is no {other}").into()),
    })
}
