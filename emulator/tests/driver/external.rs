//! Memory and semaphores of another API: imports, mappings, order in streams and in graphs.

use core::ptr::null;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use crate::graph::{graph, instantiate};
use cuprum_emulator::memory::{ExternalMemory, ExternalSemaphore};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::in_child;

use CUexternalMemoryHandleType as MemoryType;
use CUexternalSemaphoreHandleType as SemaphoreType;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const NOT_SUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;
const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;
const TIMELINE: SemaphoreType = SemaphoreType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
const BINARY: SemaphoreType = SemaphoreType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
const BYTES: u64 = 1 << 16;

fn memory_desc(descriptor: i32, bytes: u64) -> CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
    let mut desc = CUDA_EXTERNAL_MEMORY_HANDLE_DESC::zeroed();
    desc.type_ = MemoryType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    desc.handle.fd = descriptor;
    desc.size = bytes;
    desc
}

fn try_memory(desc: &CUDA_EXTERNAL_MEMORY_HANDLE_DESC) -> CUresult {
    let mut memory = CUexternalMemory::null();
    code!(cuImportExternalMemory(&mut memory, desc))
}

fn import_memory(other: &ExternalMemory) -> CUexternalMemory {
    let mut memory = CUexternalMemory::null();
    ok!(cuImportExternalMemory(&mut memory, &memory_desc(other.descriptor().unwrap(), BYTES)));
    memory
}

fn try_map(memory: CUexternalMemory, offset: u64, bytes: u64, flags: u32) -> (CUresult, u64) {
    let mut desc = CUDA_EXTERNAL_MEMORY_BUFFER_DESC::zeroed();
    (desc.offset, desc.size, desc.flags) = (offset, bytes, flags);
    let mut address = 0;
    (code!(cuExternalMemoryGetMappedBuffer(&mut address, memory, &desc)), address)
}

fn map(memory: CUexternalMemory, offset: u64, bytes: u64) -> u64 {
    let (code, address) = try_map(memory, offset, bytes, 0);
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    address
}

/// Returns the file of a descriptor. Parallel tests reuse descriptors, but not files.
fn file(descriptor: i32) -> Option<u64> {
    std::fs::metadata(format!("/proc/self/fd/{descriptor}")).ok().map(|file| file.ino())
}

fn try_semaphore(type_: SemaphoreType, descriptor: i32) -> (CUresult, CUexternalSemaphore) {
    let mut desc = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC::zeroed();
    desc.type_ = type_;
    desc.handle.fd = descriptor;
    let mut semaphore = CUexternalSemaphore::null();
    (code!(cuImportExternalSemaphore(&mut semaphore, &desc)), semaphore)
}

fn import_semaphore(other: &ExternalSemaphore, type_: SemaphoreType) -> CUexternalSemaphore {
    let (code, semaphore) = try_semaphore(type_, other.descriptor().unwrap());
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    semaphore
}

fn signal_of(value: u64) -> CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS {
    let mut params = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::zeroed();
    params.params.fence.value = value;
    params
}

fn wait_of(value: u64) -> CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
    let mut params = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::zeroed();
    params.params.fence.value = value;
    params
}

fn signal(semaphore: CUexternalSemaphore, value: u64, stream: CUstream) -> CUresult {
    code!(cuSignalExternalSemaphoresAsync(&semaphore, &signal_of(value), 1, stream))
}

fn wait(semaphore: CUexternalSemaphore, value: u64, stream: CUstream) -> CUresult {
    code!(cuWaitExternalSemaphoresAsync(&semaphore, &wait_of(value), 1, stream))
}

#[test]
fn both_apis_see_the_same_bytes_through_every_mapping() {
    let _context = TestContext::new();
    let other = ExternalMemory::new(BYTES).unwrap();
    let memory = import_memory(&other);
    let (whole, part) = (map(memory, 0, BYTES), map(memory, 4096, 64));
    assert_ne!(whole, part);
    ok!(cuMemsetD8_v2(part, 7, 64));
    ok!(cuCtxSynchronize());
    assert_eq!([4095, 4096, 4159, 4160].map(|at| other.byte(at)), [0, 7, 7, 0].map(Some));
    assert!(other.set_byte(4100, 9));
    assert_eq!(read::<u8>(whole + 4096, 6), [7, 7, 7, 7, 9, 7]);
    // A mapping outlives the import, and is freed once, like an allocation.
    ok!(cuDestroyExternalMemory(memory));
    assert_eq!(read::<u8>(part, 1), [7]);
    ok!(cuMemFree_v2(part));
    assert_eq!(code!(cuMemFree_v2(part)), INVALID_VALUE);
    assert_eq!(code!(cuMemFree_v2(whole + 64)), INVALID_VALUE);
    ok!(cuMemFree_v2(whole));
    assert_eq!(other.byte(4100), Some(9), "the memory stays the other API's");
    assert_eq!(code!(cuDestroyExternalMemory(memory)), INVALID_VALUE);
}

