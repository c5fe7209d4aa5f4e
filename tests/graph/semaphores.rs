//! Nodes for semaphores of other APIs. The emulator stands in for them, whatever device the other
//! tests run on.

use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cuprum::context::{Context, ContextFlags};
use cuprum::external::ExternalSemaphore;
use cuprum::graph::{Graph, GraphError, Loan, Node, NodeType};
use cuprum::sys::{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUexternalSemaphore, CUexternalSemaphoreHandleType, CUresult,
};
use cuprum::{Current, Driver, Error, Stream};
use cuprum_emulator::memory::ExternalSemaphore as Other;

/// Returns the semaphores that a node signals, with their values.
fn signals(graph: &Graph<'_>, node: Node) -> Result<Vec<(CUexternalSemaphore, u64)>, GraphError> {
    let signals: Vec<(_, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)> = graph.params(node)?;
    Ok(signals.iter().map(|(semaphore, signal)| (*semaphore, signal.params.fence.value)).collect())
}

/// Returns the semaphores that a node waits for, with their values.
fn waits(graph: &Graph<'_>, node: Node) -> Result<Vec<(CUexternalSemaphore, u64)>, GraphError> {
    let waits: Vec<(_, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)> = graph.params(node)?;
    Ok(waits.iter().map(|(semaphore, wait)| (*semaphore, wait.params.fence.value)).collect())
}

use super::{alone, executable};

/// A context of the software device.
fn context() -> Context {
    let driver = Driver::init(cuprum_emulator::library()).unwrap();
    Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap()
}

fn in_software(test: impl FnOnce(&Current<'_, 'static>)) {
    let _alone = alone();
    let context = context().share();
    context
        .enter(|cx| {
            test(cx);
            Ok(())
        })
        .unwrap();
}

/// The other API's semaphore, and the same imported as one with a value.
fn timeline<'ctx>(cx: &Current<'_, 'ctx>) -> (Other, Arc<ExternalSemaphore<'ctx>>) {
    let other = Other::new().unwrap();
    // SAFETY: a new descriptor.
    let descriptor = unsafe { OwnedFd::from_raw_fd(other.descriptor().unwrap()) };
    // SAFETY: of a timeline semaphore.
    let semaphore = unsafe { ExternalSemaphore::from_timeline_fd(cx, descriptor) };
    (other, Arc::new(semaphore.unwrap()))
}

/// Like `timeline`, one that is signaled or not.
fn binary<'ctx>(cx: &Current<'_, 'ctx>) -> (Other, Arc<ExternalSemaphore<'ctx>>) {
    let other = Other::new().unwrap();
    let mut described = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC::zeroed();
    described.type_ = CUexternalSemaphoreHandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    described.handle.fd = other.descriptor().unwrap();
    // SAFETY: a new descriptor of a binary semaphore.
    (other, Arc::new(unsafe { ExternalSemaphore::import(cx, &described) }.unwrap()))
}

fn is_invalid(error: GraphError) -> bool {
    matches!(error, GraphError::Driver(error) if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE)
}

