//! Captures: the recorded nodes, the refused calls, and the state after a failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuprum::context::ContextStack;
use cuprum::graph::{CaptureMode, CaptureStatus, ConditionalKind, Graph, GraphError, Node, NodeType};
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::CUresult;
use cuprum::{Buffer, Current, LaunchConfig, PinnedBuffer, Stream};

use super::common::{device, driver};
use super::{Saxpy, executable, function, in_context, saxpy, zeros};

const MODES: [CaptureMode; 3] = [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed];

#[test]
fn nothing_runs_before_the_graph_is_launched() {
    in_context(|cx| {
        for (mode, beside) in MODES.into_iter().zip([false, true, false]) {
            let mut stream = if beside { Stream::non_blocking(cx) } else { Stream::new(cx) }.unwrap();
            let mut buffer = zeros(cx, 8);
            let called = Arc::new(AtomicU32::new(0));
            let counted = Arc::clone(&called);
            let (graph, (memory, input, output)) = cx
                .capture(&mut stream, mode, |capture| {
                    let memory = capture.lend(&mut buffer)?;
                    let (low, high) = (memory.slice(..4).unwrap(), memory.slice(4..).unwrap());
                    let (input, output) = (capture.lend(vec![5; 4])?, capture.lend(vec![0; 8])?);
                    capture.copy(low, input)?;
                    capture.copy(high, low)?;
                    capture.fill(low, 1)?;
                    capture.copy(output, memory)?;
                    capture.host(move || {
                        counted.fetch_add(1, Ordering::Relaxed);
                    })?;
                    Ok((memory, input, output))
                })
                .unwrap();
            assert_eq!(graph.view(memory).unwrap().to_vec(cx).unwrap(), [0; 8]);
            let mut executable = executable(cx, graph);
            executable.launch(cx, &stream).unwrap();
            assert_eq!(executable.view(output).unwrap(), [1, 1, 1, 1, 5, 5, 5, 5]);
            executable.view_mut(input).unwrap()[3] = 9;
            cx.fill(&mut executable.view_mut(memory).unwrap(), 0).unwrap();
            executable.launch(cx, &stream).unwrap();
            assert_eq!(executable.view(output).unwrap(), [1, 1, 1, 1, 5, 5, 5, 9]);
            assert_eq!(called.load(Ordering::Relaxed), 2);
            drop(executable);
            assert_eq!(buffer.to_vec(cx).unwrap(), [1, 1, 1, 1, 5, 5, 5, 9]);
        }
    });
}

#[test]
fn lanes_fork_and_join() {
    in_context(|cx| {
        let [mut one, mut two, mut three] = [(); 3].map(|()| Stream::new(cx).unwrap());
        let buffers = [(); 3].map(|()| zeros(cx, 4));
        let (mut graph, [a, _, _]) = cx
            .capture(&mut one, CaptureMode::ThreadLocal, |capture| {
                let mut loans = Vec::new();
                for buffer in buffers {
                    loans.push(capture.lend(buffer)?);
                }
                let [a, b, c] = [loans[0], loans[1], loans[2]];
                capture.fill(a, 1)?;
                let (second, third) = (capture.fork(&mut two)?, capture.fork(&mut three)?);
                second.copy(b, a)?;
                third.fill(c, 7)?;
                second.join(&third)?;
                second.copy(b.slice(..2).unwrap(), c.slice(..2).unwrap())?;
                capture.join(&second)?;
                capture.copy(a, b)?;
                Ok([a, b, c])
            })
            .unwrap();
        assert_eq!(graph.nodes(cx).unwrap().len(), 5);
        let roots = roots(cx, &mut graph);
        assert_eq!(roots.len(), 1);
        // The copy and the fill of the other lanes, and perhaps, needlessly, the last copy.
        assert!(dependents(cx, &mut graph, roots[0]).len() >= 2);
        let mut executable = executable(cx, graph);
        executable.launch(cx, &one).unwrap();
        assert_eq!(executable.view(a).unwrap().to_vec(cx).unwrap(), [7, 7, 1, 1]);
        for stream in [&one, &two, &three] {
            assert_eq!(stream.capture_status(cx), Ok(CaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE));
        }
    });
}

