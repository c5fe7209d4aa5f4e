//! Nodes of any kind, their parameters as the runtime describes them, and conditions.

use core::ffi::c_void;
use core::ptr;

use cuprum_sys::{
    CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY_NODE_PARAMS, CUDA_MEMCPY3D, CUcontext, CUfunction, CUgraph,
    CUgraphConditionalHandle, CUgraphEdgeData, CUgraphExec, CUgraphNode, CUgraphNodeParams,
    CUgraphNodeParams_u, CUgraphNodeType, CUgraphRecaptureCallback, CUgraphRecaptureStatus, CUkernel,
    CUresult, CUstream, CUstreamCaptureMode, StreamMode,
};

use crate::calls::boxes;
use crate::driver;
use crate::error::{Result, check, cudaError};
use crate::exported::{calls, put};
use crate::registry;
use crate::release;
use crate::state::device::{self, Here};
use crate::structs::{
    cudaGraphNodeParams, cudaGraphRecaptureCallbackData, cudaKernelNodeParams, cudaMemcpy3DParms,
    cudaMemcpyNodeParams, dim3,
};

/// Kinds of handles in kernel nodes, `cudaKernelFunctionType`.
const HANDLE_OF_KERNEL: u32 = 2;
const FUNCTION: u32 = 3;

const _: () = assert!(size_of::<cudaGraphNodeParams>() == size_of::<CUgraphNodeParams>());

calls! {
    fn cudaGraphAddNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        parameters: *mut cudaGraphNodeParams,
    ) |here| {
        // SAFETY: the caller's struct, or null.
        let mut given = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: the caller's outputs, and a struct of ours.
        check(unsafe { (here.fns.cuGraphAddNode)(node, graph, after, number, &mut given) })?;
        // SAFETY: the caller's struct, not null.
        unsafe { give_results(parameters, given) };
        Ok(())
    }

    fn cudaGraphAddNode_v2[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        edges: *const CUgraphEdgeData,
        number: usize,
        parameters: *mut cudaGraphNodeParams,
    ) |here| {
        // SAFETY: the caller's struct, or null.
        let mut given = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: the caller's outputs, and a struct of ours.
        check(unsafe { (here.fns.cuGraphAddNode_v2)(node, graph, after, edges, number, &mut given) })?;
        // SAFETY: the caller's struct, not null.
        unsafe { give_results(parameters, given) };
        Ok(())
    }

    fn cudaGraphNodeSetParams[](node: CUgraphNode, parameters: *mut cudaGraphNodeParams) |here| {
        // SAFETY: the caller's struct, or null.
        let mut given = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: a struct of ours; the driver checks the handle.
        check(unsafe { (here.fns.cuGraphNodeSetParams)(node, &mut given) })
    }

    fn cudaGraphExecNodeSetParams[](exec: CUgraphExec, node: CUgraphNode, parameters: *mut cudaGraphNodeParams) |here| {
        // SAFETY: the caller's struct, or null.
        let mut given = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: a struct of ours; the driver checks the handles.
        check(unsafe { (here.fns.cuGraphExecNodeSetParams)(exec, node, &mut given) })
    }

    fn cudaGraphNodeGetParams[](node: CUgraphNode, parameters: *mut cudaGraphNodeParams) |here| {
        let mut found = CUgraphNodeParams::zeroed();
        // SAFETY: a valid output; the driver checks the handle.
        check(unsafe { (here.fns.cuGraphNodeGetParams)(node, &mut found) })?;
        let found = to_runtime(&here, found)?;
        // SAFETY: the caller's output.
        unsafe { put(parameters, found) }
    }

    fn cudaGraphKernelNodeGetParams[](node: CUgraphNode, parameters: *mut cudaKernelNodeParams) |here| {
        let mut found = CUDA_KERNEL_NODE_PARAMS::zeroed();
        // SAFETY: a valid output; the driver checks the handle.
        check(unsafe { (here.fns.cuGraphKernelNodeGetParams_v2)(node, &mut found) })?;
        let func = registry::host_of(here.fns, found.kern, found.func)?;
        let found = cudaKernelNodeParams {
            func,
            gridDim: dim3 { x: found.gridDimX, y: found.gridDimY, z: found.gridDimZ },
            blockDim: dim3 { x: found.blockDimX, y: found.blockDimY, z: found.blockDimZ },
            sharedMemBytes: found.sharedMemBytes,
            kernelParams: found.kernelParams,
            extra: found.extra,
        };
        // SAFETY: the caller's output.
        unsafe { put(parameters, found) }
    }

    fn cudaGraphMemcpyNodeGetParams[](node: CUgraphNode, parameters: *mut cudaMemcpy3DParms) |here| {
        let mut found = CUDA_MEMCPY3D::zeroed();
        // SAFETY: a valid output; the driver checks the handle.
        check(unsafe { (here.fns.cuGraphMemcpyNodeGetParams)(node, &mut found) })?;
        let found = boxes::to_runtime(&here, &found)?;
        // SAFETY: the caller's output.
        unsafe { put(parameters, found) }
    }

    // The callback's conversion is never freed: the driver may call it until the capture ends.
    fn cudaStreamBeginRecaptureToGraph[ptsz](
        stream: CUstream,
        mode: CUstreamCaptureMode,
        graph: CUgraph,
        callback: *const cudaGraphRecaptureCallbackData,
    ) |here| {
        // SAFETY: the caller's struct, or null.
        let callback = unsafe { callback.as_ref() }.filter(|callback| callback.callbackFunc.is_some());
        let convert: CUgraphRecaptureCallback = callback.map(|_| recaptured as _);
        let data = callback.map_or(ptr::null_mut(), |callback| Box::into_raw(Box::new(*callback)));
        // SAFETY: our callback with its data; the driver checks the handles.
        let begun = unsafe { (here.fns.cuStreamBeginRecaptureToGraph)(stream, mode, graph, convert, data.cast()) };
        check(begun).inspect_err(|_| {
            if !data.is_null() {
                // SAFETY: made above, and the driver did not begin to use it.
                drop(unsafe { Box::from_raw(data) });
            }
        })
    }

    fn cudaGraphConditionalHandleCreate[](handle: *mut CUgraphConditionalHandle, graph: CUgraph, value: u32, flags: u32) |here| {
        let context = device::current(here.fns)?;
        // SAFETY: the caller's output; the driver checks the handles.
        check(unsafe { (here.fns.cuGraphConditionalHandleCreate)(handle, graph, context, value, flags) })
    }
}

