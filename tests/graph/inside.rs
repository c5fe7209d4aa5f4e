//! Memory that graphs allocate, and bodies that run on a condition.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuprum::graph::{ConditionalKind, Graph, GraphError, GraphMemory, InstantiateFlags, NodeType};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEM_FREE_NODE_PARAMS, CUresult};
use cuprum::{Buffer, Stream};

use super::common::device;
use super::{executable, in_context, zeros};

#[test]
fn memory_of_a_graph_exists_while_it_runs() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let result = graph.lend(zeros(cx, 16)).unwrap();
        // SAFETY: every node that uses the memory depends on the allocation, and the free depends
        // on them.
        let (alloc, scratch) = unsafe { graph.add_alloc::<u32>(cx, &[], 16) }.unwrap();
        let allocated: CUDA_MEM_ALLOC_NODE_PARAMS = graph.params(alloc).unwrap();
        assert_eq!((allocated.dptr, allocated.bytesize), (scratch.as_raw(), 64));
        let fill = graph.add_fill(cx, &[alloc], scratch, 4).unwrap();
        let copy = graph.add_copy(cx, &[fill], result, scratch).unwrap();
        let free = graph.add_free(cx, &[copy], scratch).unwrap();
        assert_eq!(graph.params::<CUDA_MEM_FREE_NODE_PARAMS>(free).unwrap().dptr, scratch.as_raw());
        assert_eq!(graph.view(scratch).unwrap_err(), GraphError::Inside);
        assert_eq!(graph.add_free(cx, &[free], result), Err(GraphError::Foreign));
        let mut executable = executable(cx, graph);
        let stream = Stream::new(cx).unwrap();
        for _ in 0..3 {
            executable.launch(cx, &stream).unwrap();
            assert_eq!(executable.view(result).unwrap().to_vec(cx).unwrap(), [4; 16]);
        }
        assert_eq!(executable.view_mut(scratch).unwrap_err(), GraphError::Inside);
        let used = device().graph_memory(GraphMemory::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH).unwrap();
        assert!(used >= 64, "{used}");
        device().reset_graph_memory(GraphMemory::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH).unwrap();
        device().trim_graph_memory().unwrap();
    });
}

#[test]
fn memory_that_is_not_freed_stops_the_second_replay_unless_that_frees_it() {
    in_context(|cx| {
        for (flags, again) in [(InstantiateFlags::empty(), false), (InstantiateFlags::AUTO_FREE, true)] {
            let mut graph = Graph::new(cx).unwrap();
            // SAFETY: the one node that uses the memory depends on the allocation.
            let (alloc, scratch) = unsafe { graph.add_alloc::<u32>(cx, &[], 16) }.unwrap();
            graph.add_fill(cx, &[alloc], scratch, 4).unwrap();
            let mut executable = graph.instantiate(cx, flags).unwrap();
            let stream = Stream::new(cx).unwrap();
            executable.launch(cx, &stream).unwrap();
            assert_eq!(executable.launch(cx, &stream).is_ok(), again);
        }
    });
}

#[test]
fn no_memory_is_not_allocated() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        // SAFETY: nothing uses it.
        assert!(matches!(unsafe { graph.add_alloc::<u32>(cx, &[], 0) }, Err(GraphError::Memory(_))));
        // SAFETY: as above.
        assert!(unsafe { graph.add_alloc::<u32>(cx, &[], usize::MAX) }.is_err());
    });
}

#[test]
fn a_condition_chooses_a_body() {
    in_context(|cx| {
        for value in 0..3 {
            let mut graph = Graph::new(cx).unwrap();
            let memory = graph.lend(zeros(cx, 4)).unwrap();
            let [a, b, c] = [(); 3].map(|()| graph.condition(cx, Some(value)).unwrap());
            let (one, [yes]) =
                graph.add_conditional(cx, &[], a, ConditionalKind::CU_GRAPH_COND_TYPE_IF).unwrap();
            let (two, [some, none]) =
                graph.add_conditional(cx, &[one], b, ConditionalKind::CU_GRAPH_COND_TYPE_IF).unwrap();
            let (_, [_, case]) =
                graph.add_conditional(cx, &[two], c, ConditionalKind::CU_GRAPH_COND_TYPE_SWITCH).unwrap();
            assert_eq!(graph.node_type(one), Ok(NodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL));
            let places = [(yes, 0), (some, 1), (none, 2), (case, 3)];
            for (body, at) in places {
                let part = memory.slice(at..at + 1).unwrap();
                graph.within(body, |graph| graph.add_fill(cx, &[], part, 1)).unwrap();
            }
            let mut executable = executable(cx, graph);
            executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
            let some = u32::from(value != 0);
            assert_eq!(
                executable.view(memory).unwrap().to_vec(cx).unwrap(),
                [some, some, 1 - some, u32::from(value == 1)]
            );
        }
    });
}