#[test]
fn a_lane_that_is_not_joined_spoils_the_capture() {
    in_context(|cx| {
        let (mut one, mut two) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
        let mut buffer = zeros(cx, 4);
        let result = cx.capture(&mut one, CaptureMode::ThreadLocal, |capture| {
            let memory = capture.lend(&mut buffer)?;
            capture.fork(&mut two)?.fill(memory, 1)
        });
        let Err(GraphError::Driver(error)) = result.map(drop) else { panic!("it was not joined") };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        assert!(error.is_capture());
        two.synchronize(cx).expect("the stream is not captured any more");
        assert_eq!(buffer.to_vec(cx).unwrap(), [0; 4]);
    });
}

#[test]
fn waiting_for_captured_work_is_an_error_that_names_the_capture() {
    in_context(|cx| {
        let mut stream = Stream::new(cx).unwrap();
        let result = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
            let error = cx.synchronize().unwrap_err();
            assert!(error.is_capture() && error.to_string().contains("captured into a graph"), "{error}");
            assert_eq!(capture.info()?.status, CaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED);
            Ok(())
        });
        let Err(GraphError::Driver(error)) = result else { panic!("{result:?}") };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        stream.synchronize(cx).expect("the stream is not captured any more");
        let buffer = zeros(cx, 4);
        let result = cx.capture(&mut stream, CaptureMode::ThreadLocal, |_| {
            // A synchronous copy runs on the default stream, which waits for this one.
            let error = buffer.to_vec(cx).unwrap_err();
            assert!(error.to_string().contains("captured into a graph"), "{error}");
            Ok(())
        });
        assert!(result.is_err());
    });
}

#[test]
fn a_body_that_fails_or_panics_ends_the_capture() {
    in_context(|cx| {
        let mut stream = Stream::new(cx).unwrap();
        let failed = cx.capture(&mut stream, CaptureMode::Global, |_| Err::<(), _>(GraphError::Lost));
        assert_eq!(failed.unwrap_err(), GraphError::Lost);
        let panicking =
            || cx.capture(&mut stream, CaptureMode::Global, |_| -> Result<(), _> { panic!("as it may") });
        assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
        stream.synchronize(cx).expect("the stream is not captured any more");
        cx.capture(&mut stream, CaptureMode::Global, |_| Ok(())).expect("another capture");
    });
}

#[test]
fn the_default_stream_is_not_captured() {
    in_context(|cx| {
        let mut default = Stream::default_in(cx);
        let error = cx.capture(&mut default, CaptureMode::Relaxed, |_| Ok(())).unwrap_err();
        assert!(matches!(error, GraphError::Driver(error) if error.is_capture()), "{error}");
    });
}

#[test]
fn a_capture_adds_to_a_graph_after_its_nodes() {
    in_context(|cx| {
        let mut stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let first = graph.add_fill(cx, &[], memory, 1).unwrap();
        let more = zeros(cx, 4);
        let more = graph
            .capture_into(cx, &mut stream, &[first], CaptureMode::Global, |capture| {
                let more = capture.lend(more)?;
                capture.copy(more, memory)?;
                Ok(more)
            })
            .unwrap();
        assert_eq!(graph.nodes(cx).unwrap().len(), 2);
        assert_eq!(dependents(cx, &mut graph, first).len(), 1);
        let mut executable = executable(cx, graph);
        executable.launch(cx, &stream).unwrap();
        assert_eq!(executable.view(more).unwrap().to_vec(cx).unwrap(), [1; 4]);
    });
}

