//! Nodes that write numbers and wait for them.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::thread;
use std::time::Duration;

use cuprum::graph::{CaptureMode, Graph, GraphError, NodeType};
use cuprum::stream::{Operations, Signals, Until};
use cuprum::sys::{CUresult, CUstreamBatchMemOpParams, CUstreamMemoryBarrier_flags};
use cuprum::{Buffer, MemoryError, Stream};

use super::{executable, in_context, zeros};

#[test]
fn a_replay_waits_until_the_host_writes() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let (signals, mut buffer) = (Arc::new(Signals::<u32>::new(cx, 3).unwrap()), zeros(cx, 4));
        let mut graph = Graph::new(cx).unwrap();
        let (shared, memory) = (graph.lend(Arc::clone(&signals)).unwrap(), graph.lend(&mut buffer).unwrap());
        let fill = graph.add_fill(cx, &[], memory, 1).unwrap();
        let mut operations = Operations::default();
        operations.write(shared, 1, 1).unwrap().wait(shared, 0, Until::Equal(1)).unwrap();
        operations.barrier(CUstreamMemoryBarrier_flags::CU_STREAM_MEMORY_BARRIER_TYPE_GPU);
        operations.write(memory, 2, 9).unwrap().write(shared, 2, 4).unwrap();
        let node = graph.add_operations(cx, &[fill], &operations).unwrap();
        let copied = memory.slice(3..).unwrap();
        graph.add_copy(cx, &[node], copied, memory.slice(2..3).unwrap()).unwrap();
        assert_eq!(graph.params::<Vec<CUstreamBatchMemOpParams>>(node).unwrap().len(), 5);
        let mut executable = executable(cx, graph);
        thread::scope(|threads| {
            threads.spawn(|| {
                while signals[1].load(Acquire) == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
                assert_eq!(signals[2].load(Acquire), 0, "nothing overtakes the wait");
                signals[0].store(1, Release);
            });
            executable.launch(cx, &stream).unwrap();
        });
        assert_eq!(signals[2].load(Acquire), 4);
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [1, 1, 9, 9]);
    });
}

#[test]
fn nodes_parallel_to_a_wait_do_not_wait() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let signals = Arc::new(Signals::<u64>::new(cx, 1).unwrap());
        let (mut graph, mut inner) = (Graph::new(cx).unwrap(), Graph::new(cx).unwrap());
        let shared = inner.lend(Arc::clone(&signals)).unwrap();
        let mut wait = Operations::default();
        wait.wait(shared, 0, Until::AtLeast(2)).unwrap();
        inner.add_operations(cx, &[], &wait).unwrap();
        // The wait is in a child graph, and the write that ends it is in the parent.
        graph.add_child(cx, &[], inner).unwrap();
        let shared = graph.lend(Arc::clone(&signals)).unwrap();
        let mut write = Operations::default();
        write.write(shared, 0, 2).unwrap();
        graph.add_operations(cx, &[], &write).unwrap();
        executable(cx, graph).launch(cx, &stream).unwrap();
        assert_eq!(signals[0].load(Acquire), 2);
    });
}

#[test]
fn operations_of_an_executable_change_to_others_of_their_kinds() {
    in_context(|cx| {
        let (stream, mut buffer) = (Stream::new(cx).unwrap(), zeros(cx, 4));
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(&mut buffer).unwrap();
        let write = |at, value| {
            let mut operations = Operations::default();
            operations.write(memory, at, value).unwrap();
            operations
        };
        let node = graph.add_operations(cx, &[], &write(0, 1)).unwrap();
        graph.set(cx, node).operations(&write(0, 2)).unwrap();
        let empty = graph.add_operations(cx, &[], &Operations::default()).unwrap();
        assert_eq!(graph.node_type(empty).unwrap(), NodeType::CU_GRAPH_NODE_TYPE_EMPTY);
        assert_eq!(graph.node_type(node).unwrap(), NodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
        let refused = graph.set(cx, empty).operations(&write(0, 2)).unwrap_err();
        let invalid = |error| matches!(error, GraphError::Driver(error) if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE);
        assert!(invalid(refused));
        let mut executable = executable(cx, graph);
        executable.launch(cx, &stream).unwrap();
        executable.set(cx, node).operations(&write(3, 7)).unwrap();
        let mut more = write(1, 1);
        more.write(memory, 1, 1).unwrap();
        assert!(invalid(executable.set(cx, node).operations(&more).unwrap_err()), "of another number");
        let mut other = Operations::default();
        other.wait(memory, 0, Until::Equal(0)).unwrap();
        assert!(invalid(executable.set(cx, node).operations(&other).unwrap_err()), "of another kind");
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [2, 0, 0, 7]);
    });
}

#[test]
fn operations_are_on_memory_of_their_graph() {
    in_context(|cx| {
        let (mut first, mut second) = (zeros(cx, 2), zeros(cx, 2));
        let (mut graph, mut other) = (Graph::new(cx).unwrap(), Graph::new(cx).unwrap());
        let mine = graph.lend(&mut first).unwrap();
        let theirs = other.lend(&mut second).unwrap();
        let mut operations = Operations::default();
        operations.write(mine, 0, 1).unwrap().write(theirs, 0, 1).unwrap();
        assert_eq!(graph.add_operations(cx, &[], &operations).unwrap_err(), GraphError::Foreign);
        let refused = operations.write(mine, 2, 1).unwrap_err();
        assert_eq!(refused, MemoryError::Index { index: 2, len: 2 });
    });
}

#[test]
fn a_capture_waits_for_numbers_and_writes_them() {
    in_context(|cx| {
        let (mut stream, mut buffer) = (Stream::new(cx).unwrap(), Buffer::<u64>::zeroed(cx, 2).unwrap());
        let signals = Arc::new(Signals::<u32>::new(cx, 2).unwrap());
        let other = Arc::new(Signals::<u32>::new(cx, 1).unwrap());
        let theirs = Graph::new(cx).unwrap().lend(other).unwrap();
        let (graph, memory) = cx
            .capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
                let memory = capture.lend(&mut buffer)?;
                let shared = capture.lend(Arc::clone(&signals))?;
                capture.write_value(shared, 0, 3)?;
                capture.wait_value(shared, 0, Until::Equal(3))?;
                capture.write_value(memory, 1, 1 << 40)?;
                capture.wait_value(memory.as_shared(), 1, Until::AtLeast(1))?;
                capture.write_value(shared, 1, 9)?;
                let beyond = MemoryError::Index { index: 2, len: 2 };
                assert_eq!(capture.write_value(shared, 2, 1), Err(GraphError::Memory(beyond)));
                assert_eq!(capture.wait_value(memory, 2, Until::Equal(0)), Err(GraphError::Memory(beyond)));
                assert_eq!(capture.write_value(theirs, 0, 1), Err(GraphError::Foreign));
                assert_eq!(capture.wait_value(theirs, 0, Until::Equal(0)), Err(GraphError::Foreign));
                Ok(memory)
            })
            .unwrap();
        let mut executable = executable(cx, graph);
        assert_eq!(executable.nodes(cx).unwrap().len(), 5);
        assert_eq!(signals[0].load(Acquire), 0, "nothing has run");
        for _ in 0..2 {
            executable.launch(cx, &stream).unwrap();
            assert_eq!([signals[0].swap(0, AcqRel), signals[1].swap(0, AcqRel)], [3, 9]);
            assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [0, 1 << 40]);
        }
    });
}
