//! Changing executables: node by node, whole, on and off.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuprum::graph::{CaptureMode, Graph, GraphError, InstantiateFlags};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUgraphExecUpdateResult, CUlaunchAttributeID, FnId};
use cuprum::{Buffer, LaunchConfig, Stream};

use super::{Saxpy, executable, function, in_context, saxpy, zeros};

#[test]
fn an_executable_takes_over_another_graph_of_its_shape_with_its_kept_values() {
    in_context(|cx| {
        let build = |value: u32, count: usize| {
            let mut graph = Graph::new(cx).unwrap();
            let memory = graph.lend(zeros(cx, 4)).unwrap();
            for _ in 0..count {
                graph.add_fill(cx, &[], memory, value).unwrap();
            }
            (graph, memory)
        };
        let ((graph, first), stream) = (build(1, 1), Stream::new(cx).unwrap());
        let mut executable = executable(cx, graph);
        executable.launch(cx, &stream).unwrap();
        for value in 2..5 {
            let (new, memory) = build(value, 1);
            executable.update(cx, new).unwrap();
            executable.launch(cx, &stream).unwrap();
            assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [value; 4]);
        }
        assert_eq!(executable.view(first).unwrap().to_vec(cx).unwrap(), [1; 4]);
        let (other, _) = build(9, 2);
        let refused = executable.update(cx, other).unwrap_err();
        let changed = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        assert!(matches!(refused, GraphError::Update { why, .. } if why == changed), "{refused}");
        executable.launch(cx, &stream).unwrap();
    });
}

#[test]
fn nodes_are_turned_off_and_on() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let node = graph.add_fill(cx, &[], memory, 5).unwrap();
        let empty = graph.add_empty(cx, &[]).unwrap();
        let (mut executable, stream) = (executable(cx, graph), Stream::new(cx).unwrap());
        assert!(executable.is_enabled(cx, node).unwrap());
        executable.set_enabled(cx, node, false).unwrap();
        assert!(!executable.is_enabled(cx, node).unwrap());
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [0; 4]);
        executable.set_enabled(cx, node, true).unwrap();
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [5; 4]);
        assert!(executable.set_enabled(cx, empty, false).is_err(), "an empty node is always on");
    });
}

#[test]
fn nodes_of_an_executable_get_other_parameters() {
    in_context(|cx| {
        let module = saxpy(cx);
        let kernel = function(&module).bind::<Saxpy>().unwrap();
        let config = LaunchConfig::for_elements(4, 32);
        let [one, two] = [(); 2].map(|()| Event::new(cx, EventFlags::empty()).unwrap());
        let count = Arc::new(AtomicU32::new(0));
        let mut graph = Graph::new(cx).unwrap();
        let x = graph.lend(Buffer::from_slice(cx, &[1.0f32; 4]).unwrap()).unwrap();
        let y = graph.lend(Buffer::from_slice(cx, &[2.0f32; 4]).unwrap()).unwrap();
        let (a, b) = (graph.lend(zeros(cx, 4)).unwrap(), graph.lend(zeros(cx, 4)).unwrap());
        let fill = graph.add_fill(cx, &[], a, 1).unwrap();
        let copy = graph.add_copy(cx, &[fill], b, a).unwrap();
        // SAFETY: the kernel touches 4 elements of both.
        let launch = unsafe { graph.add_kernel(cx, &[copy], &kernel, config, (4, 1.0, x, y)) }.unwrap();
        let host = graph.add_host(cx, &[launch], || panic!("replaced")).unwrap();
        let wait = graph.add_wait(cx, &[host], &one).unwrap();
        let record = graph.add_record(cx, &[wait], &two).unwrap();
        let mut inner = Graph::new(cx).unwrap();
        let c = inner.lend(zeros(cx, 4)).unwrap();
        inner.add_fill(cx, &[], c, 1).unwrap();
        let child = graph.add_child(cx, &[record], inner).unwrap();
        let mut executable = executable(cx, graph);

        executable.set(cx, fill).fill(b, 8).unwrap();
        executable.set(cx, copy).copy(a, b).unwrap();
        // SAFETY: as above.
        unsafe { executable.set(cx, launch).kernel(&kernel, config, (4, 10.0, x, y)) }.unwrap();
        let counted = Arc::clone(&count);
        let add = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        executable.set(cx, host).host(add).unwrap();
        executable.set(cx, wait).wait(&two).unwrap();
        executable.set(cx, record).record(&one).unwrap();
        let mut other = Graph::new(cx).unwrap();
        let d = other.lend(zeros(cx, 4)).unwrap();
        other.add_fill(cx, &[], d, 3).unwrap();
        executable.set_child(cx, child, other).unwrap();

        let stream = Stream::new(cx).unwrap();
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(a).unwrap().to_vec(cx).unwrap(), [8; 4]);
        assert_eq!(executable.view(y).unwrap().to_vec(cx).unwrap(), [12.0; 4]);
        assert_eq!(count.load(Ordering::Relaxed), 1);
        assert_eq!(executable.view(c).unwrap().to_vec(cx).unwrap(), [0; 4]);
        assert_eq!(executable.view(d).unwrap().to_vec(cx).unwrap(), [3; 4]);
        assert!(one.is_done().unwrap());
    });
}

