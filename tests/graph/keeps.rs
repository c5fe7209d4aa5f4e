//! What a graph keeps, and when it lets go of it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cuprum::graph::{CaptureMode, Executable, Graph, HostLoan, InstantiateFlags, Loan, UserObject};
use cuprum::{Buffer, LaunchConfig, SharedContext, SharedKernel, Stream};

use super::common::{context, driver};
use super::{Saxpy, alone, executable, in_context, saxpy, zeros};

/// All that a program has of a graph, in a struct without lifetimes.
struct Pipeline {
    executable: Executable<'static>,
    input: HostLoan<f32>,
    y: Loan<f32>,
    stream: Stream<'static>,
    context: SharedContext,
}

impl Pipeline {
    fn new() -> Self {
        let context = context().share();
        let (graph, input, y, stream) = context
            .enter(|cx| {
                let module = saxpy(cx).share();
                let kernel: SharedKernel<'static, Saxpy> = module.kernel("saxpy").unwrap();
                let (x, y) = (Buffer::alloc(cx, 64).unwrap(), Buffer::zeroed(cx, 64).unwrap());
                let mut stream = Stream::non_blocking(cx).unwrap();
                let captured = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
                    let (x, y) = (capture.give(x)?, capture.give(y)?);
                    let input = capture.copy_from_host(x, vec![0.0; 64])?;
                    // SAFETY: the kernel touches 64 elements of both, behind the copy.
                    unsafe { capture.launch(&kernel, LaunchConfig::new(2, 32), (64, 2.0, x, y)) }?;
                    Ok((input, y))
                });
                let (graph, (input, y)) = captured.unwrap();
                (executable(cx, graph), input, y, stream)
            })
            .unwrap();
        // Module and kernel are gone from here.
        Self { executable: graph, input, y, stream, context }
    }

    fn run(&mut self, value: f32) -> Vec<f32> {
        let Self { executable, input, y, stream, context } = self;
        executable.host_mut(*input).unwrap().fill(value);
        context
            .enter(|cx| {
                executable.run(cx, stream).unwrap();
                executable.slice(*y).unwrap().to_vec(cx).unwrap()
            })
            .unwrap()
    }
}

#[test]
fn a_graph_of_counted_things_lies_in_a_struct_and_moves_between_threads() {
    let _alone = alone();
    let mut pipeline = Pipeline::new();
    assert_eq!(pipeline.run(1.0), [2.0; 64]);
    let moved = thread::spawn(move || {
        assert_eq!(pipeline.run(3.0), [8.0; 64]);
        pipeline
    });
    let Pipeline { executable, context, y, .. } = moved.join().unwrap();
    let mut returned = executable.close().unwrap();
    let buffer = returned.buffer(y).unwrap();
    assert!(returned.buffer(y).is_none());
    assert_eq!(context.enter(|cx| buffer.to_vec(cx).unwrap()).unwrap(), [8.0; 64]);
}

#[test]
fn what_was_lent_comes_back_with_the_graph() {
    in_context(|cx| {
        let mut buffer = zeros(cx, 4);
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(buffer.as_mut_slice()).unwrap();
        graph.add_fill(cx, &[], memory, 3).unwrap();
        let mut executable = executable(cx, graph);
        executable.run(cx, &Stream::new(cx).unwrap()).unwrap();
        assert!(executable.close().unwrap().buffer(memory).is_none(), "it was lent, not given");
        assert_eq!(buffer.to_vec(cx).unwrap(), [3; 4]);
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.give(buffer).unwrap();
        let buffer = graph.close().unwrap().buffer(memory).unwrap();
        assert_eq!(buffer.to_vec(cx).unwrap(), [3; 4]);
    });
}

#[test]
fn a_token_of_another_graph_takes_nothing_back() {
    in_context(|cx| {
        let (mut one, mut two) = (Graph::new(cx).unwrap(), Graph::new(cx).unwrap());
        let (a, b) = (one.give(zeros(cx, 4)).unwrap(), two.give(zeros(cx, 4)).unwrap());
        assert!(one.close().unwrap().buffer(b).is_none());
        assert!(two.close().unwrap().buffer(a).is_none());
    });
}

#[test]
fn user_objects_live_as_long_as_graph_and_executable() {
    in_context(|cx| {
        let value = Arc::new(());
        let object = UserObject::new(driver(), Arc::clone(&value)).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        graph.retain(&object).unwrap();
        graph.retain(&object).unwrap();
        graph.release(&object).unwrap();
        let second = object.share().unwrap();
        drop(object);
        second.close().unwrap();
        assert_eq!(Arc::strong_count(&value), 2);
        let executable = executable(cx, graph);
        assert_eq!(Arc::strong_count(&value), 2);
        drop(executable);
        // The driver may drop it in its own time.
        let soon = Instant::now() + Duration::from_secs(10);
        while Arc::strong_count(&value) > 1 && Instant::now() < soon {
            thread::yield_now();
        }
        assert_eq!(Arc::strong_count(&value), 1);
        let mut graph = Graph::new(cx).unwrap();
        let object = UserObject::new(driver(), value).unwrap();
        assert!(graph.release(&object).is_err(), "the graph has none");
    });
}

#[test]
fn a_launch_that_nobody_waits_for_completes() {
    in_context(|cx| {
        let mut buffer = zeros(cx, 1 << 16);
        let stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(buffer.as_mut_slice()).unwrap();
        graph.add_fill(cx, &[], memory, 7).unwrap();
        let executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
        // SAFETY: it is waited for below, and nothing is touched before.
        unsafe { executable.launch(cx, &stream) }.unwrap();
        stream.synchronize(cx).unwrap();
        drop(executable);
        assert!(buffer.to_vec(cx).unwrap().iter().all(|&value| value == 7));
    });
}

#[test]
fn user_objects_live_until_the_last_launch_has_ended() {
    in_context(|cx| {
        let value = Arc::new(());
        let stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let (seen, (told, alive)) = (Arc::downgrade(&value), std::sync::mpsc::channel());
        graph.add_host(cx, &[], move || told.send(seen.strong_count()).unwrap()).unwrap();
        graph.retain(&UserObject::new(driver(), value).unwrap()).unwrap();
        let (template, raw) = {
            let executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
            // SAFETY: nothing that the graph keeps is freed: it is forgotten below.
            unsafe { executable.launch(cx, &stream) }.unwrap();
            let handles = (executable.graph().unwrap().as_raw(), executable.as_raw());
            std::mem::forget(executable);
            handles
        };
        let fns = driver().library().fns();
        // SAFETY: a handle of this driver that nobody uses any more.
        let (code, _) = unsafe { cuprum::sys::call!(fns, cuGraphExecDestroy(raw)) };
        assert_eq!(code, cuprum::sys::CUresult::CUDA_SUCCESS);
        // SAFETY: as above.
        let (code, _) = unsafe { cuprum::sys::call!(fns, cuGraphDestroy(template)) };
        assert_eq!(code, cuprum::sys::CUresult::CUDA_SUCCESS);
        stream.synchronize(cx).unwrap();
        assert_eq!(alive.recv(), Ok(1));
    });
}
