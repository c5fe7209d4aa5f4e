//! Execution contexts: shares of a device, their streams and events, and nodes that run in them.

use core::ffi::c_void;
use core::ptr;

use cuprum_sys::*;

use super::{call, device as lock};
use crate::calls::any_node::{self, cudaStreamBeginRecaptureToGraph, recaptured};
use crate::calls::capture::{cudaGraphCreate, cudaGraphDestroy};
use crate::calls::event::{cudaEventCreate, cudaEventDestroy, cudaEventSynchronize};
use crate::calls::execution::*;
use crate::calls::memory::{cudaFree, cudaMalloc, cudaMemsetAsync};
use crate::calls::stream::{cudaStreamCreate, cudaStreamDestroy, cudaStreamSynchronize};
use crate::error::cudaError;
use crate::release;
use crate::state::device;
use crate::structs::{cudaGraphNodeParams, cudaGraphRecaptureCallbackData};

const SM: CUdevResourceType = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;
const INVALID: u32 = cudaError::cudaErrorInvalidValue.0;
const NON_BLOCKING: u32 = 1;

fn count(resource: &CUdevResource) -> u32 {
    assert_eq!(resource.type_, SM);
    // SAFETY: the type says that this member is set.
    unsafe { resource.u.sm }.smCount
}

fn whole() -> CUdevResource {
    let mut resource = CUdevResource::zeroed();
    assert_eq!(call!(cudaDeviceGetDevResource, 0, &mut resource, SM), 0);
    resource
}

/// Returns a context with the smallest share, and its number of multiprocessors.
fn green() -> (CUcontext, u32) {
    let (all, mut one, mut part) = (whole(), 1, CUdevResource::zeroed());
    assert_eq!(call!(cudaDevSmResourceSplitByCount, &mut part, &mut one, &all, ptr::null_mut(), 0, 1), 0);
    let (mut description, mut context) = (CUdevResourceDesc::null(), CUcontext::null());
    assert_eq!(call!(cudaDevResourceGenerateDesc, &mut description, &mut part, 1), 0);
    assert_eq!(call!(cudaGreenCtxCreate, &mut context, description, 0, 1), INVALID);
    assert_eq!(call!(cudaGreenCtxCreate, ptr::null_mut(), description, 0, 0), INVALID);
    let no_device = cudaError::cudaErrorInvalidDevice.0;
    assert_eq!(call!(cudaGreenCtxCreate, &mut context, description, 99, 0), no_device);
    assert_eq!(call!(cudaGreenCtxCreate, &mut context, description, 0, 0), 0);
    (context, count(&part))
}

fn primary() -> CUcontext {
    let mut context = CUcontext::null();
    assert_eq!(call!(cudaDeviceGetExecutionCtx, &mut context, 0), 0);
    context
}

fn share(context: CUcontext) -> u32 {
    let mut resource = CUdevResource::zeroed();
    assert_eq!(call!(cudaExecutionCtxGetDevResource, context, &mut resource, SM), 0);
    count(&resource)
}

#[test]
fn a_green_context_has_its_share() {
    let _device = lock();
    let (context, size) = green();
    assert_eq!((share(context), share(primary())), (size, count(&whole())));
    let (mut own, mut all, mut device) = (0, 0, 9);
    assert_eq!(call!(cudaExecutionCtxGetId, context, &mut own), 0);
    assert_eq!(call!(cudaExecutionCtxGetId, primary(), &mut all), 0);
    assert_ne!(own, all);
    assert_eq!((call!(cudaExecutionCtxGetDevice, &mut device, context), device), (0, 0));
    let mut asked = [CU_DEV_SM_RESOURCE_GROUP_PARAMS::zeroed()];
    asked[0].smCount = size;
    let (mut group, all) = (CUdevResource::zeroed(), whole());
    let split = call!(cudaDevSmResourceSplit, &mut group, 1, &all, ptr::null_mut(), 0, asked.as_mut_ptr());
    assert_eq!((split, count(&group)), (0, size));
    assert_eq!(call!(cudaExecutionCtxDestroy, context), 0);
    assert_eq!(call!(cudaExecutionCtxDestroy, context), INVALID);
    assert_eq!(call!(cudaExecutionCtxDestroy, primary()), INVALID);
    assert_eq!(call!(cudaExecutionCtxSynchronize, CUcontext::null()), INVALID);
    assert_eq!(call!(cudaExecutionCtxGetId, CUcontext::null(), &mut own), INVALID);
}

