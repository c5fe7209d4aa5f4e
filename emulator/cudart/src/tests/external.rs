//! Memory and semaphores of another API: imports, mappings, order in streams and graphs.

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr;

use cuprum_emulator::memory::{ExternalMemory, ExternalSemaphore};
use cuprum_sys::*;

use super::{call, device};
use crate::calls::array::cudaFreeMipmappedArray;
use crate::calls::capture::{
    cudaGraphCreate, cudaGraphDestroy, cudaGraphExecDestroy, cudaGraphInstantiate, cudaGraphLaunch,
};
use crate::calls::external::{self, *};
use crate::calls::memory::{cudaFree, cudaMemset};
use crate::calls::semaphore_node::*;
use crate::calls::stream::cudaStreamSynchronize;
use crate::error::cudaError;
use crate::release;
use crate::structs::*;

const BYTES: u64 = 1 << 16;
const NULL: CUstream = CUstream::null();
const INVALID: u32 = cudaError::cudaErrorInvalidValue.0;
const TIMELINE: CUexternalSemaphoreHandleType =
    CUexternalSemaphoreHandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;

fn memory_of(descriptor: i32) -> CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
    let mut handle = CUDA_EXTERNAL_MEMORY_HANDLE_DESC::zeroed();
    handle.type_ = CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    handle.handle.fd = descriptor;
    handle.size = BYTES;
    handle
}

fn import(handle: &CUDA_EXTERNAL_MEMORY_HANDLE_DESC) -> (u32, CUexternalMemory) {
    let mut memory = CUexternalMemory::null();
    (call!(cudaImportExternalMemory, &mut memory, handle), memory)
}

fn map(memory: CUexternalMemory, part: &CUDA_EXTERNAL_MEMORY_BUFFER_DESC) -> (u32, *mut c_void) {
    let mut address = ptr::null_mut();
    (call!(cudaExternalMemoryGetMappedBuffer, &mut address, memory, part), address)
}

fn semaphore(other: &ExternalSemaphore) -> CUexternalSemaphore {
    let mut handle = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC::zeroed();
    handle.type_ = TIMELINE;
    handle.handle.fd = other.descriptor().unwrap();
    let mut semaphore = CUexternalSemaphore::null();
    assert_eq!(call!(cudaImportExternalSemaphore, &mut semaphore, &handle), 0);
    semaphore
}

#[test]
fn memory_of_another_api_is_mapped_and_freed() {
    let _device = device();
    let other = ExternalMemory::new(BYTES).unwrap();
    let (code, memory) = import(&memory_of(other.descriptor().unwrap()));
    assert_eq!(code, 0);
    let mut part = CUDA_EXTERNAL_MEMORY_BUFFER_DESC::zeroed();
    (part.offset, part.size) = (4096, 64);
    let (code, address) = map(memory, &part);
    assert_eq!(code, 0);
    assert_eq!(call!(cudaMemset, address, 7, 64), 0);
    assert_eq!(call!(cudaStreamSynchronize, NULL), 0);
    assert_eq!([4095, 4096, 4159, 4160].map(|at| other.byte(at)), [0, 7, 7, 0].map(Some));
    (part.offset, part.size) = (BYTES, 1);
    assert_eq!(map(memory, &part).0, INVALID);
    assert_eq!(call!(cudaDestroyExternalMemory, memory), 0);
    assert_eq!(call!(cudaFree, address), 0);
    assert_eq!(call!(cudaImportExternalMemory, &mut CUexternalMemory::null(), ptr::null()), INVALID);
}

#[test]
fn callers_of_cuda_12_have_no_reserved_fields() {
    let mut handle = memory_of(9);
    handle.reserved = [7; 16];
    let read = || {
        let mut given = CUDA_EXTERNAL_MEMORY_HANDLE_DESC::zeroed();
        let reserved = offset_of!(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, reserved);
        // SAFETY: a struct of the newer release, which is the larger.
        unsafe { external::read(&handle, reserved, &mut given) }.unwrap();
        (given.type_, given.size, given.reserved)
    };
    assert_eq!(read(), (handle.type_, BYTES, [7; 16]));
    assert_eq!(release::as_12(read), (handle.type_, BYTES, [0; 16]));
}

#[test]
fn images_of_another_api_need_a_format() {
    let _device = device();
    let other = ExternalMemory::new(BYTES).unwrap();
    let memory = import(&memory_of(other.descriptor().unwrap())).1;
    let mut part = cudaExternalMemoryMipmappedArrayDesc {
        offset: 0,
        formatDesc: cudaChannelFormatDesc { x: 32, y: 0, z: 0, w: 0, f: 2 },
        extent: cudaExtent { width: 16, height: 16, depth: 0 },
        flags: 0,
        numLevels: 1,
    };
    let mut array = CUmipmappedArray::null();
    let mut map = |part: &_| {
        let code = call!(cudaExternalMemoryGetMappedMipmappedArray, &mut array, memory, part);
        (code, array)
    };
    let (code, array) = map(&part);
    assert_eq!(code, 0);
    assert_eq!(call!(cudaFreeMipmappedArray, array), 0);
    part.formatDesc.x = 7;
    assert_eq!(map(&part).0, cudaError::cudaErrorInvalidChannelDescriptor.0);
    assert_eq!(call!(cudaDestroyExternalMemory, memory), 0);
}