#[test]
fn a_mapping_lies_in_the_size_that_was_imported() {
    let _context = TestContext::new();
    let other = ExternalMemory::new(BYTES).unwrap();
    let mut memory = CUexternalMemory::null();
    ok!(cuImportExternalMemory(&mut memory, &memory_desc(other.descriptor().unwrap(), 8192)));
    for (offset, bytes, flags) in [(0, 0, 0), (0, 8193, 0), (8192, 1, 0), (u64::MAX, 2, 0), (0, 64, 1)] {
        assert_eq!(try_map(memory, offset, bytes, flags).0, INVALID_VALUE, "{offset} {bytes} {flags}");
    }
    ok!(cuMemFree_v2(map(memory, 8191, 1)));
    ok!(cuDestroyExternalMemory(memory));
    assert_eq!(try_map(memory, 0, 64, 0).0, INVALID_VALUE, "it is gone");
}

#[test]
fn a_successful_import_takes_the_descriptor_and_no_other_does() {
    let _context = TestContext::new();
    let other = ExternalMemory::new(BYTES).unwrap();
    let descriptor = other.descriptor().unwrap();
    let behind = file(descriptor);
    assert!(behind.is_some());
    let good = memory_desc(descriptor, BYTES);
    let with = |change: fn(&mut CUDA_EXTERNAL_MEMORY_HANDLE_DESC)| {
        let mut desc = good;
        change(&mut desc);
        try_memory(&desc)
    };
    assert_eq!(with(|desc| desc.size = 0), INVALID_VALUE);
    assert_eq!(with(|desc| desc.size += 1), INVALID_VALUE);
    assert_eq!(with(|desc| desc.flags = 2), INVALID_VALUE);
    assert_eq!(with(|desc| desc.type_ = MemoryType(77)), INVALID_VALUE);
    let windows = MemoryType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
    assert_eq!(try_memory(&CUDA_EXTERNAL_MEMORY_HANDLE_DESC { type_: windows, ..good }), NOT_SUPPORTED);
    assert_eq!(with(|desc| desc.handle.fd = -1), UNKNOWN);
    let semaphore = ExternalSemaphore::new().unwrap();
    let wrong = semaphore.descriptor().unwrap();
    assert_eq!(try_memory(&memory_desc(wrong, 64)), UNKNOWN, "a semaphore is no memory");
    assert_eq!(try_semaphore(TIMELINE, descriptor).0, UNKNOWN, "and memory no semaphore");
    assert_eq!(file(descriptor), behind, "it stays the caller's");
    assert_eq!(
        try_memory(&CUDA_EXTERNAL_MEMORY_HANDLE_DESC { flags: CUDA_EXTERNAL_MEMORY_DEDICATED, ..good }),
        CUresult::CUDA_SUCCESS
    );
    assert_ne!(file(descriptor), behind, "it is the driver's, which closed it");
    let behind = file(wrong);
    assert_eq!(try_semaphore(SemaphoreType(77), wrong).0, INVALID_VALUE);
    let fences = SemaphoreType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC;
    assert_eq!(try_semaphore(fences, wrong).0, NOT_SUPPORTED);
    assert_eq!(file(wrong), behind);
    assert_eq!(try_semaphore(BINARY, wrong).0, CUresult::CUDA_SUCCESS);
    assert_ne!(file(wrong), behind);
}