#[test]
fn streams_and_events_of_contexts() {
    let _device = lock();
    let (green, size) = green();
    let (mut event, mut address) = (CUevent::null(), ptr::null_mut());
    assert_eq!(call!(cudaEventCreate, &mut event), 0);
    assert_eq!(call!(cudaMalloc, &mut address, 64), 0);
    for (context, expected) in [(green, size), (primary(), count(&whole()))] {
        let (mut stream, mut resource) = (CUstream::null(), CUdevResource::zeroed());
        assert_eq!(call!(cudaExecutionCtxStreamCreate, &mut stream, context, NON_BLOCKING, 0), 0);
        assert_eq!(call!(cudaStreamGetDevResource, stream, &mut resource, SM), 0);
        assert_eq!(count(&resource), expected);
        assert_eq!(call!(cudaMemsetAsync, address, 1, 64, stream), 0);
        assert_eq!(call!(cudaExecutionCtxRecordEvent, context, event), 0);
        assert_eq!(call!(cudaExecutionCtxWaitEvent, context, event), 0);
        assert_eq!(call!(cudaEventSynchronize, event), 0);
        assert_eq!(call!(cudaExecutionCtxSynchronize, context), 0);
        assert_eq!(call!(cudaStreamSynchronize, stream), 0);
        assert_eq!(call!(cudaStreamDestroy, stream), 0);
    }
    assert_eq!(call!(cudaFree, address), 0);
    assert_eq!(call!(cudaEventDestroy, event), 0);
    assert_eq!(call!(cudaExecutionCtxDestroy, green), 0);
}

/// Returns a node that fills memory in a context, as the runtime describes it.
fn fill(context: CUcontext, address: *mut c_void) -> cudaGraphNodeParams {
    let mut given = CUgraphNodeParams::zeroed();
    given.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET;
    given.u.memset = CUDA_MEMSET_NODE_PARAMS_v2::zeroed();
    given.u.memset.dst = address as CUdeviceptr;
    (given.u.memset.elementSize, given.u.memset.width, given.u.memset.height) = (1, 64, 1);
    given.u.memset.ctx = context;
    // SAFETY: of the same size, and any bytes are valid.
    unsafe { (&raw const given).cast::<cudaGraphNodeParams>().read() }
}

#[test]
fn a_node_runs_in_the_context_that_it_names() {
    let _device = lock();
    let (green, _) = green();
    let mut graph = CUgraph::null();
    assert_eq!(call!(cudaGraphCreate, &mut graph, 0), 0);
    let here = device::enter(StreamMode::Legacy).unwrap();
    let of = |context| {
        let given = fill(context, ptr::null_mut());
        // SAFETY: parameters that live during the call.
        let given = unsafe { any_node::to_driver(&here, &given) }.unwrap();
        // SAFETY: the field of this kind.
        unsafe { given.u.memset.ctx }
    };
    assert_eq!([of(green), of(CUcontext::null())], [green, primary()]);
    // Up to CUDA 13.0, the field is reserved.
    assert_eq!(release::as_12(|| of(green)), primary());
    let mut handle = CUgraphConditionalHandle::default();
    for context in [CUcontext::null(), primary()] {
        assert_eq!(call!(cudaGraphConditionalHandleCreate_v2, &mut handle, graph, context, 1, 0), 0);
    }
    assert_eq!(call!(cudaGraphDestroy, graph), 0);
    assert_eq!(call!(cudaExecutionCtxDestroy, green), 0);
}

#[test]
fn a_program_is_asked_about_nodes_that_are_captured_again() {
    unsafe extern "C" fn answer(
        data: *mut c_void,
        node: CUgraphNode,
        original: *const cudaGraphNodeParams,
        recapture: *const cudaGraphNodeParams,
        status: CUgraphRecaptureStatus,
    ) -> cudaError {
        assert!(recapture.is_null() && node.is_null());
        assert_eq!(status, CUgraphRecaptureStatus(1));
        // SAFETY: converted from the parameters of the test, and alive during the call.
        let original = unsafe { *original };
        // SAFETY: the output of the test.
        unsafe { data.cast::<cudaGraphNodeParams>().write(original) };
        cudaError::cudaErrorNotPermitted
    }
    let _device = lock();
    let (mut graph, mut stream) = (CUgraph::null(), CUstream::null());
    assert_eq!(call!(cudaGraphCreate, &mut graph, 0), 0);
    assert_eq!(call!(cudaStreamCreate, &mut stream), 0);
    let (mut seen, original) = (fill(CUcontext::null(), ptr::null_mut()), fill(primary(), ptr::null_mut()));
    seen.r#type = 99;
    let mut callback = cudaGraphRecaptureCallbackData {
        callbackFunc: Some(answer),
        userData: ptr::from_mut(&mut seen).cast(),
    };
    // The software device does not have this function.
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    for callback in [ptr::null(), &raw const callback] {
        let code = call!(cudaStreamBeginRecaptureToGraph, stream, mode, graph, callback);
        assert_eq!(code, cudaError::cudaErrorNotSupported.0);
    }
    let (data, status) = (ptr::from_mut(&mut callback).cast(), CUgraphRecaptureStatus(1));
    // SAFETY: a callback and parameters that live during the call.
    let code =
        unsafe { recaptured(data, CUgraphNode::null(), (&raw const original).cast(), ptr::null(), status) };
    assert_eq!(code.0, cudaError::cudaErrorNotPermitted.0);
    assert_eq!(seen, fill(CUcontext::null(), ptr::null_mut()), "the context is not the runtime's");
    assert_eq!(call!(cudaStreamDestroy, stream), 0);
    assert_eq!(call!(cudaGraphDestroy, graph), 0);
}
