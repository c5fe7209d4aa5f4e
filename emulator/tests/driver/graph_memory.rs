//! Memory that graphs allocate: from a launch until freed, at one address. As recorded on an H100.

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Returns a graph that allocates memory and fills it with sevens, and the address of the memory.
fn allocating_graph(stream: CUstream) -> (CUgraph, CUdeviceptr) {
    let (mut graph, mut memory) = (CUgraph::null(), 0);
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED));
    ok!(cuMemAllocAsync(&mut memory, 64, stream));
    ok!(cuMemsetD8Async(memory, 7, 64, stream));
    ok!(cuStreamEndCapture(stream, &mut graph));
    (graph, memory)
}

#[test]
fn memory_of_a_graph_is_there_from_a_launch_until_it_is_freed() {
    let _context = TestContext::new();
    let stream = stream(0);
    let (graph, memory) = allocating_graph(stream);
    let mut exec = CUgraphExec::null();
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    assert_eq!(code!(cuMemFree_v2(memory)), INVALID_VALUE);
    let mut back = [0u8; 64];
    for turn in 0..4 {
        ok!(cuGraphLaunch(exec, stream));
        assert_eq!(code!(cuGraphLaunch(exec, stream)), INVALID_VALUE, "allocated already");
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read::<u8>(memory, 64), [7; 64]);
        match turn % 2 {
            0 => ok!(cuMemFree_v2(memory)),
            _ => ok!(cuMemFreeAsync(memory, stream)),
        }
        assert_eq!(code!(cuMemFree_v2(memory)), INVALID_VALUE, "freed already");
        ok!(cuStreamSynchronize(stream));
        let gone = code!(cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), memory, 64));
        assert_eq!(gone, INVALID_VALUE);
    }
    // Memory that is not freed outlives the graph.
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    assert_eq!(read::<u8>(memory, 64), [7; 64]);
    ok!(cuMemFree_v2(memory));
}

#[test]
fn a_launch_frees_what_the_last_one_left_if_told_to() {
    let _context = TestContext::new();
    let stream = stream(0);
    let (graph, memory) = allocating_graph(stream);
    let (mut exec, auto_free) = (CUgraphExec::null(), 1);
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, auto_free));
    for _ in 0..3 {
        ok!(cuGraphLaunch(exec, stream));
    }
    assert_eq!(read::<u8>(memory, 64), [7; 64]);
    // Launches from kernels are refused, as nothing could free memory. Uploads need another call.
    for flags in [5, 2, 3, 16] {
        let refused = code!(cuGraphInstantiateWithFlags(&mut exec, graph, flags));
        assert_eq!(refused, INVALID_VALUE, "{flags}");
    }
}

#[test]
fn a_graph_that_kernels_launch_frees_nothing_by_itself() {
    let _context = TestContext::new();
    let flag = |flag: CUgraphInstantiate_flags| u64::from(flag.0);
    let frees = flag(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    let from_kernels = flag(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    let (mut graph, mut node) = (CUgraph::null(), CUgraphNode::null());
    ok!(cuGraphCreate(&mut graph, 0));
    let fill = CUDA_MEMSET_NODE_PARAMS {
        dst: alloc(64),
        elementSize: 1,
        width: 64,
        height: 1,
        ..CUDA_MEMSET_NODE_PARAMS::zeroed()
    };
    ok!(cuGraphAddMemsetNode(&mut node, graph, core::ptr::null(), 0, &fill, current()));
    let mut exec = CUgraphExec::null();
    // Either flag is allowed, but not both, as on an H100.
    for (flags, answer) in [
        (frees, CUresult::CUDA_SUCCESS),
        (from_kernels, CUresult::CUDA_SUCCESS),
        (frees | from_kernels, INVALID_VALUE),
    ] {
        assert_eq!(code!(cuGraphInstantiateWithFlags(&mut exec, graph, flags)), answer, "{flags}");
    }
    ok!(cuGraphDestroy(graph));
}
