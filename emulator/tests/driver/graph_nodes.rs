//! Special nodes of graphs: conditions, memory, child graphs in executable graphs, attributes.
//! `goldens` compares the execution of conditional nodes with hardware.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use crate::graph::{MODE, graph, instantiate};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::in_child;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Counts at an address, and sets a condition while the count is below a limit.
const STEP: &str = "
    .version 7.7
    .target sm_75
    .address_size 64
    .extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
    .visible .entry step(.param .u64 handle, .param .u64 counter, .param .u32 limit) {
        .reg .b64 %h, %c; .reg .b32 %n, %l, %v; .reg .pred %p;
        ld.param.u64 %h, [handle]; ld.param.u64 %c, [counter]; ld.param.u32 %l, [limit];
        ld.global.u32 %n, [%c]; add.u32 %n, %n, 1; st.global.u32 [%c], %n;
        setp.lt.u32 %p, %n, %l; selp.u32 %v, 1, 0, %p;
        { .param .b64 a; .param .b32 b;
          st.param.b64 [a], %h; st.param.b32 [b], %v; call cudaGraphSetConditional, (a, b); }
        ret;
    }";

fn step() -> CUfunction {
    let text = std::ffi::CString::new(STEP).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, c"step".as_ptr()));
    function
}

fn run(exec: CUgraphExec) {
    ok!(cuGraphLaunch(exec, CUstream::null()));
    ok!(cuStreamSynchronize(CUstream::null()));
}

fn add_step(graph: CUgraph, function: CUfunction, handle: u64, counter: u64, limit: u32) -> CUgraphNode {
    let (mut handle, mut counter, mut limit) = (handle, counter, limit);
    let mut arguments: [*mut c_void; 3] =
        [(&raw mut handle).cast(), (&raw mut counter).cast(), (&raw mut limit).cast()];
    let params = CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: arguments.as_mut_ptr(),
        ..CUDA_KERNEL_NODE_PARAMS::zeroed()
    };
    let mut node = CUgraphNode::null();
    ok!(cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, &params));
    node
}