#[test]
fn an_image_of_the_other_api_is_an_array() {
    let _context = TestContext::new();
    let other = ExternalMemory::new(BYTES).unwrap();
    let memory = import_memory(&other);
    let mut desc = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC::zeroed();
    desc.arrayDesc.Width = 8;
    desc.arrayDesc.Height = 4;
    desc.arrayDesc.Format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
    desc.arrayDesc.NumChannels = 1;
    desc.numLevels = 1;
    let mut image = CUmipmappedArray::null();
    desc.offset = BYTES;
    assert_eq!(code!(cuExternalMemoryGetMappedMipmappedArray(&mut image, memory, &desc)), INVALID_VALUE);
    desc.offset = 4096;
    ok!(cuExternalMemoryGetMappedMipmappedArray(&mut image, memory, &desc));
    let mut level = CUarray::null();
    ok!(cuMipmappedArrayGetLevel(&mut level, image, 0));
    let host = [5u8; 8];
    ok!(cuMemcpyHtoA_v2(level, 0, host.as_ptr().cast(), 8));
    ok!(cuCtxSynchronize());
    let written = (4096..4096 + 64).filter(|&at| other.byte(at) == Some(5)).count();
    assert_eq!(written, 8, "the row is in the other API's memory");
    ok!(cuMipmappedArrayDestroy(image));
    ok!(cuDestroyExternalMemory(memory));
}

#[test]
fn a_stream_waits_for_the_other_api_and_signals_it() {
    let _context = TestContext::new();
    let mut counts = 0;
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED;
    ok!(cuDeviceGetAttribute(&mut counts, attribute, 0));
    assert_eq!(counts, 1);
    let (first, second) = (ExternalSemaphore::new().unwrap(), ExternalSemaphore::new().unwrap());
    let (ready, done) = (import_semaphore(&first, TIMELINE), import_semaphore(&second, TIMELINE));
    let stream = stream(1);
    assert_eq!(wait(ready, 3, stream), CUresult::CUDA_SUCCESS);
    assert_eq!(signal(done, 8, stream), CUresult::CUDA_SUCCESS);
    first.signal(2);
    assert_eq!(code!(cuStreamQuery(stream)), NOT_READY);
    assert_eq!(second.value(), 0);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_millis(10));
            first.signal(4);
        });
        ok!(cuStreamSynchronize(stream));
    });
    assert_eq!(second.value(), 8);
    // A list is waited for as a whole.
    let (handles, waits) = ([ready, done], [wait_of(4), wait_of(9)]);
    ok!(cuWaitExternalSemaphoresAsync(handles.as_ptr(), waits.as_ptr(), 2, stream));
    assert_eq!(code!(cuStreamQuery(stream)), NOT_READY);
    second.signal(9);
    ok!(cuStreamSynchronize(stream));
    ok!(cuDestroyExternalSemaphore(ready));
    ok!(cuDestroyExternalSemaphore(done));
    assert_eq!(code!(cuDestroyExternalSemaphore(done)), INVALID_VALUE);
}

#[test]
fn a_wait_takes_the_signal_of_a_binary_semaphore() {
    let _context = TestContext::new();
    let other = ExternalSemaphore::new().unwrap();
    let semaphore = import_semaphore(&other, BINARY);
    let stream = stream(1);
    for _ in 0..3 {
        // The value is ignored.
        assert_eq!(signal(semaphore, 100, stream), CUresult::CUDA_SUCCESS);
        ok!(cuStreamSynchronize(stream));
        assert_eq!(other.value(), 1);
        assert_eq!(wait(semaphore, 100, stream), CUresult::CUDA_SUCCESS);
        ok!(cuStreamSynchronize(stream));
        assert_eq!(other.value(), 0);
    }
}

