//! The primary context of each device, shared by all libraries of a process, with a use count.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_CONTEXT, ensure};
use crate::driver::call::{Out, calls, put_handle};
use crate::driver::state::settings;

use super::object::{Context, check_flags};

/// The primary context of one device, active or not.
#[derive(Debug, Default)]
pub(super) struct Primary(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    active: Option<Arc<Context>>,
    /// The previous active one, whose handle the next one gets.
    ended: Option<Arc<Context>>,
    users: usize,
    /// Number of green contexts, which are users too.
    parts: usize,
    flags: u32,
}

static PRIMARIES: LazyLock<Vec<Primary>> =
    LazyLock::new(|| (0..settings().devices).map(|_| Primary::default()).collect());

fn lock(device: i32) -> Answer<MutexGuard<'static, State>> {
    let primaries = &*PRIMARIES;
    let index = usize::try_from(device).ok();
    let primary = index.and_then(|index| primaries.get(index));
    let primary = primary.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?;
    Ok(primary.0.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the primary context and adds a user. Creates it if it is not active.
fn retain(device: i32) -> Answer<Arc<Context>> {
    let mut state = lock(device)?;
    let State { active, ended, flags, users, .. } = &mut *state;
    let context = active.get_or_insert_with(|| match ended {
        Some(ended) => Context::create_again(ended.handle, device, *flags),
        None => Context::create(device, *flags, true),
    });
    *users += 1;
    Ok(Arc::clone(context))
}

pub(crate) fn retain_part(device: i32) -> Answer<Arc<Context>> {
    let context = retain(device)?;
    lock(device)?.parts += 1;
    Ok(context)
}

pub(crate) fn release_part(device: i32) -> Answer {
    let mut state = lock(device)?;
    state.parts = state.parts.saturating_sub(1);
    drop(state);
    release(device)
}

pub(super) fn inactive(handle: usize) -> Option<Arc<Context>> {
    let states = PRIMARIES.iter();
    let mut ended =
        states.filter_map(|primary| primary.0.lock().unwrap_or_else(PoisonError::into_inner).ended.clone());
    ended.find(|context| context.handle == handle)
}

impl State {
    fn end(&mut self) {
        if let Some(context) = self.active.take() {
            context.destroy();
            self.ended = Some(context);
        }
    }
}

fn release(device: i32) -> Answer {
    let mut state = lock(device)?;
    state.users = state.users.checked_sub(1).ok_or(INVALID_CONTEXT)?;
    if state.users == 0 {
        state.end();
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

/// Ends the context, unless there are green contexts. Its users still have to release it.
fn reset(device: i32) -> Answer {
    let mut state = lock(device)?;
    ensure(state.parts == 0, CUresult::CUDA_ERROR_NOT_PERMITTED)?;
    state.end();
    Ok(())
}

calls! {
    fn cuDevicePrimaryCtxRetain(_call, pctx: Out<CUcontext>, dev: i32) {
        pctx.check()?;
        put_handle(pctx, retain(dev)?.handle)
    }

    fn [cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2](_call, dev: i32) {
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

    fn [cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2](_call, dev: i32) {
        reset(dev)
    }
}