#[test]
fn a_stream_signals_and_waits() {
    let _device = device();
    let (there, back) = (ExternalSemaphore::new().unwrap(), ExternalSemaphore::new().unwrap());
    let (signaled, awaited) = (semaphore(&there), semaphore(&back));
    let (mut signal, mut wait) =
        (CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::zeroed(), CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::zeroed());
    (signal.params.fence.value, wait.params.fence.value) = (3, 5);
    back.signal(5);
    assert_eq!(call!(cudaWaitExternalSemaphoresAsync_v2, &awaited, &wait, 1, NULL), 0);
    assert_eq!(call!(cudaSignalExternalSemaphoresAsync_v2, &signaled, &signal, 1, NULL), 0);
    assert_eq!(call!(cudaStreamSynchronize, NULL), 0);
    assert_eq!(there.value(), 3);
    // Two at a time in the structs of old programs.
    let old = cudaExternalSemaphoreSignalParams_v1 { fence: 4, nvSciSync: 0, key: 0, flags: 0 };
    let olds = [old, cudaExternalSemaphoreSignalParams_v1 { fence: 9, ..old }];
    let both = [signaled, awaited];
    assert_eq!(call!(cuprum_12_cudaSignalExternalSemaphoresAsync, both.as_ptr(), olds.as_ptr(), 2, NULL), 0);
    let old = cudaExternalSemaphoreWaitParams_v1 {
        fence: 9,
        nvSciSync: 0,
        key: 0,
        timeoutMs: 0,
        reserved: 0,
        flags: 0,
    };
    assert_eq!(call!(cuprum_12_cudaWaitExternalSemaphoresAsync, &awaited, &old, 1, NULL), 0);
    assert_eq!(call!(cudaStreamSynchronize, NULL), 0);
    assert_eq!((there.value(), back.value()), (4, 9));
    assert_eq!(call!(cuprum_12_cudaWaitExternalSemaphoresAsync, &awaited, ptr::null(), 1, NULL), INVALID);
    assert_eq!(call!(cudaDestroyExternalSemaphore, signaled), 0);
    assert_eq!(call!(cudaDestroyExternalSemaphore, awaited), 0);
}

#[test]
fn nodes_signal_and_wait() {
    let _device = device();
    let other = ExternalSemaphore::new().unwrap();
    let mut own = semaphore(&other);
    let (mut signal, mut wait) =
        (CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::zeroed(), CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::zeroed());
    (signal.params.fence.value, wait.params.fence.value) = (2, 2);
    let mut signals =
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS { extSemArray: &mut own, paramsArray: &signal, numExtSems: 1 };
    let mut waits =
        CUDA_EXT_SEM_WAIT_NODE_PARAMS { extSemArray: &mut own, paramsArray: &wait, numExtSems: 1 };
    let (mut graph, mut exec) = (CUgraph::null(), CUgraphExec::null());
    let (mut first, mut second) = (CUgraphNode::null(), CUgraphNode::null());
    assert_eq!(call!(cudaGraphCreate, &mut graph, 0), 0);
    assert_eq!(
        call!(cudaGraphAddExternalSemaphoresSignalNode, &mut first, graph, ptr::null(), 0, &signals),
        0
    );
    assert_eq!(call!(cudaGraphAddExternalSemaphoresWaitNode, &mut second, graph, &first, 1, &waits), 0);
    assert_eq!(call!(cudaGraphInstantiate, &mut exec, graph, 0), 0);
    let launch = |expected| {
        assert_eq!(call!(cudaGraphLaunch, exec, NULL), 0);
        assert_eq!(call!(cudaStreamSynchronize, NULL), 0);
        assert_eq!(other.value(), expected);
    };
    launch(2);
    // First the nodes of the executable graph, then the graph's.
    let (mut later, mut wait_later) = (signal, wait);
    (later.params.fence.value, wait_later.params.fence.value) = (6, 5);
    (signals.paramsArray, waits.paramsArray) = (&later, &wait_later);
    assert_eq!(call!(cudaGraphExecExternalSemaphoresSignalNodeSetParams, exec, first, &signals), 0);
    assert_eq!(call!(cudaGraphExecExternalSemaphoresWaitNodeSetParams, exec, second, &waits), 0);
    launch(6);
    assert_eq!(call!(cudaGraphExternalSemaphoresSignalNodeSetParams, first, &signals), 0);
    assert_eq!(call!(cudaGraphExternalSemaphoresWaitNodeSetParams, second, &waits), 0);
    assert_eq!(call!(cudaGraphExternalSemaphoresSignalNodeGetParams, first, &mut signals), 0);
    assert_eq!(call!(cudaGraphExternalSemaphoresWaitNodeGetParams, second, &mut waits), 0);
    // SAFETY: the node's own array of one semaphore, while the node exists.
    let signals = unsafe { &*signals.paramsArray };
    // SAFETY: likewise.
    let waits = unsafe { &*waits.paramsArray };
    assert_eq!((signals.params.fence.value, waits.params.fence.value), (6, 5));
    assert_eq!(call!(cudaGraphExternalSemaphoresWaitNodeGetParams, first, ptr::null_mut()), INVALID);
    assert_eq!(call!(cudaGraphExecDestroy, exec), 0);
    assert_eq!(call!(cudaGraphDestroy, graph), 0);
    assert_eq!(call!(cudaDestroyExternalSemaphore, own), 0);
}
