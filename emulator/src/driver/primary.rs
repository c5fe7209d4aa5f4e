//! The primary context of each device: shared by all libraries of a process, counted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use super::call::{Answer, INVALID_CONTEXT, Out, calls, ensure, put_handle};
use super::context::{Context, check_flags};
use super::state::emulator;

/// The primary context of one device, active or not.
#[derive(Debug, Default)]
pub(super) struct Primary(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    active: Option<Arc<Context>>,
    users: usize,
    flags: u32,
}

fn lock(device: i32) -> Answer<MutexGuard<'static, State>> {
    let primaries = &emulator().primaries;
    let index = usize::try_from(device).ok();
    let primary = index.and_then(|index| primaries.get(index));
    let primary = primary.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?;
    Ok(primary.0.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The primary context, made if it is not active; to be released as often.
pub(super) fn retain(device: i32) -> Answer<Arc<Context>> {
    let mut state = lock(device)?;
    let flags = state.flags;
    let context = state.active.get_or_insert_with(|| Context::create(device, flags, true));
    let context = Arc::clone(context);
    state.users += 1;
    Ok(context)
}

pub(super) fn release(device: i32) -> Answer {
    let mut state = lock(device)?;
    state.users = state.users.checked_sub(1).ok_or(INVALID_CONTEXT)?;
    if state.users == 0 {
        if let Some(context) = state.active.take() {
            context.destroy();
        }
    }
    Ok(())
}

fn set_flags(device: i32, flags: u32) -> Answer {
    let mut state = lock(device)?;
    check_flags(flags)?;
    state.flags = flags;
    if let Some(context) = &state.active {
        context.set_flags(flags);
    }
    Ok(())
}

/// Ends the context. Those who retained it still have to release it.
fn reset(device: i32) -> Answer {
    if let Some(context) = lock(device)?.active.take() {
        context.destroy();
    }
    Ok(())
}

calls! {
    fn cuDevicePrimaryCtxRetain(_call, pctx: Out<CUcontext>, dev: i32) {
        pctx.check()?;
        put_handle(pctx, retain(dev)?.handle)
    }

    fn cuDevicePrimaryCtxRelease(_call, dev: i32) {
        release(dev)
    }

    fn cuDevicePrimaryCtxRelease_v2(_call, dev: i32) {
        release(dev)
    }

    fn cuDevicePrimaryCtxSetFlags(_call, dev: i32, flags: u32) {
        ensure(
            lock(dev)?.active.is_none(),
            CUresult::CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
        )?;
        set_flags(dev, flags)
    }

    fn cuDevicePrimaryCtxSetFlags_v2(_call, dev: i32, flags: u32) {
        set_flags(dev, flags)
    }

    fn cuDevicePrimaryCtxGetState(_call, dev: i32, flags: Out<u32>, active: Out<i32>) {
        let state = lock(dev)?;
        flags.check()?;
        active.check()?;
        flags.set(state.flags)?;
        active.set(i32::from(state.active.is_some()))
    }

    fn cuDevicePrimaryCtxReset(_call, dev: i32) {
        reset(dev)
    }

    fn cuDevicePrimaryCtxReset_v2(_call, dev: i32) {
        reset(dev)
    }
}