/// Returns a graph whose only node runs the counting kernel while the count is below a limit.
fn counting_loop(function: CUfunction, counter: u64, limit: u32) -> (CUgraph, CUgraphNode) {
    let graph = graph();
    let mut handle = 0;
    ok!(cuGraphConditionalHandleCreate(&mut handle, graph, current(), 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    let mut params = CUgraphNodeParams::zeroed();
    params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.u.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        type_: CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
        size: 1,
        phGraph_out: null_mut(),
        ctx: current(),
    };
    let mut node = CUgraphNode::null();
    ok!(cuGraphAddNode_v2(&mut node, graph, null(), null(), 0, &mut params));
    // SAFETY: the driver has written the address of an array of one graph.
    let bodies = unsafe { params.u.conditional.phGraph_out };
    // SAFETY: as above.
    let body = unsafe { bodies.read() };
    let step = add_step(body, function, handle, counter, limit);
    assert_eq!(code!(cuGraphDestroy(body)), INVALID_VALUE, "its node owns it");
    (graph, step)
}

#[test]
fn endless_loops_of_graphs_end_with_the_budget_or_the_time() {
    for variable in [("CUPRUM_EMULATOR_BUDGET", "1000"), ("CUPRUM_EMULATOR_TIME_LIMIT", "0.2")] {
        in_child("graph_nodes::endless_loops_of_graphs_end_with_the_budget_or_the_time", &[variable], || {
            let _context = TestContext::new();
            let counter = alloc(4);
            ok!(cuMemsetD32_v2(counter, 0, 1));
            let (short, _) = counting_loop(step(), counter, 3);
            run(instantiate(short));
            assert_eq!(read::<u32>(counter, 1), [3], "a loop that ends");

            let (endless, _) = counting_loop(step(), counter, u32::MAX);
            ok!(cuGraphLaunch(instantiate(endless), CUstream::null()));
            let timeout = CUresult::CUDA_ERROR_LAUNCH_TIMEOUT;
            assert_eq!(code!(cuStreamSynchronize(CUstream::null())), timeout);
            assert_eq!(code!(cuCtxSynchronize()), timeout, "the context stays lost");
        });
    }
}

#[test]
fn an_update_brings_the_new_graphs_conditions() {
    let _context = TestContext::new();
    let counter = alloc(4);
    ok!(cuMemsetD32_v2(counter, 0, 1));
    let function = step();
    let (short, _) = counting_loop(function, counter, 3);
    let exec = instantiate(short);
    run(exec);
    assert_eq!(read::<u32>(counter, 1), [3]);

    let (long, _) = counting_loop(function, counter, 8);
    let mut result = CUgraphExecUpdateResultInfo::zeroed();
    ok!(cuGraphExecUpdate_v2(exec, long, &mut result));
    // The kernels now set the second graph's condition, which its executable graphs keep alive.
    ok!(cuGraphDestroy(long));
    ok!(cuGraphDestroy(short));
    run(exec);
    assert_eq!(read::<u32>(counter, 1), [8]);
}

#[test]
fn a_kernel_that_sets_what_is_no_condition_is_a_fault() {
    in_child("graph_nodes::a_kernel_that_sets_what_is_no_condition_is_a_fault", &[], set_no_condition);
}

fn set_no_condition() {
    let _context = TestContext::new();
    let counter = alloc(4);
    ok!(cuMemsetD32_v2(counter, 0, 1));
    let graph = graph();
    add_step(graph, step(), 12345, counter, 1);
    ok!(cuGraphLaunch(instantiate(graph), CUstream::null()));
    assert_ne!(code!(cuStreamSynchronize(CUstream::null())), CUresult::CUDA_SUCCESS);
    let fault = cuprum_emulator::last_fault().unwrap().to_string();
    assert!(fault.contains("0x3039 is no condition of a graph"), "{fault}");
}

#[test]
fn nodes_in_bodies_and_child_graphs_can_be_changed_in_the_executable_graph() {
    let context = TestContext::new();
    let buffer = alloc(16);
    let fill =
        |value| CUDA_MEMSET_NODE_PARAMS { dst: buffer, pitch: 0, value, elementSize: 4, width: 4, height: 1 };
    let with_fill = |value| {
        let graph = graph();
        let mut node = CUgraphNode::null();
        ok!(cuGraphAddMemsetNode(&mut node, graph, null(), 0, &fill(value), context.0));
        (graph, node)
    };
    let (inner, _) = with_fill(1);
    let (outer, mut child) = (graph(), CUgraphNode::null());
    ok!(cuGraphAddChildGraphNode(&mut child, outer, null(), 0, inner));
    let exec = instantiate(outer);
    run(exec);
    assert_eq!(read::<u32>(buffer, 4), [1; 4]);

    ok!(cuGraphExecChildGraphNodeSetParams(exec, child, with_fill(2).0));
    run(exec);
    assert_eq!(read::<u32>(buffer, 4), [2; 4]);
    assert_eq!(code!(cuGraphExecChildGraphNodeSetParams(exec, child, graph())), INVALID_VALUE);

    let (mut copy, mut node, mut one) = (CUgraph::null(), CUgraphNode::null(), 1);
    ok!(cuGraphChildGraphNodeGetGraph(child, &mut copy));
    ok!(cuGraphGetNodes(copy, &mut node, &mut one));
    ok!(cuGraphExecMemsetNodeSetParams(exec, node, &fill(3), context.0));
    run(exec);
    assert_eq!(read::<u32>(buffer, 4), [3; 4]);
}

#[test]
fn nodes_tell_what_they_were_made_with() {
    let context = TestContext::new();
    let buffer = alloc(16);
    let (graph, step) = counting_loop(step(), buffer, 2);
    let (mut node, mut one) = (CUgraphNode::null(), 1);
    ok!(cuGraphGetNodes(graph, &mut node, &mut one));
    let mut params = CUgraphNodeParams::zeroed();
    ok!(cuGraphNodeGetParams(node, &mut params));
    assert_eq!(params.type_, CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL);
    // SAFETY: the type says that this member is set.
    let conditional = unsafe { params.u.conditional };
    assert_eq!(conditional.type_, CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE);
    assert_eq!(conditional.size, 1);

    ok!(cuGraphNodeGetParams(step, &mut params));
    assert_eq!(params.type_, CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL);
    // SAFETY: as above.
    assert_eq!(unsafe { params.u.kernel }.blockDimX, 1);

    let mut fill = CUgraphNode::null();
    let wanted =
        CUDA_MEMSET_NODE_PARAMS { dst: buffer, pitch: 0, value: 5, elementSize: 2, width: 3, height: 1 };
    ok!(cuGraphAddMemsetNode(&mut fill, graph, null(), 0, &wanted, context.0));
    ok!(cuGraphNodeGetParams(fill, &mut params));
    // SAFETY: a memset node, as created above.
    let read = unsafe { params.u.memset };
    assert_eq!((read.dst, read.value, read.elementSize, read.width), (buffer, 5, 2, 3));
}

#[test]
fn kernel_nodes_keep_the_attributes_that_matter() {
    let _context = TestContext::new();
    let (graph, counter, function) = (graph(), alloc(4), step());
    let first = add_step(graph, function, 0, counter, 0);
    let second = add_step(graph, function, 0, counter, 0);
    let mut value = CUkernelNodeAttrValue::zeroed();
    value.priority = -3;
    let priority = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    ok!(cuGraphKernelNodeSetAttribute(first, priority, &value));
    ok!(cuGraphKernelNodeCopyAttributes(second, first));
    value.priority = 0;
    ok!(cuGraphKernelNodeGetAttribute(second, priority, &mut value));
    // SAFETY: the requested attribute.
    assert_eq!(unsafe { value.priority }, -3);
    let unknown = CUlaunchAttributeID(999);
    assert_eq!(code!(cuGraphKernelNodeGetAttribute(second, unknown, &mut value)), INVALID_VALUE);
}

#[test]
fn graphs_and_nodes_have_numbers_of_their_own() {
    let _context = TestContext::new();
    let (first, second) = (graph(), graph());
    let (mut a, mut b) = (0, 0);
    ok!(cuGraphGetId(first, &mut a));
    ok!(cuGraphGetId(second, &mut b));
    assert_ne!(a, b);
    let mut nodes = [CUgraphNode::null(); 2];
    for node in &mut nodes {
        ok!(cuGraphAddEmptyNode(node, first, null(), 0));
    }
    ok!(cuGraphNodeGetLocalId(nodes[0], &mut a));
    ok!(cuGraphNodeGetLocalId(nodes[1], &mut b));
    assert_ne!(a, b);
    let (mut tools, mut other) = (0, 0);
    ok!(cuGraphNodeGetToolsId(nodes[0], &mut tools));
    ok!(cuGraphNodeGetToolsId(nodes[1], &mut other));
    assert_ne!(tools, other);
    ok!(cuGraphExecGetId(instantiate(first), &mut a));
    ok!(cuGraphExecGetId(instantiate(first), &mut b));
    assert_ne!(a, b);
}

/// Memory allocated and freed in a capture ends with the graph. It counts from the first launch.
#[test]
fn memory_allocated_in_a_capture_belongs_to_the_graph() {
    in_child("graph_nodes::memory_allocated_in_a_capture_belongs_to_the_graph", &[], allocate_in_a_capture);
}

fn allocate_in_a_capture() {
    let _context = TestContext::new();
    let stream = stream(1);
    let used = || {
        let mut used = 0u64;
        let current = CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT;
        ok!(cuDeviceGetGraphMemAttribute(0, current, (&raw mut used).cast()));
        used
    };
    let before = used();
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    let mut memory = 0;
    ok!(cuMemAllocAsync(&mut memory, 4096, stream));
    ok!(cuMemsetD32Async(memory, 6, 4, stream));
    let mut graph = CUgraph::null();
    ok!(cuStreamEndCapture(stream, &mut graph));
    assert_eq!(used(), before);
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, stream));
    assert_eq!(used() - before, 4096);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u32>(memory, 4), [6; 4]);
    ok!(cuMemFree_v2(memory));
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphExecDestroy(exec));
    assert_eq!(used(), before);
    let mut high = 0u64;
    let mark = CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    ok!(cuDeviceGetGraphMemAttribute(0, mark, (&raw mut high).cast()));
    assert!(high >= before + 4096);
    ok!(cuDeviceSetGraphMemAttribute(0, mark, core::ptr::from_mut(&mut 0u64).cast()));
    assert_eq!(
        code!(cuDeviceSetGraphMemAttribute(0, mark, core::ptr::from_mut(&mut 1u64).cast())),
        INVALID_VALUE
    );
}

