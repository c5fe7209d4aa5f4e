//! Functions that create, end and describe contexts, and that set and return the current one.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_CONTEXT, INVALID_VALUE, ensure};
use crate::driver::call::{InMut, Out, calls, put_handle};
use crate::driver::device;
use crate::driver::handle::Handle;

use super::current::{current, current_itself, find_to_be_current, with_stack};
use super::object::{Context, check_flags};

fn create(out: Out<CUcontext>, flags: u32, device: i32) -> Answer {
    out.check()?;
    check_flags(flags)?;
    device::check(device)?;
    let context = Context::create(device, flags, false);
    put_handle(out, context.handle)?;
    with_stack(|stack| stack.push(context));
    Ok(())
}

fn destroy(handle: CUcontext) -> Answer {
    ensure(!handle.is_null(), INVALID_VALUE)?;
    let context = Context::find(handle)?;
    // A context on a part of a device ends with its green context.
    ensure(!context.is_primary, INVALID_CONTEXT)?;
    with_stack(|stack| {
        if stack.last().is_some_and(|top| top.handle == context.handle) {
            stack.pop();
        }
    });
    context.destroy();
    Ok(())
}

fn push(handle: CUcontext) -> Answer {
    ensure(!handle.is_null(), INVALID_VALUE)?;
    let context = find_to_be_current(handle)?;
    with_stack(|stack| stack.push(context));
    Ok(())
}

fn pop(out: Out<CUcontext>) -> Answer {
    let popped = with_stack(Vec::pop).ok_or(INVALID_CONTEXT)?;
    out.set_if_wanted(CUcontext::from_addr(popped.handle));
    Ok(())
}

/// Waits for a context, or for the part of the device that `itself` covers.
fn synchronize(itself: Option<Arc<Context>>, context: &Context) -> Answer {
    match itself.as_ref().and_then(|itself| itself.part()) {
        Some(part) => context.synchronize_part(part.green),
        None => context.synchronize(),
    }
}

calls! {
    fn [cuCtxCreate, cuCtxCreate_v2](_call, pctx: Out<CUcontext>, flags: u32, dev: i32) {
        create(pctx, flags, dev)
    }

    fn cuCtxCreate_v3(
        _call,
        pctx: Out<CUcontext>,
        _paramsArray: InMut<CUexecAffinityParam>,
        numParams: i32,
        flags: u32,
        dev: i32,
    ) {
        ensure(numParams == 0, CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)?;
        create(pctx, flags, dev)
    }

    fn cuCtxCreate_v4(
        _call,
        pctx: Out<CUcontext>,
        ctxCreateParams: InMut<CUctxCreateParams>,
        flags: u32,
        dev: i32,
    ) {
        if !ctxCreateParams.input().is_null() {
            let params = ctxCreateParams.input().get()?;
            let plain = params.numExecAffinityParams == 0 && params.cigParams.is_null();
            ensure(plain, CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)?;
        }
        create(pctx, flags, dev)
    }

    fn [cuCtxDestroy, cuCtxDestroy_v2, cuCtxDetach](_call, ctx: CUcontext) {
        destroy(ctx)
    }

    fn [cuCtxPushCurrent, cuCtxPushCurrent_v2](_call, ctx: CUcontext) {
        push(ctx)
    }

    fn [cuCtxPopCurrent, cuCtxPopCurrent_v2](_call, pctx: Out<CUcontext>) {
        pop(pctx)
    }

    /// Replaces the top of the stack; null removes it.
    fn cuCtxSetCurrent(_call, ctx: CUcontext) {
        let next = if ctx.is_null() { None } else { Some(find_to_be_current(ctx)?) };
        with_stack(|stack| {
            stack.pop();
            stack.extend(next);
        });
        Ok(())
    }

    fn cuCtxGetCurrent(_call, pctx: Out<CUcontext>) {
        let handle = current_itself().map_or(0, |context| context.handle);
        put_handle(pctx, handle)
    }

    fn cuCtxGetDevice(_call, device: Out<i32>) {
        device.check()?;
        let context = current().ok_or(INVALID_CONTEXT)?;
        device.set(context.device)
    }

    fn cuCtxGetDevice_v2(call, device: Out<i32>, ctx: CUcontext) {
        device.check()?;
        device.set(call.context_or_current(ctx)?.device)
    }

    fn cuCtxGetFlags(call, flags: Out<u32>) {
        flags.check()?;
        flags.set(call.context()?.flags())
    }

    fn cuCtxSetFlags(call, flags: u32) {
        check_flags(flags)?;
        call.context()?.set_flags(flags);
        Ok(())
    }

    fn cuCtxGetId(call, ctx: CUcontext, ctxId: Out<u64>) {
        ctxId.check()?;
        call.context_or_current(ctx)?;
        let itself = if ctx.is_null() { current_itself() } else { Context::find_itself(ctx).ok() };
        ctxId.set(itself.ok_or(INVALID_CONTEXT)?.id)
    }

    fn cuCtxSynchronize(call) {
        let context = call.context_to_wait_for()?;
        synchronize(current_itself(), &context)
    }

    fn cuCtxSynchronize_v2(call, ctx: CUcontext) {
        let context = call.context_or_current(ctx)?;
        let itself = if ctx.is_null() { current_itself() } else { Context::find_itself(ctx).ok() };
        synchronize(itself, &context)
    }

    /// Returns the version of the context's interface, not of the driver.
    fn cuCtxGetApiVersion(call, ctx: CUcontext, version: Out<u32>) {
        version.check()?;
        let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
        let found = call.context_or_current(ctx).map(drop);
        found.map_err(|code| if code == destroyed { INVALID_CONTEXT } else { code })?;
        version.set(3020)
    }

    fn cuCtxResetPersistingL2Cache(call) {
        call.context().map(drop)
    }

    /// An unrestricted context has all multiprocessors, even if the device supports none.
    fn cuCtxGetExecAffinity(
        call,
        pExecAffinity: Out<CUexecAffinityParam>,
        type_: CUexecAffinityType,
    ) {
        pExecAffinity.check()?;
        call.context()?;
        let known = type_ == CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT;
        ensure(known, CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)?;
        let smCount = CUexecAffinitySmCount { val: device::multiprocessors() as u32 };
        pExecAffinity.set(CUexecAffinityParam { type_, param: CUexecAffinityParam_param { smCount } })
    }

    /// Nothing has to be flushed, because all devices write to memory in the same way.
    fn cuFlushGPUDirectRDMAWrites(
        call,
        target: CUflushGPUDirectRDMAWritesTarget,
        scope: CUflushGPUDirectRDMAWritesScope,
    ) {
        call.context()?;
        let known = target.name().is_some() && scope.name().is_some();
        ensure(known, INVALID_VALUE)
    }

    /// Adds a use of a context that is not primary.
    fn cuCtxAttach(call, pctx: Out<CUcontext>, flags: u32) {
        pctx.check()?;
        ensure(flags == 0, INVALID_VALUE)?;
        put_handle(pctx, call.context()?.handle)
    }

    fn [cuProfilerStart, cuProfilerStop](call) {
        call.context_outside_captures().map(drop)
    }
}
