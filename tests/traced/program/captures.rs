//! Captures of streams.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cuprum::graph::{Capture, CaptureMode, Graph, GraphError, InstantiateFlags};
use cuprum::stream::{Event, EventFlags};
use cuprum::{Buffer, Current, InOut, Kernel, LaunchConfig, Module, Stream};

use super::{Steps, code};

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let driver = cx.context().driver();
    steps.attempt("CaptureMode::exchange", || CaptureMode::Global.exchange(driver));
    let streams = [(); 2].map(|()| steps.attempt("Stream::new", || Stream::new(cx)));
    let event = steps.attempt("Event::new", || Event::new(cx, EventFlags::empty()));
    let module = steps.attempt("Module::load_ptx", || Module::load_ptx(cx, code::PTX.trim_end_matches('\0')));
    let [Some(mut one), Some(mut two)] = streams else { return };
    steps.attempt("Stream::capture_status", || one.capture_status(cx));
    if let (Some(event), Some(module)) = (&event, &module) {
        let function = steps.attempt("Module::function", || module.function("put"));
        let kernel = function
            .and_then(|function| steps.attempt("Function::bind", || function.bind::<(u32, InOut<u32>)>()));
        if let Some(kernel) = &kernel {
            whole(steps, cx, (&mut one, &mut two), event, kernel);
        }
    }
    left_by_a_panic(steps, cx, &mut one);
    into(steps, cx, &mut one);
    steps.done("Stream::drop", || drop((one, two)));
    steps.done("Event::drop", || drop(event));
    steps.done("Module::drop", || drop(module));
}

fn whole(
    steps: &Steps,
    cx: &Current<'_, '_>,
    (one, two): (&mut Stream<'_>, &mut Stream<'_>),
    event: &Event<'_>,
    kernel: &Kernel<'_, (u32, InOut<u32>)>,
) {
    let Some(buffer) = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, 4)) else { return };
    let mut whole = false;
    let captured = steps.attempt("Current::capture", || {
        cx.capture(one, CaptureMode::Global, |capture| {
            let filled = fill(steps, capture, buffer, event, kernel);
            let lane = filled.and_then(|_| steps.attempt("Capture::fork", || capture.fork(two)));
            let joined = lane.and_then(|lane| steps.attempt("Capture::join", || capture.join(&lane)));
            whole = joined.is_some();
            // A lane that is not joined spoils the capture, which is no failure of the driver's.
            if whole { Ok(()) } else { Err(GraphError::Foreign) }
        })
        .or_else(|error| if error == GraphError::Foreign { Ok((Graph::new(cx)?, ())) } else { Err(error) })
    });
    let Some((graph, ())) = captured else { return };
    let made = steps.attempt("Graph::instantiate", || graph.instantiate(cx, InstantiateFlags::empty()));
    let Some(mut executable) = made else { return };
    steps.attempt("GraphExec::launch", || executable.launch(cx, one));
    steps.done("GraphExec::drop", || drop(executable));
}

/// True if each node was added.
fn fill<'a>(
    steps: &Steps,
    capture: &Capture<'_, '_, 'a>,
    buffer: Buffer<'a, u32>,
    event: &'a Event<'_>,
    kernel: &'a Kernel<'_, (u32, InOut<u32>)>,
) -> Option<()> {
    let memory = steps.attempt("Capture::lend", || capture.lend(buffer))?;
    let (low, high) = (memory.slice(..2)?, memory.slice(2..)?);
    let input = steps.attempt("Capture::lend", || capture.lend(vec![1; 4]))?;
    steps.attempt("Capture::copy", || capture.copy(memory, input))?;
    steps.attempt("Capture::copy", || capture.copy(low, high))?;
    steps.attempt("Capture::fill", || capture.fill(high, 3))?;
    // SAFETY: the kernel writes one number, in order with the rest.
    steps.attempt("Capture::launch", || unsafe {
        capture.launch(kernel, LaunchConfig::new(1, 1), (4u32, memory))
    })?;
    steps.attempt("Capture::copy", || capture.copy(input, memory))?;
    steps.attempt("Capture::host", || capture.host(|| ()))?;
    steps.attempt("Capture::wait", || capture.wait(event));
    steps.attempt("Capture::record", || capture.record(event));
    if let Some(info) = steps.attempt("Capture::info", || capture.info()) {
        steps.attempt("Capture::come_after", || capture.come_after(&info.next_after, true));
    }
    Some(())
}

/// A capture whose body waits or frees. It goes on, unless the thread cannot be exempted.
pub(super) fn beside(steps: &Steps, cx: &Current<'_, '_>, stream: &mut Stream<'_>, body: impl FnOnce()) {
    steps.attempt("capture beside a wait", || {
        let ended = cx.capture(stream, CaptureMode::ThreadLocal, |_| {
            body();
            Ok(())
        });
        match ended {
            Err(GraphError::Driver(error)) if error.is_capture() => Ok(()),
            ended => ended.map(drop),
        }
    });
}

/// A capture whose body panics.
fn left_by_a_panic(steps: &Steps, cx: &Current<'_, '_>, stream: &mut Stream<'_>) {
    steps.attempt("capture left by a panic", || {
        let capture = || {
            cx.capture(stream, CaptureMode::Global, |_| -> Result<(), GraphError> {
                // As a panic, without its message.
                resume_unwind(Box::new(()))
            })
        };
        match catch_unwind(AssertUnwindSafe(capture)) {
            // It did not begin, so that nothing panicked.
            Ok(not_begun) => not_begun.map(drop),
            Err(_) => Ok(()),
        }
    });
}

fn into(steps: &Steps, cx: &Current<'_, '_>, stream: &mut Stream<'_>) {
    let Some(mut graph) = steps.attempt("Graph::new", || Graph::new(cx)) else { return };
    if let Some(node) = steps.attempt("Graph::add_empty", || graph.add_empty(cx, &[])) {
        steps.attempt("Graph::capture_into", || {
            graph.capture_into(cx, stream, &[node], CaptureMode::Relaxed, |_| Ok(()))
        });
    }
    steps.done("Graph::drop", || drop(graph));
}
