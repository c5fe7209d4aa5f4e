//! Graphs built by hand, graphs captured from streams, memory pools and waits for values.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The tests run in parallel, so a capture of one must not forbid calls to another.
pub(super) const MODE: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

pub(super) fn graph() -> CUgraph {
    let mut graph = CUgraph::null();
    ok!(cuGraphCreate(&mut graph, 0));
    graph
}

pub(super) fn instantiate(graph: CUgraph) -> CUgraphExec {
    let mut exec = CUgraphExec::null();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

fn fill(dst: CUdeviceptr, value: u32, width: usize) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS { dst, pitch: 0, value, elementSize: 4, width, height: 1 }
}

fn add_fill(graph: CUgraph, after: &[CUgraphNode], params: &CUDA_MEMSET_NODE_PARAMS) -> CUgraphNode {
    let mut node = CUgraphNode::null();
    let context = current();
    ok!(cuGraphAddMemsetNode(&mut node, graph, after.as_ptr(), after.len(), params, context));
    node
}

fn count(ask: impl Fn(*mut CUgraphNode, *mut usize) -> CUresult) -> usize {
    let mut count = 0;
    assert_eq!(ask(null_mut(), &mut count), CUresult::CUDA_SUCCESS);
    count
}

#[test]
fn a_cycle_is_refused_when_the_graph_is_instantiated_as_by_an_h100() {
    let _context = TestContext::new();
    let graph = graph();
    let nodes: Vec<CUgraphNode> = (0..3)
        .map(|_| {
            let mut node = CUgraphNode::null();
            ok!(cuGraphAddEmptyNode(&mut node, graph, null_mut(), 0));
            node
        })
        .collect();
    ok!(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    ok!(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
    let mut exec = CUgraphExec::null();
    assert_eq!(code!(cuGraphInstantiateWithFlags(&mut exec, graph, 0)), INVALID_VALUE);
    assert_eq!(code!(cuGraphAddDependencies(graph, &nodes[2], &nodes[2], 1)), INVALID_VALUE);
    assert_eq!(count(|nodes, n| code!(cuGraphGetEdges(graph, nodes, nodes, n))), 2);
    let mut clone = CUgraph::null();
    ok!(cuGraphClone(&mut clone, graph));
    assert_eq!(code!(cuGraphInstantiateWithFlags(&mut exec, clone, 0)), INVALID_VALUE);
    let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS::zeroed();
    assert_eq!(code!(cuGraphInstantiateWithParams(&mut exec, graph, &mut params)), INVALID_VALUE);
    assert_eq!(params.result_out, CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    ok!(cuGraphRemoveDependencies(graph, &nodes[1], &nodes[0], 1));
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    let mut result = CUgraphExecUpdateResultInfo::zeroed();
    let failure = CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    assert_eq!(code!(cuGraphExecUpdate_v2(exec, clone, &mut result)), failure);
    assert_eq!(result.result, CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

#[test]
fn a_graph_runs_its_nodes_in_order_of_their_edges() {
    let context = TestContext::new();
    let buffer = alloc(16);
    let graph = graph();
    // Added in the wrong order, and ordered by an edge.
    let second = add_fill(graph, &[], &fill(buffer, 2, 2));
    let first = add_fill(graph, &[], &fill(buffer, 1, 4));
    ok!(cuGraphAddDependencies(graph, &first, &second, 1));
    assert_eq!(code!(cuGraphAddDependencies(graph, &first, &second, 1)), INVALID_VALUE);
    assert_eq!(code!(cuGraphAddDependencies(graph, &second, &second, 1)), INVALID_VALUE);
    assert_eq!(count(|nodes, n| code!(cuGraphGetNodes(graph, nodes, n))), 2);
    assert_eq!(count(|nodes, n| code!(cuGraphGetRootNodes(graph, nodes, n))), 1);
    assert_eq!(count(|nodes, n| code!(cuGraphNodeGetDependencies(second, nodes, n))), 1);
    let mut type_of = CUgraphNodeType(99);
    ok!(cuGraphNodeGetType(first, &mut type_of));
    assert_eq!(type_of, CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET);

    let exec = instantiate(graph);
    let stream = stream(0);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u32>(buffer, 4), [2, 2, 1, 1]);

    ok!(cuGraphExecMemsetNodeSetParams(exec, first, &fill(buffer, 7, 4), context.0));
    ok!(cuGraphNodeSetEnabled(exec, second, 0));
    ok!(cuGraphLaunch(exec, stream));
    assert_eq!(read::<u32>(buffer, 4), [7; 4]);

    let mut result = CUgraphExecUpdateResultInfo::zeroed();
    ok!(cuGraphExecUpdate_v2(exec, graph, &mut result));
    let _third = add_fill(graph, &[second], &fill(buffer, 9, 1));
    assert_eq!(
        code!(cuGraphExecUpdate_v2(exec, graph, &mut result)),
        CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
    );
    assert_eq!(result.result, CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    assert_eq!(code!(cuGraphLaunch(exec, stream)), INVALID_VALUE);
    assert_eq!(code!(cuGraphDestroy(graph)), INVALID_VALUE);
}

#[test]
fn a_child_graph_and_a_clone_are_copies() {
    let _context = TestContext::new();
    let buffer = alloc(16);
    let inner = graph();
    let node = add_fill(inner, &[], &fill(buffer, 3, 4));
    let outer = graph();
    let mut child = CUgraphNode::null();
    ok!(cuGraphAddChildGraphNode(&mut child, outer, null(), 0, inner));
    add_fill(outer, &[child], &fill(buffer, 4, 1));
    let mut clone = CUgraph::null();
    ok!(cuGraphClone(&mut clone, inner));
    let mut twin = CUgraphNode::null();
    ok!(cuGraphNodeFindInClone(&mut twin, node, clone));
    assert_ne!(twin, node);
    ok!(cuGraphDestroy(inner));
    ok!(cuGraphLaunch(instantiate(outer), CUstream::null()));
    assert_eq!(read::<u32>(buffer, 4), [4, 3, 3, 3]);
}

static CALLS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn add(amount: *mut c_void) {
    CALLS.fetch_add(amount.addr() as u32, Ordering::Relaxed);
}

#[test]
fn capture_follows_events_from_stream_to_stream() {
    let _context = TestContext::new();
    let (main, side) = (stream(1), stream(1));
    let (fork, join) = (event(2), event(2));
    let buffer = alloc(16);
    ok!(cuMemsetD32_v2(buffer, 0, 4));
    ok!(cuCtxSynchronize());
    ok!(cuStreamBeginCapture_v2(main, MODE));
    let mut status = CUstreamCaptureStatus(9);
    ok!(cuStreamIsCapturing(main, &mut status));
    assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ok!(cuMemsetD32Async(buffer, 1, 4, main));
    ok!(cuEventRecord(fork, main));
    ok!(cuStreamWaitEvent(side, fork, 0));
    ok!(cuMemsetD32Async(buffer, 2, 1, side));
    ok!(cuLaunchHostFunc(side, Some(add), core::ptr::without_provenance_mut(5)));
    ok!(cuEventRecord(join, side));
    ok!(cuStreamWaitEvent(main, join, 0));
    ok!(cuMemcpyDtoDAsync_v2(buffer + 8, buffer, 4, main));
    let mut graph = CUgraph::null();
    ok!(cuStreamEndCapture(main, &mut graph));
    assert_eq!(read::<u32>(buffer, 4), [0; 4], "a captured operation must not run");
    assert_eq!(CALLS.load(Ordering::Relaxed), 0);
    assert_eq!(count(|nodes, n| code!(cuGraphGetNodes(graph, nodes, n))), 4);

    let exec = instantiate(graph);
    ok!(cuGraphDestroy(graph));
    for launches in 1..=3 {
        ok!(cuMemsetD32_v2(buffer, 0, 4));
        // The stream does not wait for the default stream.
        ok!(cuCtxSynchronize());
        ok!(cuGraphLaunch(exec, main));
        ok!(cuStreamSynchronize(main));
        assert_eq!(read::<u32>(buffer, 4), [2, 1, 2, 1]);
        assert_eq!(CALLS.load(Ordering::Relaxed), 5 * launches);
    }
}

#[test]
fn what_a_capture_forbids_invalidates_it() {
    let _context = TestContext::new();
    let (main, side) = (stream(0), stream(0));
    let unsupported = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    let invalidated = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    let mut graph = CUgraph(NULL.wrapping_byte_add(16));
    assert_eq!(code!(cuStreamBeginCapture_v2(CUstream::null(), MODE)), unsupported);
    assert_eq!(code!(cuStreamEndCapture(main, &mut graph)), CUresult::CUDA_ERROR_ILLEGAL_STATE);

    ok!(cuStreamBeginCapture_v2(main, MODE));
    assert_eq!(code!(cuStreamSynchronize(main)), unsupported);
    assert_eq!(code!(cuStreamEndCapture(main, &mut graph)), invalidated);
    assert!(graph.is_null());

    let buffer = alloc(4);
    ok!(cuStreamBeginCapture_v2(main, MODE));
    assert_eq!(code!(cuMemsetD32_v2(buffer, 0, 1)), CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_eq!(code!(cuStreamEndCapture(main, &mut graph)), invalidated);

    let fork = event(0);
    ok!(cuStreamBeginCapture_v2(main, MODE));
    ok!(cuEventRecord(fork, main));
    ok!(cuStreamWaitEvent(side, fork, 0));
    ok!(cuMemsetD32Async(buffer, 0, 1, side));
    assert_eq!(code!(cuStreamEndCapture(main, &mut graph)), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);

    // As on an H100 with driver 580, even if the stream synchronizes with the default stream.
    let apart = stream(1);
    for captured in [main, apart] {
        for default in [CUstream::null(), CU_STREAM_LEGACY] {
            ok!(cuStreamBeginCapture_v2(captured, MODE));
            ok!(cuEventRecord(fork, captured));
            let implicit = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            assert_eq!(code!(cuStreamWaitEvent(default, fork, 0)), implicit);
            assert_eq!(code!(cuStreamEndCapture(captured, &mut graph)), invalidated);
        }
        let mut context = CUcontext::null();
        ok!(cuCtxGetCurrent(&mut context));
        ok!(cuStreamBeginCapture_v2(captured, MODE));
        assert_eq!(code!(cuCtxRecordEvent(context, fork)), unsupported);
        assert_eq!(code!(cuStreamEndCapture(captured, &mut graph)), invalidated);
    }

    let outside = event(0);
    ok!(cuEventRecord(outside, side));
    ok!(cuStreamBeginCapture_v2(main, MODE));
    assert_eq!(code!(cuStreamWaitEvent(main, outside, 0)), CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    assert_eq!(code!(cuStreamEndCapture(main, &mut graph)), invalidated);
}

#[test]
fn pools_count_what_is_allocated_from_them() {
    let _context = TestContext::new();
    let stream = stream(1);
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        ..CUmemPoolProps::zeroed()
    };
    let mut pool = CUmemoryPool::null();
    ok!(cuMemPoolCreate(&mut pool, &props));
    let used = || {
        let (mut now, mut high) = (9u64, 9u64);
        let current = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
        ok!(cuMemPoolGetAttribute(pool, current, (&raw mut now).cast()));
        let most = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
        ok!(cuMemPoolGetAttribute(pool, most, (&raw mut high).cast()));
        (now, high)
    };
    let (mut first, mut second) = (0, 0);
    ok!(cuMemAllocFromPoolAsync(&mut first, 1000, pool, stream));
    ok!(cuMemAllocFromPoolAsync(&mut second, 24, pool, stream));
    assert_eq!(used(), (1024, 1024));
    let mut owner = CUmemoryPool::null();
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    ok!(cuPointerGetAttribute((&raw mut owner).cast(), attribute, first));
    assert_eq!(owner, pool);
    ok!(cuMemFreeAsync(first, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(used(), (24, 1024));
    assert_eq!(code!(cuMemFreeAsync(first, stream)), INVALID_VALUE);
    ok!(cuMemFree_v2(second));
    assert_eq!(used().0, 0);
    let mut default = CUmemoryPool::null();
    ok!(cuDeviceGetDefaultMemPool(&mut default, 0));
    assert_eq!(code!(cuMemPoolDestroy(default)), INVALID_VALUE);
    ok!(cuMemPoolDestroy(pool));
    assert_eq!(code!(cuMemPoolDestroy(pool)), INVALID_VALUE);
    ok!(cuMemAllocAsync(&mut first, 64, stream));
    ok!(cuMemsetD32Async(first, 1, 16, stream));
    ok!(cuMemFreeAsync(first, stream));
}

/// As on an H200 with driver 580: an allocation of zero bytes in a stream or capture returns 0.
#[test]
fn nothing_is_allocated_at_address_0() {
    let _context = TestContext::new();
    let stream = stream(1);
    let mut pool = CUmemoryPool::null();
    ok!(cuDeviceGetDefaultMemPool(&mut pool, 0));
    let both = || {
        let (mut current, mut of_pool) = (9, 9);
        ok!(cuMemAllocAsync(&mut current, 0, stream));
        ok!(cuMemAllocFromPoolAsync(&mut of_pool, 0, pool, stream));
        ok!(cuMemFreeAsync(current, stream));
        (current, of_pool)
    };
    assert_eq!(both(), (0, 0));
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_eq!(both(), (0, 0));
    let mut graph = CUgraph::null();
    ok!(cuStreamEndCapture(stream, &mut graph));
    ok!(cuGraphDestroy(graph));
    let mut none = 9;
    assert_eq!(code!(cuMemAlloc_v2(&mut none, 0)), INVALID_VALUE);
    assert_eq!(code!(cuMemAllocFromPoolAsync(&mut none, 0, CUmemoryPool::null(), stream)), INVALID_VALUE);
    assert_eq!(none, 9);
}

#[test]
fn a_stream_waits_for_a_value_that_another_writes() {
    let _context = TestContext::new();
    let (waiting, writing) = (stream(1), stream(1));
    let flag = alloc(8);
    ok!(cuMemsetD32_v2(flag, 0, 2));
    let equal = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ.0;
    ok!(cuStreamWaitValue32_v2(waiting, flag, 7, equal));
    ok!(cuMemsetD32Async(flag + 4, 1, 1, waiting));
    assert_eq!(code!(cuStreamQuery(waiting)), CUresult::CUDA_ERROR_NOT_READY);
    ok!(cuStreamWriteValue32_v2(writing, flag, 7, 0));
    ok!(cuStreamSynchronize(waiting));
    assert_eq!(read::<u32>(flag, 2), [7, 1]);
    assert_eq!(code!(cuStreamWriteValue32_v2(writing, flag + 2, 7, 0)), INVALID_VALUE);
    assert_eq!(code!(cuStreamWriteValue64_v2(writing, flag + 4, 7, 0)), INVALID_VALUE);
}

/// As captured on an H100: each call is a node.
#[test]
fn captured_operations_on_values_are_nodes() {
    let _context = TestContext::new();
    let (stream, flag) = (stream(1), alloc(8));
    ok!(cuMemsetD32_v2(flag, 0, 2));
    let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    let (mut graph, mut count) = (CUgraph::null(), 3);
    ok!(cuStreamBeginCapture_v2(stream, relaxed));
    ok!(cuStreamWriteValue32_v2(stream, flag, 1, 0));
    ok!(cuStreamWaitValue32_v2(stream, flag, 1, 0));
    let mut operations = [CUstreamBatchMemOpParams::zeroed(); 2];
    for (operation, at) in operations.iter_mut().zip([flag, flag + 4]) {
        operation.writeValue = CUstreamMemOpWriteValueParams {
            operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32,
            address: at,
            u: CUstreamMemOpValue { value64: 7 },
            flags: 0,
            alias: 0,
        };
    }
    ok!(cuStreamBatchMemOp_v2(stream, 2, operations.as_mut_ptr(), 0));
    ok!(cuStreamEndCapture(stream, &mut graph));
    let mut nodes = [CUgraphNode::null(); 3];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    assert_eq!(count, 3);
    for node in nodes {
        let mut kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
        ok!(cuGraphNodeGetType(node, &mut kind));
        assert_eq!(kind, CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    }
    assert_eq!(read::<u32>(flag, 2), [0, 0]);
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u32>(flag, 2), [7, 7]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

static DESTROYED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn destroyed(_: *mut c_void) {
    DESTROYED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_user_object_lives_as_long_as_the_last_graph() {
    let _context = TestContext::new();
    let graph = graph();
    let mut object = CUuserObject::null();
    ok!(cuUserObjectCreate(&mut object, NULL, Some(destroyed), 1, 1));
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    let exec = instantiate(graph);
    ok!(cuGraphDestroy(graph));
    assert_eq!(DESTROYED.load(Ordering::Relaxed), 0);
    ok!(cuGraphExecDestroy(exec));
    assert_eq!(DESTROYED.load(Ordering::Relaxed), 1);
    assert_eq!(code!(cuUserObjectRetain(object, 1)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    assert_eq!(code!(cuUserObjectCreate(&mut object, NULL, None, 1, 1)), INVALID_VALUE);
}

unsafe extern "C" fn count_up(count: *mut c_void) {
    // SAFETY: the count of the test below, which outlives its objects.
    unsafe { &*count.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn references_to_user_objects_are_counted_as_by_an_h100() {
    let _context = TestContext::new();
    // References moved to the graph or added; references created, owned by the graph, and released
    // by it. Then whether the object was freed: immediately, after another release, with the graph,
    // and by a last release.
    let recorded = "
        0 1 1 1: 0 1 . .; 0 1 1 2: 1 . . .; 0 1 1 3: 0 0 0 1; 0 1 1 9: 0 0 0 1;
        0 1 2 1: 0 0 0 1; 0 1 2 2: 0 1 . .; 0 1 2 3: 1 . . .; 0 1 2 5: 0 0 0 1;
        0 4 1 1: 0 0 0 0; 0 4 1 5: 1 . . .; 0 4 1 9: 0 0 0 0; 0 4 2 5: 0 1 . .;
        1 1 1 1: 1 . . .; 1 1 1 2: 0 0 1 .; 1 1 1 9: 0 0 1 .;
        1 4 1 3: 0 1 . .; 1 4 1 5: 0 0 0 0; 1 4 2 2: 0 0 0 0; 1 4 2 3: 0 1 . .; 1 4 2 9: 0 0 0 0";
    for row in recorded.split(';').map(str::trim) {
        let (given, expected) = row.split_once(": ").unwrap();
        let given: Vec<u32> = given.split(' ').map(|number| number.parse().unwrap()).collect();
        let [moved, made, kept, gone] = given[..] else { panic!("{row}") };
        let freed = Box::leak(Box::new(AtomicU32::new(0)));
        let (graph, mut object, data) = (graph(), CUuserObject::null(), core::ptr::from_mut(freed).cast());
        ok!(cuUserObjectCreate(&mut object, data, Some(count_up), made, 1));
        ok!(cuGraphRetainUserObject(graph, object, kept, moved));
        assert_eq!(code!(cuGraphReleaseUserObject(graph, object, 0)), INVALID_VALUE);
        let steps: [&dyn Fn(); 4] = [
            &|| ok!(cuGraphReleaseUserObject(graph, object, gone)),
            &|| ok!(cuGraphReleaseUserObject(graph, object, 1)),
            &|| ok!(cuGraphDestroy(graph)),
            &|| ok!(cuUserObjectRelease(object, 1)),
        ];
        for (step, expected) in steps.iter().zip(expected.split(' ')).filter(|(_, expected)| *expected != ".")
        {
            step();
            assert_eq!(freed.load(Ordering::Relaxed).to_string(), expected, "{row}");
        }
    }
}

#[test]
fn a_wait_that_never_ends_does_not_keep_its_context() {
    let context = TestContext::new();
    let flag = alloc(4);
    ok!(cuMemsetD32_v2(flag, 0, 1));
    let equal = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ.0;
    ok!(cuStreamWaitValue32_v2(stream(1), flag, 1, equal));
    drop(context);
    assert!(current().is_null());
}

#[test]
fn a_capture_may_end_without_a_place_for_the_graph() {
    let _context = TestContext::new();
    let (stream, memory) = (stream(0), alloc(64));
    let (mut graph, mut count) = (CUgraph::null(), 0);
    let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    ok!(cuGraphCreate(&mut graph, 0));
    ok!(cuStreamBeginCaptureToGraph(stream, graph, null_mut(), null_mut(), 0, relaxed));
    ok!(cuMemsetD8Async(memory, 1, 64, stream));
    ok!(cuStreamEndCapture(stream, null_mut()));
    ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
    assert_eq!(count, 1);
    ok!(cuGraphDestroy(graph));
}