#[test]
fn a_replay_waits_for_another_api_and_signals_it() {
    in_software(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let ((first, ready), (second, done)) = (timeline(cx), timeline(cx));
        let mut graph = Graph::new(cx).unwrap();
        let [raw_ready, raw_done] = [&ready, &done].map(|semaphore| semaphore.as_raw());
        let (ready, done) = (graph.lend(ready).unwrap(), graph.lend(done).unwrap());
        let wait = graph.add_semaphore_waits(cx, &[], &[(ready, 5)]).unwrap();
        // SAFETY: the replays signal 1, then 2.
        let signal = unsafe { graph.add_semaphore_signals(cx, &[wait], &[(done, 1)]) }.unwrap();
        assert_eq!(waits(&graph, wait).unwrap(), [(raw_ready, 5)]);
        assert_eq!(signals(&graph, signal).unwrap(), [(raw_done, 1)]);
        assert_eq!(graph.node_type(wait).unwrap(), NodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
        assert_eq!(graph.node_type(signal).unwrap(), NodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
        let mut executable = executable(cx, graph);
        thread::scope(|threads| {
            threads.spawn(|| {
                first.signal(4);
                thread::sleep(Duration::from_millis(20));
                assert_eq!(second.value(), 0, "a signal overtook the wait");
                first.signal(5);
            });
            executable.launch(cx, &stream).unwrap();
        });
        assert_eq!(second.value(), 1);

        executable.set(cx, wait).semaphore_waits(&[(ready, 6)]).unwrap();
        // SAFETY: as said above.
        unsafe { executable.set(cx, signal).semaphore_signals(&[(done, 2)]) }.unwrap();
        first.signal(6);
        executable.launch(cx, &stream).unwrap();
        assert_eq!(second.value(), 2);
    });
}

#[test]
fn a_wait_takes_the_signal_of_a_binary_semaphore_in_each_replay() {
    in_software(|cx| {
        let (stream, (other, turn)) = (Stream::non_blocking(cx).unwrap(), binary(cx));
        let mut graph = Graph::new(cx).unwrap();
        let turn = graph.lend(turn).unwrap();
        graph.add_semaphore_waits(cx, &[], &[(turn, 0)]).unwrap();
        let mut executable = executable(cx, graph);
        for _ in 0..3 {
            other.signal(1);
            executable.launch(cx, &stream).unwrap();
            assert_eq!(other.value(), 0, "the wait took the signal");
        }
    });
}

#[test]
fn the_graph_has_a_share_of_its_semaphores() {
    in_software(|cx| {
        let (other, semaphore) = timeline(cx);
        let weak = Arc::downgrade(&semaphore);
        let mut graph = Graph::new(cx).unwrap();
        let shared = graph.lend(semaphore).unwrap();
        // SAFETY: replayed once.
        let node = unsafe { graph.add_semaphore_signals(cx, &[], &[(shared, 3)]) }.unwrap();
        // It stays also when no node has it any more, since an executable may have been made
        // before.
        let (_, unused) = timeline(cx);
        let raw = unused.as_raw();
        let unused = graph.lend(unused).unwrap();
        // SAFETY: never replayed.
        unsafe { graph.set(cx, node).semaphore_signals(&[(unused, 1)]) }.unwrap();
        assert_eq!(signals(&graph, node).unwrap(), [(raw, 1)]);
        // SAFETY: as above.
        unsafe { graph.set(cx, node).semaphore_signals(&[(shared, 3)]) }.unwrap();
        let mut outer = Graph::new(cx).unwrap();
        outer.add_child(cx, &[], graph).unwrap();
        let mut executable = executable(cx, outer);
        assert!(weak.upgrade().is_some());
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
        assert_eq!(other.value(), 3);
        executable.close().unwrap();
        assert!(weak.upgrade().is_none(), "it goes with what keeps it");
    });
}

#[test]
fn semaphores_are_of_their_graph_and_its_context_and_nodes_keep_their_kind() {
    in_software(|cx| {
        let (mut graph, mut other) = (Graph::new(cx).unwrap(), Graph::new(cx).unwrap());
        let mine = graph.lend(timeline(cx).1).unwrap();
        let theirs = other.lend(timeline(cx).1).unwrap();
        let wait = |graph: &mut Graph<'_>, each: &[(Loan<ExternalSemaphore<'static>>, u64)]| {
            graph.add_semaphore_waits(cx, &[], each)
        };
        assert_eq!(wait(&mut graph, &[(mine, 1), (theirs, 1)]).unwrap_err(), GraphError::Foreign);
        let away = self::context().share();
        let foreign = away.enter(|cx| Ok(timeline(cx).1)).unwrap();
        let refused = graph.lend(foreign).unwrap_err();
        assert!(
            matches!(refused, GraphError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
            "{refused}"
        );

        let node = wait(&mut graph, &[(mine, 0), (mine, 0)]).unwrap();
        assert_eq!(waits(&graph, node).unwrap().len(), 2);
        assert!(is_invalid(signals(&graph, node).unwrap_err()));
        // SAFETY: refused.
        assert!(is_invalid(unsafe { graph.set(cx, node).semaphore_signals(&[(mine, 9)]) }.unwrap_err()));
        assert!(is_invalid(graph.set(cx, node).semaphore_waits(&[]).unwrap_err()));
        let empty = wait(&mut graph, &[]).unwrap();
        assert_eq!(graph.node_type(empty).unwrap(), NodeType::CU_GRAPH_NODE_TYPE_EMPTY);
        assert!(is_invalid(graph.set(cx, empty).semaphore_waits(&[(mine, 1)]).unwrap_err()));

        let mut executable = executable(cx, graph);
        assert!(
            is_invalid(executable.set(cx, node).semaphore_waits(&[(mine, 0)]).unwrap_err()),
            "another number"
        );
        // SAFETY: refused.
        let signals = unsafe { executable.set(cx, node).semaphore_signals(&[(mine, 9), (mine, 10)]) };
        assert!(is_invalid(signals.unwrap_err()), "another kind");
        assert_eq!(
            executable.set(cx, node).semaphore_waits(&[(theirs, 0)]).unwrap_err(),
            GraphError::Foreign
        );
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
    });
}

#[test]
fn semaphores_that_need_fences_are_not_imported() {
    in_software(|cx| {
        let mut described = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC::zeroed();
        described.type_ = CUexternalSemaphoreHandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC;
        // SAFETY: there is no handle, and none is asked for.
        let refused: Error = unsafe { ExternalSemaphore::import(cx, &described) }.unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    });
}