#[test]
fn numbers_are_reported_and_a_graph_is_uploaded() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let node = graph.add_fill(cx, &[], memory, 2).unwrap();
        let has_numbers = cx.context().driver().library().has(FnId::cuGraphGetId);
        if has_numbers {
            assert_ne!(graph.id().unwrap(), Graph::new(cx).unwrap().id().unwrap());
            graph.node_tools_id(node).unwrap();
        } else {
            assert!(
                matches!(graph.id(), Err(GraphError::Driver(error)) if error.code() == cuprum::Error::UNRESOLVED)
            );
        }
        let mut executable = graph.instantiate_on(cx, &stream, InstantiateFlags::AUTO_FREE).unwrap();
        assert_eq!(executable.id().is_ok(), has_numbers);
        executable.upload(cx, &stream).unwrap();
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(memory).unwrap().to_vec(cx).unwrap(), [2; 4]);
        assert_eq!(executable.nodes(cx).unwrap(), [node]);
        assert!(executable.graph().unwrap().node_type(node).is_ok());
    });
}

#[test]
fn kernel_nodes_have_attributes() {
    in_context(|cx| {
        let module = saxpy(cx);
        let kernel = function(&module).bind::<Saxpy>().unwrap();
        let mut stream = Stream::new(cx).unwrap();
        let x = Buffer::from_slice(cx, &[1.0f32; 4]).unwrap();
        let mut y = Buffer::from_slice(cx, &[1.0f32; 4]).unwrap();
        let (mut graph, ()) = cx
            .capture(&mut stream, CaptureMode::Global, |capture| {
                let x = capture.lend(&x)?;
                let y = capture.lend(&mut y)?;
                let config = LaunchConfig::for_elements(4, 32);
                // SAFETY: the kernel touches 4 elements of both, one launch after the other.
                unsafe { capture.launch(&kernel, config, (4, 1.0, x, y)) }?;
                // SAFETY: as above.
                unsafe { capture.launch(&kernel, config, (4, 2.0, x, y)) }
            })
            .unwrap();
        let nodes = graph.nodes(cx).unwrap();
        let priority = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
        let mut value = graph.kernel_attribute(nodes[0], priority).unwrap();
        value.priority = -1;
        // SAFETY: a number.
        unsafe { graph.set_kernel_attribute(nodes[0], priority, &value) }.unwrap();
        let copied = graph.kernel_attribute(nodes[0], priority).unwrap();
        // SAFETY: the field of this attribute.
        assert_eq!(unsafe { copied.priority }, -1);
    });
}

#[test]
fn a_copy_of_a_graph_has_copies_of_its_nodes() {
    in_context(|cx| {
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let node = graph.add_fill(cx, &[], memory, 2).unwrap();
        // SAFETY: the copy is run alone, and dropped first.
        let mut copy = unsafe { graph.clone_graph(cx) }.unwrap();
        let copied = graph.find_in_clone(node, &mut copy).unwrap();
        assert_ne!(copied, node);
        assert_eq!(copy.nodes(cx).unwrap(), [copied]);
        assert_eq!(copy.view(memory).unwrap_err(), GraphError::Foreign);
        let mut executable = executable(cx, copy);
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
        drop(executable);
        assert_eq!(graph.view(memory).unwrap().to_vec(cx).unwrap(), [2; 4]);
    });
}
