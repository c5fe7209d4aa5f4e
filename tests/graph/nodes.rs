//! Nodes of every kind, edges, and tokens that are good for their own graph alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuprum::graph::{DotFlags, Graph, GraphError, NodeType};
use cuprum::launch::LaunchError;
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUfunction, CUgraph, CUresult};
use cuprum::{Buffer, LaunchConfig, MemoryError, PinnedBuffer, Stream};

use super::common::context;
use super::{Saxpy, executable, function, in_context, saxpy, zeros};

#[test]
fn nodes_run_after_their_dependencies() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 64)).unwrap();
        let last = (0..8).fold(None, |before: Option<_>, round| {
            let part = memory.slice(..64 - round * 8).unwrap();
            let before: Vec<_> = before.into_iter().collect();
            Some(graph.add_fill(cx, &before, part, round as u32 + 1).unwrap())
        });
        let output = graph.lend(vec![0; 64]).unwrap();
        graph.add_copy(cx, last.as_slice(), output, memory).unwrap();
        let mut executable = executable(cx, graph);
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
        let expected: Vec<u32> = (0..64).map(|at| 8 - at / 8).collect();
        assert_eq!(executable.view(output).unwrap(), expected);
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), expected);
    });
}

#[test]
fn edges_are_added_listed_and_removed() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let [a, b, c] = [(); 3].map(|()| graph.add_empty(cx, &[]).unwrap());
        graph.add_edges(cx, &[(a, b), (b, c)]).unwrap();
        let edges: Vec<_> = graph.edges(cx).unwrap().iter().map(|edge| (edge.from, edge.to)).collect();
        assert_eq!(edges, [(a, b), (b, c)]);
        // Drivers of today take a circle, which the software device refuses.
        match graph.add_edges(cx, &[(c, a)]) {
            Ok(()) => graph.remove_edges(cx, &[(c, a)]).unwrap(),
            Err(GraphError::Driver(error)) => assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE),
            Err(other) => panic!("{other}"),
        }
        graph.remove_edges(cx, &[(a, b)]).unwrap();
        assert_eq!(graph.nodes(cx).unwrap().len(), 3);
        graph.remove(cx, b).unwrap();
        assert_eq!(graph.node_type(b), Err(GraphError::Removed));
        assert_eq!(graph.add_empty(cx, &[b]), Err(GraphError::Removed));
        assert_eq!(graph.nodes(cx).unwrap(), [a, c]);
        assert_eq!(graph.edges(cx).unwrap(), []);
    });
}

#[test]
fn a_node_or_a_loan_of_another_graph_is_refused() {
    in_context(|cx| {
        let (mut one, mut two) = (Graph::new(cx).unwrap(), Graph::new(cx).unwrap());
        let (node, loan) = (one.add_empty(cx, &[]).unwrap(), one.lend(zeros(cx, 4)).unwrap());
        let own = two.lend(zeros(cx, 4)).unwrap();
        assert_eq!(two.add_empty(cx, &[node]), Err(GraphError::Foreign));
        assert_eq!(two.add_fill(cx, &[], loan, 1), Err(GraphError::Foreign));
        assert_eq!(two.add_copy(cx, &[], own, loan), Err(GraphError::Foreign));
        assert_eq!(two.view(loan).unwrap_err(), GraphError::Foreign);
        assert_eq!(two.node_type(node), Err(GraphError::Foreign));
        assert_eq!(two.remove(cx, node), Err(GraphError::Foreign));
        let host = one.lend(vec![0; 4]).unwrap();
        assert_eq!(two.add_copy(cx, &[], host, own), Err(GraphError::Foreign));
        assert_eq!(two.add_copy(cx, &[], own, host), Err(GraphError::Foreign));
        assert_eq!(two.view(host), Err(GraphError::Foreign));
        let mut executable = executable(cx, two);
        assert_eq!(executable.set(cx, node).fill(own, 1), Err(GraphError::Foreign));
        assert_eq!(executable.set_enabled(cx, node, false), Err(GraphError::Foreign));
        assert_eq!(executable.view(host), Err(GraphError::Foreign));
    });
}

#[test]
fn memory_of_another_context_is_refused() {
    in_context(|cx| {
        let other = context();
        let (mut theirs, stream) = {
            let upper = cx.push(&other).unwrap();
            (zeros(&upper, 4), Stream::new(&upper).unwrap())
        };
        let mut graph = Graph::new(cx).unwrap();
        let refused = |error: GraphError| matches!(error, GraphError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT);
        assert!(refused(graph.lend(&mut theirs).unwrap_err()));
        let mut executable = executable(cx, graph);
        assert!(refused(executable.launch(cx, &stream).unwrap_err()));
    });
}