#[test]
fn a_graph_into_which_a_capture_failed_is_not_used() {
    in_context(|cx| {
        let mut stream = Stream::new(cx).unwrap();
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let node = graph.add_empty(cx, &[]).unwrap();
        let panicking = || {
            graph.capture_into(cx, &mut stream, &[], CaptureMode::Global, |capture| -> Result<(), _> {
                capture.fill(memory, 1)?;
                panic!("as it may")
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
        assert_eq!(graph.add_empty(cx, &[]), Err(GraphError::Incomplete));
        assert_eq!(graph.node_type(node), Err(GraphError::Incomplete), "nodes of before neither");
        assert_eq!(graph.remove(cx, node), Err(GraphError::Incomplete));
        assert_eq!(graph.view(memory).unwrap().to_vec(cx).unwrap(), [0; 4], "its memory is its own");
        assert_eq!(graph.instantiate(cx, Default::default()).unwrap_err(), GraphError::Incomplete);
        stream.synchronize(cx).expect("the stream is not captured any more");
    });
}

#[test]
fn the_dependencies_of_the_next_node_can_be_set() {
    in_context(|cx| {
        let mut stream = Stream::new(cx).unwrap();
        let more = zeros(cx, 4);
        let (mut graph, tails) = cx
            .capture(&mut stream, CaptureMode::Global, |capture| {
                let memory = capture.lend(more)?;
                assert_eq!(capture.info()?.next_after, []);
                capture.fill(memory, 1)?;
                let first = capture.info()?;
                assert_eq!(first.status, CaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
                capture.fill(memory, 2)?;
                let second = capture.info()?;
                assert_eq!(first.id, second.id);
                capture.come_after(&first.next_after, true)?;
                capture.fill(memory, 3)?;
                capture.come_after(&second.next_after, false)?;
                capture.fill(memory, 4)?;
                Ok([first.next_after[0], second.next_after[0]])
            })
            .unwrap();
        assert_eq!(dependents(cx, &mut graph, tails[0]).len(), 2);
        assert_eq!(dependents(cx, &mut graph, tails[1]).len(), 1);
        assert_eq!(graph.node_type(tails[0]), Ok(NodeType::CU_GRAPH_NODE_TYPE_MEMSET));
    });
}

#[test]
fn events_of_others_are_recorded_and_waited_for_in_replays() {
    in_context(|cx| {
        let [before, after] = [(); 2].map(|()| Event::new(cx, EventFlags::empty()).unwrap());
        let (mut stream, other) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
        let (graph, ()) = cx
            .capture(&mut stream, CaptureMode::Global, |capture| {
                capture.wait(&before)?;
                capture.record(&after)
            })
            .unwrap();
        before.record(cx, &other).unwrap();
        executable(cx, graph).launch(cx, &stream).unwrap();
        assert!(before.is_done().unwrap() && after.is_done().unwrap());
        after.elapsed_since(&before).expect("both were recorded");
    });
}

#[test]
fn twenty_kernels_are_one_launch() {
    in_context(|cx| {
        let module = saxpy(cx);
        let kernel = function(&module).bind::<Saxpy>().unwrap();
        let x = Buffer::from_slice(cx, &[1.0f32; 64]).unwrap();
        let mut y = Buffer::from_slice(cx, &[0.0f32; 64]).unwrap();
        let mut stream = Stream::new(cx).unwrap();
        let (mut graph, y) = cx
            .capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
                let (x, y) = (capture.lend(&x)?, capture.lend(&mut y)?);
                for _ in 0..20 {
                    // SAFETY: the kernel touches 64 elements of both, one launch after the other.
                    unsafe { capture.launch(&kernel, LaunchConfig::new(2, 32), (64, 1.0, x, y)) }?;
                }
                Ok(y)
            })
            .unwrap();
        assert_eq!(graph.nodes(cx).unwrap().len(), 20);
        let mut executable = executable(cx, graph);
        let thrice = cx.scope(&stream, |scope| {
            let graph = scope.lend_graph(&mut executable)?;
            Ok((0..3).try_for_each(|_| graph.launch())?)
        });
        thrice.unwrap();
        assert_eq!(executable.view(y).unwrap().to_vec(cx).unwrap(), [60.0; 64]);
    });
}

#[test]
fn the_mode_of_a_thread_is_exchanged() {
    std::thread::spawn(|| {
        assert_eq!(CaptureMode::Relaxed.exchange(driver()), Ok(CaptureMode::Global));
        assert_eq!(CaptureMode::ThreadLocal.exchange(driver()), Ok(CaptureMode::Relaxed));
        assert_eq!(CaptureMode::Global.exchange(driver()), Ok(CaptureMode::ThreadLocal));
    })
    .join()
    .unwrap();
}

#[test]
fn a_relaxed_thread_may_allocate_during_a_global_capture() {
    in_context(|cx| {
        let mut stream = Stream::non_blocking(cx).unwrap();
        let refused = cx.capture(&mut stream, CaptureMode::Global, |_| {
            assert!(Buffer::<u32>::alloc(cx, 4).is_err());
            Ok(())
        });
        assert!(refused.is_err());
        cx.capture(&mut stream, CaptureMode::Relaxed, |_| {
            Buffer::<u32>::alloc(cx, 4).expect("nothing is refused");
            Ok(())
        })
        .unwrap();
    });
}

/// A default stream is the whole context's: any work queued on it would become part of the graph.
#[test]
fn a_default_stream_takes_no_part_in_a_capture() {
    use cuprum::context::GreenContext;
    use cuprum::device::ResourceKind;

    fn refused(cx: &cuprum::Current<'_, '_>) {
        let is_default = |answer: Result<(), GraphError>| match answer.unwrap_err() {
            GraphError::Driver(error) => error.is_capture(),
            _ => false,
        };
        let mut default = Stream::default_in(cx);
        let begun = cx.capture(&mut default, CaptureMode::Relaxed, |_| Ok(()));
        assert!(is_default(begun.map(|_| ())));
        for mut stream in [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()] {
            let mut default = Stream::default_in(cx);
            let forked = cx
                .capture(&mut stream, CaptureMode::Relaxed, |capture| capture.fork(&mut default).map(|_| ()));
            assert!(is_default(forked.map(|_| ())));
        }
    }
    in_context(|cx| refused(cx));
    let all = device().resource(ResourceKind::CU_DEV_RESOURCE_TYPE_SM).unwrap();
    let green = GreenContext::create(&[all]).unwrap();
    green
        .enter(|cx| {
            refused(cx);
            Ok(())
        })
        .unwrap();
}

/// Captures of other threads neither lose memory in flight nor return it before the work is over.
#[test]
fn a_scope_during_a_global_capture_of_another_thread_is_waited_for() {
    in_context(|cx| {
        let (mut captured, stream) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let (mut buffer, context) = (zeros(cx, 4), cx.context());
        let mut host = PinnedBuffer::from_slice(cx, &[7; 4], PinnedFlags::empty()).unwrap();
        let spoiled = cx.capture(&mut captured, CaptureMode::Global, |_| {
            let copy = || {
                let mut stack = ContextStack::take().unwrap();
                let cx = stack.push(context).unwrap();
                cx.scope(&stream, |scope| {
                    let lent = scope.lend(buffer.as_mut_slice());
                    Ok(lent.map(|lent| scope.copy(&scope.lend(&mut host).unwrap(), &lent).unwrap()))
                })
            };
            let _error_of_the_loan = std::thread::scope(|scope| scope.spawn(copy).join().unwrap()).unwrap();
            Ok(())
        });
        assert!(spoiled.is_err(), "a global capture does not suffer waits of other threads");
        assert!(!host.is_lost());
    });
}

/// Nodes, bodies and conditions of a graph into which a capture failed, and all tokens of a graph
/// that was never made.
#[test]
fn tokens_of_a_capture_that_failed_are_refused() {
    in_context(|cx| {
        let mut stream = Stream::new(cx).unwrap();
        let (mut lost, buffer, another) = (None, zeros(cx, 4), zeros(cx, 4));
        let failed = cx.capture(&mut stream, CaptureMode::Global, |capture| -> Result<(), _> {
            let memory = capture.lend(buffer)?;
            let host = capture.lend(vec![0; 4])?;
            capture.copy(host, memory)?;
            lost = Some((memory, host, capture.info()?.next_after));
            Err(GraphError::FileName)
        });
        assert_eq!(failed.map(drop), Err(GraphError::FileName));
        let (memory, host, nodes) = lost.unwrap();

        let mut graph = Graph::new(cx).unwrap();
        assert_eq!(graph.view(memory).unwrap_err(), GraphError::Foreign);
        assert_eq!(graph.add_fill(cx, &[], memory, 1), Err(GraphError::Foreign));
        assert_eq!(graph.view(host), Err(GraphError::Foreign));
        assert_eq!(graph.add_empty(cx, &nodes), Err(GraphError::Foreign));

        let (used, unused) = (graph.condition(cx, Some(1)).unwrap(), graph.condition(cx, Some(1)).unwrap());
        let (node, [body]) =
            graph.add_conditional(cx, &[], used, ConditionalKind::CU_GRAPH_COND_TYPE_IF).unwrap();
        // SAFETY: nothing is replayed.
        let mut copy = unsafe { Graph::new(cx).unwrap().clone_graph(cx) }.unwrap();
        let mut inside = None;
        let failed =
            graph.capture_into(cx, &mut stream, &[], CaptureMode::Global, |capture| -> Result<(), _> {
                inside = Some(capture.lend(another)?);
                Err(GraphError::FileName)
            });
        assert_eq!(failed, Err(GraphError::FileName));
        assert_eq!(
            graph.add_conditional::<1>(cx, &[], unused, ConditionalKind::CU_GRAPH_COND_TYPE_IF).map(drop),
            Err(GraphError::Incomplete)
        );
        assert_eq!(graph.within(body, |_| Ok(())), Err(GraphError::Incomplete));
        assert_eq!(graph.node_type(node), Err(GraphError::Incomplete));
        assert_eq!(graph.find_in_clone(node, &mut copy), Err(GraphError::Incomplete));
        assert_eq!(copy.find_in_clone(node, &mut graph), Err(GraphError::Incomplete));

        // Such a graph is no child, and its memory is dropped with it.
        let mut parent = Graph::new(cx).unwrap();
        assert_eq!(parent.add_child(cx, &[], graph), Err(GraphError::Incomplete));
        assert_eq!(parent.view(inside.unwrap()).unwrap_err(), GraphError::Foreign);
        assert_eq!(parent.add_fill(cx, &[], inside.unwrap(), 1), Err(GraphError::Foreign));
    });
}

/// The methods for work of other libraries, such as collectives.
#[test]
fn libraries_check_memory_and_keep_their_objects() {
    in_context(|cx| {
        let (mut stream, mut other) = (Stream::new(cx).unwrap(), Graph::new(cx).unwrap());
        let foreign = other.lend(zeros(cx, 4)).unwrap();
        let (own, object) = (zeros(cx, 4), Arc::new("an object of a library"));
        let (graph, ()) = cx
            .capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
                assert_eq!(capture.context(), cx.context());
                let own = capture.lend(own)?;
                assert_eq!(capture.check(own.slice(1..2).unwrap()), Ok(()));
                assert_eq!(capture.check(foreign), Err(GraphError::Foreign));
                capture.keep(Arc::clone(&object));
                capture.keep(Arc::clone(&object));
                Ok(())
            })
            .unwrap();
        assert_eq!(Arc::strong_count(&object), 2, "one share for both");
        let executable = executable(cx, graph);
        assert_eq!(Arc::strong_count(&object), 2);
        drop(executable);
        assert_eq!(Arc::strong_count(&object), 1);
    });
}

/// The nodes that run after a node.
fn dependents(cx: &Current<'_, '_>, graph: &mut Graph<'_>, node: Node) -> Vec<Node> {
    graph.edges(cx).unwrap().into_iter().filter(|edge| edge.from == node).map(|edge| edge.to).collect()
}

/// The nodes to which no edge leads.
fn roots(cx: &Current<'_, '_>, graph: &mut Graph<'_>) -> Vec<Node> {
    let (nodes, edges) = (graph.nodes(cx).unwrap(), graph.edges(cx).unwrap());
    nodes.into_iter().filter(|&node| edges.iter().all(|edge| edge.to != node)).collect()
}