#[test]
fn semaphores_are_used_in_their_own_context_and_while_they_are_there() {
    let _context = TestContext::new();
    let other = ExternalSemaphore::new().unwrap();
    let semaphore = import_semaphore(&other, TIMELINE);
    let stream = stream(1);
    assert_eq!(code!(cuSignalExternalSemaphoresAsync(&semaphore, &signal_of(1), 0, stream)), INVALID_VALUE);
    let mut flagged = signal_of(1);
    flagged.flags = 1 << 9;
    assert_eq!(code!(cuSignalExternalSemaphoresAsync(&semaphore, &flagged, 1, stream)), INVALID_VALUE);
    {
        let _second = TestContext::new();
        let away = cuprum_testing::driver_calls::stream(1);
        assert_eq!(signal(semaphore, 1, away), CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(wait(semaphore, 0, away), CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    ok!(cuDestroyExternalSemaphore(semaphore));
    assert_eq!(signal(semaphore, 1, stream), INVALID_VALUE);
    assert_eq!(wait(semaphore, 1, stream), INVALID_VALUE);
    assert_eq!(other.value(), 0);
}

/// The parameters of a node, with the arrays to which they point.
macro_rules! params {
    ($ty:ident, $semaphores:expr, $each:expr) => {
        $ty {
            extSemArray: $semaphores.as_ptr().cast_mut(),
            paramsArray: $each.as_ptr(),
            numExtSems: $semaphores.len() as u32,
        }
    };
}

/// Returns a graph that waits for the first semaphore and then signals the second, with its nodes.
fn waits_and_signals(
    [ready, done]: [CUexternalSemaphore; 2],
    [from, to]: [u64; 2],
) -> (CUgraph, CUgraphNode, CUgraphNode) {
    let graph = graph();
    let (mut first, mut second) = (CUgraphNode::null(), CUgraphNode::null());
    let (handles, each) = ([ready], [wait_of(from)]);
    let params = params!(CUDA_EXT_SEM_WAIT_NODE_PARAMS, handles, each);
    ok!(cuGraphAddExternalSemaphoresWaitNode(&mut first, graph, null(), 0, &params));
    let (handles, each) = ([done], [signal_of(to)]);
    let params = params!(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, handles, each);
    ok!(cuGraphAddExternalSemaphoresSignalNode(&mut second, graph, &first, 1, &params));
    (graph, first, second)
}

fn run(exec: CUgraphExec) {
    ok!(cuGraphLaunch(exec, CUstream::null()));
    ok!(cuStreamSynchronize(CUstream::null()));
}

#[test]
fn nodes_of_graphs_wait_and_signal_and_are_changed() {
    let _context = TestContext::new();
    let (first, second) = (ExternalSemaphore::new().unwrap(), ExternalSemaphore::new().unwrap());
    let semaphores = [import_semaphore(&first, TIMELINE), import_semaphore(&second, TIMELINE)];
    let (graph, waiting, signaling) = waits_and_signals(semaphores, [1, 1]);
    let exec = instantiate(graph);
    first.signal(1);
    run(exec);
    assert_eq!(second.value(), 1);

    // In the graph: later executable graphs have it.
    let (handles, each) = ([semaphores[1]], [signal_of(5)]);
    let params = params!(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, handles, each);
    ok!(cuGraphExternalSemaphoresSignalNodeSetParams(signaling, &params));
    let mut told = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS::zeroed();
    ok!(cuGraphExternalSemaphoresSignalNodeGetParams(signaling, &mut told));
    assert_eq!(told.numExtSems, 1);
    assert_ne!(told.paramsArray, each.as_ptr(), "the array is the node's own");
    // SAFETY: the driver states that there is one.
    assert_eq!(unsafe { told.paramsArray.read() }.params.fence.value, 5);
    run(exec);
    assert_eq!(second.value(), 1, "the executable graph does as before");
    run(instantiate(graph));
    assert_eq!(second.value(), 5);

    // In the executable graph.
    let (handles, each) = ([semaphores[1]], [signal_of(9)]);
    let params = params!(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, handles, each);
    ok!(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, signaling, &params));
    let (handles, each) = ([semaphores[0]], [wait_of(2)]);
    let params = params!(CUDA_EXT_SEM_WAIT_NODE_PARAMS, handles, each);
    ok!(cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, waiting, &params));
    // The launch does not wait, so the launching thread may signal.
    ok!(cuGraphLaunch(exec, CUstream::null()));
    assert_eq!(code!(cuStreamQuery(CUstream::null())), NOT_READY);
    first.signal(2);
    ok!(cuStreamSynchronize(CUstream::null()));
    assert_eq!(second.value(), 9);
    let mut waits = CUDA_EXT_SEM_WAIT_NODE_PARAMS::zeroed();
    ok!(cuGraphExternalSemaphoresWaitNodeGetParams(waiting, &mut waits));
    // SAFETY: as above.
    assert_eq!(unsafe { waits.paramsArray.read() }.params.fence.value, 1, "that of the graph");
}

fn comes_to(value: u64, semaphore: &ExternalSemaphore) -> bool {
    let begin = Instant::now();
    while semaphore.value() != value && begin.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
    semaphore.value() == value
}

/// The other API waits for the signal, but this process waits for nothing.
#[test]
fn a_graph_that_signals_runs_though_nobody_here_waits_for_it() {
    let name = "external::a_graph_that_signals_runs_though_nobody_here_waits_for_it";
    in_child(name, &[("CUPRUM_EMULATOR_MODE", "deferred")], || {
        let _context = TestContext::new();
        let other = ExternalSemaphore::new().unwrap();
        let (handles, each) = ([import_semaphore(&other, TIMELINE)], [signal_of(3)]);
        let params = params!(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, handles, each);
        let (alone, outer) = (graph(), graph());
        let mut node = CUgraphNode::null();
        ok!(cuGraphAddExternalSemaphoresSignalNode(&mut node, alone, null(), 0, &params));
        ok!(cuGraphAddChildGraphNode(&mut node, outer, null(), 0, alone));
        ok!(cuGraphLaunch(instantiate(alone), stream(1)));
        assert!(comes_to(3, &other));
        let each = [signal_of(4)];
        let params = params!(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, handles, each);
        let mut inner = CUgraph::null();
        ok!(cuGraphChildGraphNodeGetGraph(node, &mut inner));
        let (mut nodes, mut count) = ([CUgraphNode::null()], 1);
        ok!(cuGraphGetNodes(inner, nodes.as_mut_ptr(), &mut count));
        ok!(cuGraphExternalSemaphoresSignalNodeSetParams(nodes[0], &params));
        ok!(cuGraphLaunch(instantiate(outer), stream(1)));
        assert!(comes_to(4, &other));
    });
}

#[test]
fn a_node_keeps_its_kind_and_in_an_executable_graph_its_number_of_semaphores() {
    let _context = TestContext::new();
    let other = ExternalSemaphore::new().unwrap();
    let semaphore = import_semaphore(&other, TIMELINE);
    let (graph, waiting, signaling) = waits_and_signals([semaphore; 2], [0, 1]);
    let exec = instantiate(graph);
    let (handles, two) = ([semaphore; 2], [signal_of(2); 2]);
    let params = params!(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, handles, two);
    let refused = [
        code!(cuGraphExternalSemaphoresSignalNodeSetParams(waiting, &params)),
        code!(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, waiting, &params)),
        code!(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, signaling, &params)),
    ];
    assert_eq!(refused, [INVALID_VALUE; 3]);
    let mut told = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS::zeroed();
    assert_eq!(code!(cuGraphExternalSemaphoresSignalNodeGetParams(waiting, &mut told)), INVALID_VALUE);
    // The graph may have more semaphores, but an executable graph cannot be updated to them.
    ok!(cuGraphExternalSemaphoresSignalNodeSetParams(signaling, &params));
    let mut result = CUgraphExecUpdateResultInfo::zeroed();
    let failure = CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    assert_eq!(code!(cuGraphExecUpdate_v2(exec, graph, &mut result)), failure);
    let changed = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    assert_eq!(result.result, changed);
    run(exec);
    assert_eq!(other.value(), 1);
}

#[test]
fn captured_waits_and_signals_become_nodes() {
    let _context = TestContext::new();
    let other = ExternalSemaphore::new().unwrap();
    let semaphore = import_semaphore(&other, TIMELINE);
    let stream = stream(1);
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    assert_eq!(wait(semaphore, 1, stream), CUresult::CUDA_SUCCESS);
    assert_eq!(signal(semaphore, 2, stream), CUresult::CUDA_SUCCESS);
    let mut graph = CUgraph::null();
    ok!(cuStreamEndCapture(stream, &mut graph));
    let (mut nodes, mut count) = ([CUgraphNode::null(); 4], 4);
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    let kind = |node| {
        let mut kind = CUgraphNodeType(0);
        ok!(cuGraphNodeGetType(node, &mut kind));
        kind
    };
    let mut kinds: Vec<_> = nodes[..count].iter().map(|&node| kind(node)).collect();
    kinds.sort_by_key(|kind| kind.0);
    let signals = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
    let waits = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
    assert_eq!(kinds, [signals, waits]);
    other.signal(1);
    run(instantiate(graph));
    assert_eq!(other.value(), 2);
}