#[test]
fn lengths_and_overlaps_are_checked() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 8)).unwrap();
        let part = |range: std::ops::Range<usize>| memory.slice(range).unwrap();
        let unequal = graph.add_copy(cx, &[], part(0..3), part(4..8));
        assert_eq!(
            unequal,
            Err(GraphError::Memory(MemoryError::Length { destination_len: 3, source_len: 4 }))
        );
        assert_eq!(
            graph.add_copy(cx, &[], part(0..4), part(2..6)),
            Err(GraphError::Memory(MemoryError::Overlap))
        );
        let longer = graph.lend(vec![0; 9]).unwrap();
        assert!(graph.add_copy(cx, &[], memory, longer).is_err());
        assert!(graph.add_copy(cx, &[], longer, memory).is_err());
        assert!(memory.slice(4..9).is_none());
        let nothing = part(3..3);
        let empty = graph.add_fill(cx, &[], nothing, 1).unwrap();
        assert_eq!(graph.node_type(empty), Ok(NodeType::CU_GRAPH_NODE_TYPE_EMPTY));
    });
}

#[test]
fn a_kernel_node_launches_with_copies_of_its_arguments() {
    in_context(|cx| {
        let module = saxpy(cx);
        let kernel = function(&module).bind::<Saxpy>().unwrap();
        let x = Buffer::from_slice(cx, &[1.0f32; 100]).unwrap();
        let mut y = Buffer::from_slice(cx, &[2.0f32; 100]).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let (x, y) = (graph.lend(&x).unwrap(), graph.lend(&mut y).unwrap());
        let config = LaunchConfig::for_elements(100, 32);
        // SAFETY: the kernel touches 100 elements of both.
        let node = unsafe { graph.add_kernel(cx, &[], &kernel, config, (100, 3.0, x, y)) }.unwrap();
        let told = graph.params::<(CUfunction, LaunchConfig)>(node).unwrap();
        assert_eq!(told, (kernel.function().as_raw(), config));
        let none = LaunchConfig::new(0, 1);
        // SAFETY: it is not launched.
        let refused = unsafe { graph.add_kernel(cx, &[], &kernel, none, (100, 3.0, x, y)) };
        assert!(matches!(refused, Err(GraphError::Launch(LaunchError::Empty { .. }))));
        let mut executable = executable(cx, graph);
        let stream = Stream::non_blocking(cx).unwrap();
        executable.launch(cx, &stream).unwrap();
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(y).unwrap().to_vec(cx).unwrap(), [8.0; 100]);
    });
}

#[test]
fn a_child_graph_brings_the_values_that_it_keeps() {
    in_context(|cx| {
        let mut child = Graph::new(cx).unwrap();
        let memory = child.lend(zeros(cx, 4)).unwrap();
        let input = child.lend(vec![1, 2, 3, 4]).unwrap();
        child.add_copy(cx, &[], memory, input).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let first = graph.add_empty(cx, &[]).unwrap();
        let node = graph.add_child(cx, &[first], child).unwrap();
        assert!(!graph.params::<CUgraph>(node).unwrap().is_null());
        let copied = graph.lend(zeros(cx, 4)).unwrap();
        graph.add_copy(cx, &[node], copied, memory).unwrap();
        let mut executable = executable(cx, graph);
        let stream = Stream::new(cx).unwrap();
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(copied).unwrap().to_vec(cx).unwrap(), [1, 2, 3, 4]);
        executable.view_mut(input).unwrap().fill(7);
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(copied).unwrap().to_vec(cx).unwrap(), [7; 4]);
        let mut returned = executable.close().unwrap();
        assert_eq!(returned.take::<Vec<_>>(input), Some(vec![7; 4]));
        assert_eq!(returned.take::<Vec<_>>(input), None);
        assert_eq!(returned.take::<Buffer<_>>(memory).unwrap().to_vec(cx).unwrap(), [7; 4]);
    });
}

#[test]
fn events_are_recorded_and_waited_for_by_nodes() {
    in_context(|cx| {
        let [start, end] = [(); 2].map(|()| Event::new(cx, EventFlags::empty()).unwrap());
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let wait = graph.add_wait(cx, &[], &end).unwrap();
        let fill = graph.add_fill(cx, &[wait], memory, 3).unwrap();
        let record = graph.add_record(cx, &[fill], &start).unwrap();
        assert_eq!(graph.node_type(wait), Ok(NodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT));
        graph.set(cx, wait).wait(&start).unwrap();
        graph.set(cx, record).record(&end).unwrap();
        let mut executable = executable(cx, graph);
        let stream = Stream::new(cx).unwrap();
        start.record(cx, &stream).unwrap();
        executable.launch(cx, &stream).unwrap();
        assert!(end.is_done().unwrap());
        end.elapsed_since(&start).expect("both were recorded");
    });
}