/// Converts parameters to the driver's. Most kinds have the same layout, with a context after the
/// runtime's fields.
///
/// # Safety
/// The pointer is null, or points to parameters.
pub(crate) unsafe fn to_driver(
    here: &Here,
    parameters: *const cudaGraphNodeParams,
) -> Result<CUgraphNodeParams> {
    if parameters.is_null() {
        return Err(cudaError::cudaErrorInvalidValue);
    }
    // SAFETY: readable as guaranteed by the caller, of the same size, and any bytes are valid.
    let mut given = unsafe { parameters.cast::<CUgraphNodeParams>().read() };
    let context = device::current(here.fns)?;
    let chosen = |given: CUcontext| if release::is_13() && !given.is_null() { given } else { context };
    match given.type_ {
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => {
            // SAFETY: the field of this kind; its fields up to `extra` are the runtime's.
            let kernel = unsafe { &mut given.u.kernel };
            // From CUDA 13.1 on, a context and the kind of the handle follow.
            let (given, kind) = (CUcontext(kernel.kern.0), kernel.ctx.0.addr() as u32);
            kernel.ctx = if release::is_13() { given } else { CUcontext::null() };
            kernel.kern = match kind {
                HANDLE_OF_KERNEL if release::is_13() => CUkernel(kernel.func.0),
                FUNCTION if release::is_13() => CUkernel::null(),
                _ => registry::kernel(here.fns, kernel.func.0)?,
            };
            if !kernel.kern.is_null() {
                kernel.func = CUfunction::null();
            }
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY => {
            // SAFETY: the field of this kind, in the runtime's layout, in the same place.
            let copy = unsafe { (&raw const given.u).cast::<cudaMemcpyNodeParams>().read() };
            // SAFETY: a struct of ours.
            let copyParams = unsafe { boxes::to_driver(here, &copy.copyParams) }?;
            let memcpy = CUDA_MEMCPY_NODE_PARAMS {
                flags: copy.flags,
                reserved: 0,
                copyCtx: chosen(copy.ctx),
                copyParams,
            };
            given.u = CUgraphNodeParams_u { reserved1: [0; 29] };
            given.u.memcpy = memcpy;
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET => {
            // SAFETY: the field of this kind; any bytes are valid.
            given.u.memset.ctx = chosen(unsafe { given.u.memset.ctx });
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => {
            // SAFETY: the field of this kind; any bytes are valid.
            given.u.conditional.ctx = chosen(unsafe { given.u.conditional.ctx });
        }
        _ => {}
    }
    Ok(given)
}

/// Converts the driver's parameters to the runtime's.
fn to_runtime(here: &Here, mut found: CUgraphNodeParams) -> Result<cudaGraphNodeParams> {
    match found.type_ {
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => {
            // SAFETY: the field of this kind, which the driver has written.
            let kernel = unsafe { &mut found.u.kernel };
            kernel.func = CUfunction(registry::host_of(here.fns, kernel.kern, kernel.func)?);
            kernel.kern = CUkernel::null();
            kernel.ctx = CUcontext::null();
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY => {
            // SAFETY: the field of this kind, which the driver has written.
            let copy = unsafe { found.u.memcpy };
            let copyParams = boxes::to_runtime(here, &copy.copyParams)?;
            let copy =
                cudaMemcpyNodeParams { flags: copy.flags, reserved: 0, ctx: CUcontext::null(), copyParams };
            found.u = CUgraphNodeParams_u { reserved1: [0; 29] };
            // SAFETY: the field's place, which is larger and as strictly aligned.
            unsafe { (&raw mut found.u).cast::<cudaMemcpyNodeParams>().write(copy) };
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET => found.u.memset.ctx = CUcontext::null(),
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => found.u.conditional.ctx = CUcontext::null(),
        _ => {}
    }
    // SAFETY: of the same size, without padding, and any bytes are valid.
    Ok(unsafe { (&raw const found).cast::<cudaGraphNodeParams>().read() })
}

/// Asks the program about a node whose parameters differ, in the runtime's description.
///
/// # Safety
/// `data` is the program's callback, and the parameters are null or the driver's.
pub(crate) unsafe extern "C" fn recaptured(
    data: *mut c_void,
    node: CUgraphNode,
    original: *const CUgraphNodeParams,
    recapture: *const CUgraphNodeParams,
    status: CUgraphRecaptureStatus,
) -> CUresult {
    let mode = StreamMode::Legacy;
    let convert = |parameters: *const CUgraphNodeParams| {
        // SAFETY: null, or readable as guaranteed by the caller.
        let found = unsafe { parameters.as_ref() }.copied();
        found.map(|found| to_runtime(&Here { fns: driver::fns(mode)?, mode }, found)).transpose()
    };
    // SAFETY: as guaranteed by the caller.
    let callback = unsafe { &*data.cast::<cudaGraphRecaptureCallbackData>() };
    let (original, recapture, function) = match (convert(original), convert(recapture), callback.callbackFunc)
    {
        (Ok(original), Ok(recapture), Some(function)) => (original, recapture, function),
        _ => return CUresult::CUDA_ERROR_INVALID_VALUE,
    };
    let address = |parameters: &Option<_>| parameters.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the program's callback, with structs that live during the call.
    let answer =
        unsafe { function(callback.userData, node, address(&original), address(&recapture), status) };
    CUresult(answer.0)
}

/// Writes the results of a new node into its parameters: the address of memory, the bodies of a
/// condition.
///
/// # Safety
/// The pointer is writable.
unsafe fn give_results(parameters: *mut cudaGraphNodeParams, mut given: CUgraphNodeParams) {
    match given.type_ {
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC => {}
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => given.u.conditional.ctx = CUcontext::null(),
        _ => return,
    }
    // SAFETY: writable as guaranteed by the caller, for a struct of the same size.
    unsafe { parameters.cast::<CUgraphNodeParams>().write(given) };
}
