//! The drivers that traced functions call.

use std::cell::Cell;
use std::sync::OnceLock;

use cuprum::sys::{CUcontext, CUresult, FnId, Fns, StreamMode, Version};

use super::asked::Asked;
use super::emulator::emulator;
use super::{nothing, others};

thread_local! {
    /// Answer of `cuDriverGetVersion` while a driver is opened.
    pub(super) static POSING: Cell<Option<Version>> = const { Cell::new(None) };
}

/// Version that a driver being opened reports, if this is the call that asks for it.
pub(super) fn posed_version(asked: &Asked<'_>) -> Option<Version> {
    POSING.get().filter(|_| asked.function == FnId::cuDriverGetVersion)
}

/// The functions that a traced driver calls; `None` for one that does nothing.
#[inline]
pub(super) fn functions(driver: usize) -> Option<&'static Fns> {
    static EMULATOR: OnceLock<[&Fns; 2]> = OnceLock::new();
    let load =
        || [StreamMode::Legacy, StreamMode::PerThread].map(|mode| others::added_to(emulator(mode).fns()));
    (driver < 2).then(|| EMULATOR.get_or_init(load)[driver])
}

/// Passes a call on to a driver that does nothing.
pub(super) fn call_nothing(asked: &Asked<'_>) -> CUresult {
    nothing::answer(asked.driver - 2, asked)
}

/// The context current on this thread according to the driver, 0 for none. Not traced.
pub(super) fn current(driver: usize) -> u64 {
    let Some(fns) = functions(driver) else { return nothing::current(driver - 2) };
    let mut raw = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    let _ = unsafe { (fns.cuCtxGetCurrent)(&raw mut raw) };
    raw.0.addr() as u64
}