#[test]
fn a_host_function_is_called_in_each_replay_and_its_panic_is_told() {
    in_context(|cx| {
        let count = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&count);
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let host = graph
            .add_host(cx, &[], move || {
                assert!(counted.fetch_add(1, Ordering::Relaxed) != 1, "the second call");
            })
            .unwrap();
        graph.add_fill(cx, &[host], memory, 6).unwrap();
        let mut executable = executable(cx, graph);
        let stream = Stream::new(cx).unwrap();
        executable.launch(cx, &stream).unwrap();
        cx.fill(&mut executable.view_mut(memory).unwrap(), 0).unwrap();
        assert_eq!(executable.launch(cx, &stream), Err(GraphError::Panicked));
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [6; 4], "it went on");
        let payload = executable.take_panic().unwrap();
        assert!(payload.downcast_ref::<&str>().is_some_and(|text| *text == "the second call"));
        assert!(executable.take_panic().is_none());
        executable.launch(cx, &stream).unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 3);
        drop(executable);
        assert_eq!(Arc::strong_count(&count), 1, "the function went with the graph");
    });
}

#[test]
fn a_panic_in_a_scope_is_kept_for_the_program() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        graph.add_host(cx, &[], || panic!("as it may")).unwrap();
        let (mut executable, stream) = (executable(cx, graph), Stream::new(cx).unwrap());
        cx.scope(&stream, |scope| Ok(scope.lend_graph(&mut executable)?.launch()?)).unwrap();
        let payload = executable.take_panic().unwrap();
        assert!(payload.downcast_ref::<&str>().is_some_and(|text| *text == "as it may"));
        assert!(executable.take_panic().is_none());
    });
}

#[test]
fn memory_of_another_context_is_refused_in_a_scope_too() {
    in_context(|cx| {
        let other = context();
        let stream = Stream::new(cx).unwrap();
        let mut executable = {
            let upper = cx.push(&other).unwrap();
            executable(&upper, Graph::new(&upper).unwrap())
        };
        let refused = cx.scope_as(&stream, |scope| scope.lend_graph(&mut executable).map(drop));
        assert!(
            matches!(refused, Err(GraphError::Driver(error)) if error.code() == cuprum::Error::WRONG_CONTEXT)
        );
        let pinned = {
            let upper = cx.push(&other).unwrap();
            PinnedBuffer::<u32>::zeroed(&upper, 4, PinnedFlags::PORTABLE).unwrap()
        };
        let refused = Graph::new(cx).unwrap().lend(pinned).map(drop);
        assert!(
            matches!(refused, Err(GraphError::Driver(error)) if error.code() == cuprum::Error::WRONG_CONTEXT)
        );
    });
}

#[test]
fn parameters_are_reported() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 8)).unwrap();
        let (low, high) = (memory.slice(..4).unwrap(), memory.slice(4..).unwrap());
        let fill = graph.add_fill(cx, &[], low, 9).unwrap();
        let copy = graph.add_copy(cx, &[fill], high, low).unwrap();
        let (filled, copied) = (
            graph.params::<CUDA_MEMSET_NODE_PARAMS>(fill).unwrap(),
            graph.params::<CUDA_MEMCPY3D>(copy).unwrap(),
        );
        assert_eq!((filled.dst, filled.value, filled.width), (low.as_raw(), 9, 4));
        assert_eq!((copied.dstDevice, copied.srcDevice), (high.as_raw(), low.as_raw()));
        graph.set(cx, fill).fill(high, 5).unwrap();
        graph.set(cx, copy).copy(low, high).unwrap();
        assert!(graph.set(cx, copy).fill(high, 5).is_err(), "a node of another kind");
        assert!(graph.params::<CUDA_MEMSET_NODE_PARAMS>(copy).is_err());
        let mut executable = executable(cx, graph);
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [5; 8]);
    });
}

#[test]
fn the_nodes_are_written_in_the_dot_language() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let first = graph.add_empty(cx, &[]).unwrap();
        graph.add_empty(cx, &[first]).unwrap();
        let path = std::env::temp_dir().join(format!("cuprum-graph-{}.dot", std::process::id()));
        graph.print_dot(&path, DotFlags::CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(text.starts_with("digraph") && text.contains("->"), "{text}");
        assert_eq!(
            graph.print_dot("a\0b", DotFlags::CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE),
            Err(GraphError::FileName)
        );
    });
}