/// Runs in time like a host function launched alone, because the program may wait for its effect.
#[test]
fn a_graph_that_calls_the_program_runs_in_time() {
    use core::sync::atomic::{AtomicBool, Ordering};
    extern "C" fn note(flag: *mut c_void) {
        // SAFETY: the flag below, which outlives the call.
        unsafe { &*flag.cast::<AtomicBool>() }.store(true, Ordering::Release);
    }
    in_child(
        "graph_nodes::a_graph_that_calls_the_program_runs_in_time",
        &[("CUPRUM_EMULATOR_MODE", "deferred")],
        || {
            static CALLED: AtomicBool = AtomicBool::new(false);
            let _context = TestContext::new();
            let (graph, mut node) = (graph(), CUgraphNode::null());
            let flag = (&raw const CALLED).cast_mut().cast();
            let params = CUDA_HOST_NODE_PARAMS { fn_: Some(note), userData: flag };
            ok!(cuGraphAddHostNode(&mut node, graph, null(), 0, &params));
            ok!(cuGraphLaunch(instantiate(graph), stream(1)));
            let begin = Instant::now();
            while !CALLED.load(Ordering::Acquire) && begin.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(CALLED.load(Ordering::Acquire));
        },
    );
}

/// As on an H200 with driver 580: an array of zeros, which programs read without a check for null.
#[test]
fn edges_of_a_capture_have_data() {
    let _context = TestContext::new();
    let (main, side, fork, buffer) = (stream(1), stream(1), event(2), alloc(16));
    let status = |of: CUstream, nodes: *mut *const CUgraphNode, edges: *mut *const CUgraphEdgeData| {
        let (mut status, mut count) = (CUstreamCaptureStatus(9), 99);
        let (id, graph) = (null_mut(), null_mut());
        let code = code!(cuStreamGetCaptureInfo_v3(of, &mut status, id, graph, nodes, edges, &mut count));
        (code, status.0, count)
    };
    let untouched = core::ptr::without_provenance(8);
    let (mut nodes, mut edges) = (null(), untouched);
    assert_eq!(status(main, &mut nodes, &mut edges), (CUresult::CUDA_SUCCESS, 0, 99));
    assert_eq!(edges, untouched);

    ok!(cuStreamBeginCapture_v2(main, MODE));
    assert_eq!(status(main, &mut nodes, &mut edges), (CUresult::CUDA_SUCCESS, 1, 0));
    assert!(edges.is_null());
    ok!(cuMemsetD8Async(buffer, 0, 16, main));
    ok!(cuEventRecord(fork, main));
    ok!(cuStreamWaitEvent(side, fork, 0));
    for stream in [main, side] {
        ok!(cuMemsetD8Async(buffer, 0, 16, stream));
    }
    ok!(cuEventRecord(fork, side));
    ok!(cuStreamWaitEvent(main, fork, 0));
    assert_eq!(status(main, &mut nodes, &mut edges), (CUresult::CUDA_SUCCESS, 1, 2));
    // SAFETY: the array of a successful call with this count, which is never freed.
    let data = unsafe { core::slice::from_raw_parts(edges, 2) };
    assert!(data.iter().all(|edge| (edge.from_port, edge.to_port, edge.type_) == (0, 0, 0)));
    assert_eq!(status(main, null_mut(), &mut edges), (CUresult::CUDA_ERROR_INVALID_VALUE, 1, 99));

    let (mut graph, mut count, mut plain) = (CUgraph::null(), 2, CUgraphEdgeData::zeroed());
    ok!(cuStreamEndCapture(main, &mut graph));
    let asked = code!(cuGraphGetEdges_v2(graph, null_mut(), null_mut(), &mut plain, &mut count));
    assert_eq!(asked, CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuGraphDestroy(graph));
}
