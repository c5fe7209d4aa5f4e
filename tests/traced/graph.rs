//! The state of graphs after waits for them fail.

use std::sync::{Arc, Mutex, PoisonError};

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::graph::{CaptureMode, Graph, GraphError, InstantiateFlags};
use cuprum::memory::PinnedFlags;
use cuprum::sys::{CUresult, FnId};
use cuprum::{Buffer, Current, PinnedBuffer, Stream};

use crate::tracer::{Backing, calls_of, failing};

/// One test at a time: while one captures, the context of another is not waited for.
fn in_context(test: impl FnOnce(&mut Current<'_, '_>)) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let device = Backing::Emulator.driver().device(0).unwrap();
    let context = Context::create(device, ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    test(&mut stack.push(&context).unwrap());
}

#[test]
fn a_graph_whose_wait_fails_for_good_is_lost_and_leaks() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let count = Arc::new(());
        let counted = Arc::clone(&count);
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(Buffer::<u32>::zeroed(cx, 4).unwrap()).unwrap();
        let output = graph.lend(vec![0; 4]).unwrap();
        graph.add_copy(cx, &[], output, memory).unwrap();
        graph.add_host(cx, &[], move || drop(Arc::clone(&counted))).unwrap();
        let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
        executable.launch(cx, &stream).unwrap();
        let failed = failing(FnId::cuStreamSynchronize, CUresult::CUDA_ERROR_LAUNCH_FAILED, || {
            executable.launch(cx, &stream).unwrap_err()
        });
        assert!(matches!(failed, GraphError::Driver(error) if error.is_sticky()), "{failed}");
        assert_eq!(executable.view(output), Err(GraphError::Lost));
        assert_eq!(executable.view_mut(output), Err(GraphError::Lost));
        assert_eq!(executable.view(memory).unwrap_err(), GraphError::Lost);
        assert_eq!(executable.graph().unwrap_err(), GraphError::Lost);
        assert_eq!(executable.launch(cx, &stream), Err(GraphError::Lost));
        // SAFETY: refused before anything is called.
        assert_eq!(unsafe { executable.launch_unwaited(cx, &stream) }, Err(GraphError::Lost));
        let (calls, ()) = calls_of(|| drop(executable));
        assert_eq!(calls, [], "nothing of it is freed");
        assert_eq!(Arc::strong_count(&count), 2, "the function is still there for the device to call");
    });
}

#[test]
fn a_graph_of_a_scope_that_cannot_be_waited_for_is_lost_with_its_page_locked_memory() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let pinned = PinnedBuffer::<u32>::zeroed(cx, 4, PinnedFlags::empty()).unwrap();
        let (output, memory) =
            (graph.lend(pinned).unwrap(), graph.lend(Buffer::zeroed(cx, 4).unwrap()).unwrap());
        graph.add_copy(cx, &[], output, memory).unwrap();
        let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
        let mut scope = || cx.scope_as(&stream, |scope| scope.lend_graph(&mut executable)?.launch());
        scope().unwrap();
        let failed =
            failing(FnId::cuStreamSynchronize, CUresult::CUDA_ERROR_LAUNCH_FAILED, || scope().unwrap_err());
        assert!(matches!(failed, GraphError::Driver(error) if error.is_sticky()), "{failed}");
        assert_eq!(scope(), Err(GraphError::Lost));
        assert_eq!(executable.view(output), Err(GraphError::Lost));
        assert_eq!(executable.view_mut(output), Err(GraphError::Lost));
        let (calls, ()) = calls_of(|| drop(executable));
        assert_eq!(calls, [], "nothing of it is freed");
    });
}

#[test]
fn a_graph_whose_stream_cannot_be_waited_for_is_waited_for_with_its_context() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(Buffer::<u32>::zeroed(cx, 4).unwrap()).unwrap();
        let output = graph.lend(vec![1; 4]).unwrap();
        graph.add_copy(cx, &[], output, memory).unwrap();
        let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
        let (calls, failed) = calls_of(|| {
            failing(FnId::cuStreamSynchronize, CUresult::CUDA_ERROR_INVALID_HANDLE, || {
                executable.launch(cx, &stream).unwrap_err()
            })
        });
        assert!(matches!(failed, GraphError::Driver(_)));
        assert_eq!(calls, [FnId::cuGraphLaunch, FnId::cuStreamSynchronize, FnId::cuCtxSynchronize]);
        assert_eq!(executable.view(output).unwrap(), [0; 4]);
        executable.launch(cx, &stream).unwrap();
    });
}

#[test]
fn a_replay_makes_one_call_and_a_run_two() {
    in_context(|cx| {
        let (blocking, beside) = (Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let graph = Graph::new(cx).unwrap();
        let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
        let (calls, ()) = calls_of(|| executable.launch(cx, &blocking).unwrap());
        assert_eq!(calls, [FnId::cuGraphLaunch, FnId::cuStreamSynchronize]);
        let (calls, ()) = calls_of(|| executable.launch(cx, &beside).unwrap());
        assert_eq!(
            calls,
            [FnId::cuStreamSynchronize, FnId::cuGraphLaunch, FnId::cuStreamSynchronize],
            "what the default stream has queued comes first"
        );
    });
}

#[test]
fn a_capture_that_cannot_be_ended_is_ended_anew() {
    in_context(|cx| {
        let mut stream = Stream::new(cx).unwrap();
        let (calls, failed) = calls_of(|| {
            failing(FnId::cuStreamEndCapture, CUresult::CUDA_ERROR_UNKNOWN, || {
                cx.capture(&mut stream, CaptureMode::Global, |_| Ok(())).map(drop).unwrap_err()
            })
        });
        assert!(matches!(failed, GraphError::Driver(error) if error.call() == FnId::cuStreamEndCapture));
        let end = FnId::cuStreamEndCapture;
        assert_eq!(calls, [FnId::cuStreamBeginCapture_v2, end, end]);
    });
}

#[test]
fn a_node_that_may_have_been_added_keeps_what_it_touches() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let count = Arc::new(());
        let counted = Arc::clone(&count);
        failing(FnId::cuGraphAddHostNode, CUresult::CUDA_ERROR_UNKNOWN, || {
            graph.add_host(cx, &[], move || drop(Arc::clone(&counted))).unwrap_err()
        });
        assert_eq!(Arc::strong_count(&count), 2);
        let mut child = Graph::new(cx).unwrap();
        let memory = child.lend(Buffer::<u32>::zeroed(cx, 4).unwrap()).unwrap();
        failing(FnId::cuGraphAddChildGraphNode, CUresult::CUDA_ERROR_UNKNOWN, || {
            graph.add_child(cx, &[], child).unwrap_err()
        });
        assert_eq!(graph.view(memory).unwrap().to_vec(cx).unwrap(), [0; 4]);
        drop(graph);
        assert_eq!(Arc::strong_count(&count), 1);
    });
}