#[test]
fn a_body_runs_while_the_condition_holds() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let condition = graph.condition(cx, Some(0)).unwrap();
        let (_, [body]) =
            graph.add_conditional(cx, &[], condition, ConditionalKind::CU_GRAPH_COND_TYPE_WHILE).unwrap();
        graph.within(body, |graph| graph.add_fill(cx, &[], memory, 1)).unwrap();
        let mut executable = executable(cx, graph);
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [0; 4], "it never held");
    });
}

#[test]
fn nodes_of_a_body_are_no_nodes_of_the_graph() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let outside = graph.add_empty(cx, &[]).unwrap();
        let condition = graph.condition(cx, Some(1)).unwrap();
        let (node, [body]) =
            graph.add_conditional(cx, &[outside], condition, ConditionalKind::CU_GRAPH_COND_TYPE_IF).unwrap();
        let inside = graph.within(body, |graph| graph.add_empty(cx, &[])).unwrap();
        assert_eq!(graph.within(body, |graph| graph.add_empty(cx, &[outside])), Err(GraphError::Foreign));
        assert_eq!(graph.add_empty(cx, &[inside]), Err(GraphError::Foreign));
        assert_eq!(graph.within(body, |graph| graph.nodes(cx)).unwrap(), [inside]);
        let mut other = Graph::new(cx).unwrap();
        assert_eq!(other.within(body, |_| Ok(())), Err(GraphError::Foreign));
        let condition = graph.condition(cx, Some(1)).unwrap();
        assert_eq!(
            other
                .add_conditional::<1>(cx, &[], condition, ConditionalKind::CU_GRAPH_COND_TYPE_IF)
                .unwrap_err(),
            GraphError::Foreign
        );
        graph.remove(cx, node).unwrap();
        assert_eq!(graph.node_type(inside), Err(GraphError::Removed), "it went with the node");
        assert_eq!(graph.within(body, |_| Ok(())), Err(GraphError::Removed));
    });
}

#[test]
fn a_body_takes_no_events_and_a_graph_needs_its_conditions() {
    in_context(|cx| {
        let event = Event::new(cx, EventFlags::empty()).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let condition = graph.condition(cx, Some(1)).unwrap();
        let (_, [body]) =
            graph.add_conditional(cx, &[], condition, ConditionalKind::CU_GRAPH_COND_TYPE_IF).unwrap();
        let added = graph.within(body, |graph| graph.add_record(cx, &[], &event));
        assert!(added.is_err() || graph.instantiate(cx, InstantiateFlags::empty()).is_err());
        let mut graph = Graph::new(cx).unwrap();
        graph.condition(cx, None).unwrap();
        let error = graph.instantiate(cx, InstantiateFlags::empty()).unwrap_err();
        assert!(
            matches!(error, GraphError::Driver(error) if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE)
        );
        drop(Buffer::<u32>::alloc(cx, 4).unwrap());
    });
}

#[test]
fn a_body_that_is_left_by_a_panic_is_left() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let condition = graph.condition(cx, Some(1)).unwrap();
        let (node, [body]) =
            graph.add_conditional(cx, &[], condition, ConditionalKind::CU_GRAPH_COND_TYPE_IF).unwrap();
        let panicking = AssertUnwindSafe(|| graph.within(body, |_| -> Result<(), _> { panic!("as it may") }));
        assert!(catch_unwind(panicking).is_err());
        assert_eq!(graph.nodes(cx).unwrap(), [node], "the nodes of the whole again");
        graph.add_empty(cx, &[node]).unwrap();
    });
}
