//! Execution contexts: the primary context of a device, or a green context with a share of its
//! resources.
//!
//! Such a context is the handle of the driver's context, which graph nodes accept too. The driver
//! names green contexts by a handle of their own, so they are listed here.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum_sys::{
    CU_DEV_SM_RESOURCE_GROUP_PARAMS, CUcontext, CUdevResource, CUdevResourceDesc, CUdevResourceType, CUevent,
    CUgraph, CUgraphConditionalHandle, CUgreenCtx, CUgreenCtxCreate_flags, CUstream, Fns,
};

use crate::error::{Result, check, cudaError};
use crate::exported::{calls, put};
use crate::state::device;

#[derive(Clone, Copy)]
struct Green {
    context: CUcontext,
    green: CUgreenCtx,
}

// SAFETY: handles, which threads may share by the driver's rules.
unsafe impl Send for Green {}

static GREENS: Mutex<Vec<Green>> = Mutex::new(Vec::new());

calls! {
    fn cudaDeviceGetDevResource[](device: i32, resource: *mut CUdevResource, kind: CUdevResourceType)
        => cuDeviceGetDevResource(device, resource, kind);

    fn cudaStreamGetDevResource[ptsz](stream: CUstream, resource: *mut CUdevResource, kind: CUdevResourceType)
        => cuStreamGetDevResource(stream, resource, kind);

    fn cudaDevSmResourceSplitByCount[](
        groups: *mut CUdevResource,
        number: *mut u32,
        input: *const CUdevResource,
        rest: *mut CUdevResource,
        flags: u32,
        least: u32,
    ) => cuDevSmResourceSplitByCount(groups, number, input, rest, flags, least);

    fn cudaDevSmResourceSplit[](
        groups: *mut CUdevResource,
        number: u32,
        input: *const CUdevResource,
        rest: *mut CUdevResource,
        flags: u32,
        parameters: *mut CU_DEV_SM_RESOURCE_GROUP_PARAMS,
    ) => cuDevSmResourceSplit(groups, number, input, rest, flags, parameters);

    fn cudaDevResourceGenerateDesc[](description: *mut CUdevResourceDesc, resources: *mut CUdevResource, number: u32)
        => cuDevResourceGenerateDesc(description, resources, number);

    fn cudaGreenCtxCreate[](context: *mut CUcontext, description: CUdevResourceDesc, device: i32, flags: u32) |here| {
        if flags != 0 || context.is_null() {
            return Err(cudaError::cudaErrorInvalidValue);
        }
        device::check_device(here.fns, device)?;
        let (mut green, mut part) = (CUgreenCtx::null(), CUcontext::null());
        let flags = CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0;
        // SAFETY: a valid output; the driver checks the description.
        check(unsafe { (here.fns.cuGreenCtxCreate)(&mut green, description, device, flags) })?;
        // SAFETY: a valid output, and the context made above.
        check(unsafe { (here.fns.cuCtxFromGreenCtx)(&mut part, green) }).inspect_err(|_| {
            // SAFETY: made above and not shared. The first error is the one that counts.
            let _ = unsafe { (here.fns.cuGreenCtxDestroy)(green) };
        })?;
        greens().push(Green { context: part, green });
        // SAFETY: the caller's output, not null.
        unsafe { put(context, part) }
    }

    // Accepts only contexts of `cudaGreenCtxCreate`.
    fn cudaExecutionCtxDestroy[](context: CUcontext) |here| {
        // Taken off the list first, because the driver may give the handle again at once.
        let green = remove(context).ok_or(cudaError::cudaErrorInvalidValue)?;
        // SAFETY: a live handle, which no other thread finds any more.
        check(unsafe { (here.fns.cuGreenCtxDestroy)(green.green) }).inspect_err(|_| greens().push(green))
    }

    fn cudaDeviceGetExecutionCtx[](context: *mut CUcontext, device: i32) |here| {
        device::check_device(here.fns, device)?;
        // SAFETY: the caller's output.
        unsafe { put(context, device::primary(here.fns, device)?) }
    }

    fn cudaExecutionCtxGetDevResource[](context: CUcontext, resource: *mut CUdevResource, kind: CUdevResourceType) |here| {
        let context = required(context)?;
        // SAFETY: the caller's output; the driver checks the handle.
        check(unsafe { (here.fns.cuCtxGetDevResource)(context, resource, kind) })
    }

    fn cudaExecutionCtxGetDevice[](device: *mut i32, context: CUcontext) |here| {
        // SAFETY: the caller's output.
        within(here.fns, context, || unsafe { put(device, here.device()?) })
    }

    fn cudaExecutionCtxGetId[](context: CUcontext, id: *mut u64) |here| {
        let context = required(context)?;
        // SAFETY: the caller's output; the driver checks the handle.
        check(unsafe { (here.fns.cuCtxGetId)(context, id) })
    }

    fn cudaExecutionCtxStreamCreate[](stream: *mut CUstream, context: CUcontext, flags: u32, priority: i32) |here| {
        match green(context) {
            // SAFETY: the caller's output, and a live handle.
            Some(green) => check(unsafe { (here.fns.cuGreenCtxStreamCreate)(stream, green, flags, priority) }),
            None => within(here.fns, context, || {
                // SAFETY: the caller's output.
                check(unsafe { (here.fns.cuStreamCreateWithPriority)(stream, flags, priority) })
            }),
        }
    }

    fn cudaExecutionCtxSynchronize[](context: CUcontext) |here| {
        within(here.fns, context, || {
            // SAFETY: no arguments; a context is current.
            check(unsafe { (here.fns.cuCtxSynchronize)() })
        })
    }

    fn cudaExecutionCtxRecordEvent[](context: CUcontext, event: CUevent) |here| {
        match green(required(context)?) {
            // SAFETY: a live handle; the driver checks the event.
            Some(green) => check(unsafe { (here.fns.cuGreenCtxRecordEvent)(green, event) }),
            // SAFETY: the driver checks the handles.
            None => check(unsafe { (here.fns.cuCtxRecordEvent)(context, event) }),
        }
    }

    fn cudaExecutionCtxWaitEvent[](context: CUcontext, event: CUevent) |here| {
        match green(required(context)?) {
            // SAFETY: a live handle; the driver checks the event.
            Some(green) => check(unsafe { (here.fns.cuGreenCtxWaitEvent)(green, event) }),
            // SAFETY: the driver checks the handles.
            None => check(unsafe { (here.fns.cuCtxWaitEvent)(context, event) }),
        }
    }

    fn cudaGraphConditionalHandleCreate_v2[](
        handle: *mut CUgraphConditionalHandle,
        graph: CUgraph,
        context: CUcontext,
        value: u32,
        flags: u32,
    ) |here| {
        let context = if context.is_null() { device::current(here.fns)? } else { context };
        // SAFETY: the caller's output; the driver checks the handles.
        check(unsafe { (here.fns.cuGraphConditionalHandleCreate)(handle, graph, context, value, flags) })
    }
}

fn greens() -> MutexGuard<'static, Vec<Green>> {
    GREENS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the driver's handle of a green context.
fn green(context: CUcontext) -> Option<CUgreenCtx> {
    greens().iter().find(|green| green.context == context).map(|green| green.green)
}

fn remove(context: CUcontext) -> Option<Green> {
    let mut greens = greens();
    let place = greens.iter().position(|green| green.context == context)?;
    Some(greens.swap_remove(place))
}

fn required(context: CUcontext) -> Result<CUcontext> {
    if context.is_null() { Err(cudaError::cudaErrorInvalidValue) } else { Ok(context) }
}

/// Runs `work` with another context current.
fn within(fns: &Fns, context: CUcontext, work: impl FnOnce() -> Result) -> Result {
    // SAFETY: the driver checks the handle.
    check(unsafe { (fns.cuCtxPushCurrent_v2)(required(context)?) })?;
    let result = work();
    let mut popped = CUcontext::null();
    // SAFETY: a valid output; removes the context pushed above.
    result.and(check(unsafe { (fns.cuCtxPopCurrent_v2)(&mut popped) }))
}
