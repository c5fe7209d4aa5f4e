//! Devices and their contexts. The first call that needs a device's primary context retains it.
//!
//! A context that the program made current through the driver API is used unchanged.
//! `cudaDeviceReset` ends a primary context for all threads. Its handle stays the same, and the
//! next call of each thread retains it again.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum_sys::{CUcontext, CUdevice, Fns, StreamMode};

use crate::driver;
use crate::error::{Result, check, cudaError};
use crate::state::thread;

/// The driver's functions, with a context current on this thread.
pub(crate) struct Here {
    pub(crate) fns: &'static Fns,
    pub(crate) mode: StreamMode,
}

#[derive(Clone, Copy)]
struct Primary {
    device: CUdevice,
    context: CUcontext,
    retained: bool,
}

// SAFETY: a handle, which threads may share by the driver's rules.
unsafe impl Send for Primary {}

/// The primary contexts ever retained here: one for each used device.
static PRIMARIES: Mutex<Vec<Primary>> = Mutex::new(Vec::new());
/// The device of threads that have selected none: the first of `cudaSetValidDevices`.
static FIRST: AtomicI32 = AtomicI32::new(0);
/// Number of resets. A thread that has checked a context since need not check it again.
static RESETS: AtomicU64 = AtomicU64::new(1);

fn primaries() -> MutexGuard<'static, Vec<Primary>> {
    PRIMARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the device that the thread has selected, or the default.
fn chosen() -> CUdevice {
    thread::device().unwrap_or_else(|| FIRST.load(Ordering::Relaxed))
}

/// Sets the devices for threads that have selected none, in order of preference; empty means all.
pub(crate) fn prefer(devices: &[i32]) -> Result {
    let fns = driver::fns(StreamMode::Legacy)?;
    for device in devices {
        check_device(fns, *device)?;
    }
    FIRST.store(devices.first().copied().unwrap_or(0), Ordering::Relaxed);
    Ok(())
}

/// Prepares a call in a context. A thread without one gets the primary context of its device.
pub(crate) fn enter(mode: StreamMode) -> Result<Here> {
    let fns = driver::fns(mode)?;
    let current = current(fns)?;
    if !thread::has_seen(current, RESETS.load(Ordering::Acquire)) {
        settle(fns, current)?;
    }
    Ok(Here { fns, mode })
}

impl Here {
    pub(crate) fn device(&self) -> Result<CUdevice> {
        let mut device = 0;
        // SAFETY: a valid output.
        check(unsafe { (self.fns.cuCtxGetDevice)(&mut device) })?;
        Ok(device)
    }
}

pub(crate) fn current(fns: &Fns) -> Result<CUcontext> {
    let mut context = CUcontext::null();
    // SAFETY: a valid output.
    check(unsafe { (fns.cuCtxGetCurrent)(&mut context) })?;
    Ok(context)
}

/// Finds the context of a thread if its current one is null, unknown, or older than the last reset.
#[cold]
fn settle(fns: &Fns, current: CUcontext) -> Result {
    let resets = RESETS.load(Ordering::Acquire);
    let context = if current.is_null() {
        let context = primary(fns, chosen())?;
        // SAFETY: retained, and never released.
        check(unsafe { (fns.cuCtxSetCurrent)(context) })?;
        context
    } else {
        let known =
            primaries().iter().find(|primary| primary.context == current).map(|primary| primary.device);
        match known {
            Some(device) => primary(fns, device)?,
            // Created by the program.
            None => current,
        }
    };
    thread::see(context, resets);
    Ok(())
}

/// Returns the primary context of a device, retained.
pub(crate) fn primary(fns: &Fns, device: CUdevice) -> Result<CUcontext> {
    let mut primaries = primaries();
    let known = primaries.iter().position(|primary| primary.device == device);
    if let Some(primary) = known.and_then(|known| primaries.get(known)).filter(|primary| primary.retained) {
        return Ok(primary.context);
    }
    let mut context = CUcontext::null();
    // SAFETY: a valid output; the driver checks the device.
    check(unsafe { (fns.cuDevicePrimaryCtxRetain)(&mut context, device) })?;
    let entry = Primary { device, context, retained: true };
    match known {
        Some(known) => primaries[known] = entry,
        None => primaries.push(entry),
    }
    Ok(context)
}

/// Returns the device of the current context, or else the selected one. Creates no context.
pub(crate) fn device(fns: &Fns) -> Result<CUdevice> {
    if current(fns)?.is_null() {
        return Ok(chosen());
    }
    let mut device = 0;
    // SAFETY: a valid output.
    check(unsafe { (fns.cuCtxGetDevice)(&mut device) })?;
    Ok(device)
}

/// True if the context is the primary context of its device, retained here.
pub(crate) fn is_primary(context: CUcontext) -> bool {
    primaries().iter().any(|primary| primary.context == context)
}

pub(crate) fn count(fns: &Fns) -> Result<i32> {
    let mut count = 0;
    // SAFETY: a valid output.
    check(unsafe { (fns.cuDeviceGetCount)(&mut count) })?;
    Ok(count)
}

/// Fails if the device does not exist.
pub(crate) fn check_device(fns: &Fns, device: i32) -> Result {
    match device {
        0.. if device < count(fns)? => Ok(()),
        _ => Err(cudaError::cudaErrorInvalidDevice),
    }
}

/// Selects the device for the thread, and makes its primary context current.
pub(crate) fn choose(device: i32) -> Result {
    let fns = driver::fns(StreamMode::Legacy)?;
    check_device(fns, device)?;
    thread::set_device(device);
    let resets = RESETS.load(Ordering::Acquire);
    let context = primary(fns, device)?;
    // SAFETY: retained, and never released.
    check(unsafe { (fns.cuCtxSetCurrent)(context) })?;
    thread::see(context, resets);
    Ok(())
}

/// Ends the primary context of the current device, for all threads.
pub(crate) fn reset() -> Result {
    let fns = driver::fns(StreamMode::Legacy)?;
    let device = device(fns)?;
    let mut primaries = primaries();
    // SAFETY: the driver checks the device; the driver refuses handles from before the reset.
    check(unsafe { (fns.cuDevicePrimaryCtxReset_v2)(device) })?;
    for primary in primaries.iter_mut().filter(|primary| primary.device == device && primary.retained) {
        primary.retained = false;
        // SAFETY: retained once by `primary`. A reset does not change the number of users. An error
        // means that the driver has already decremented it.
        let _ = unsafe { (fns.cuDevicePrimaryCtxRelease_v2)(device) };
    }
    RESETS.fetch_add(1, Ordering::Release);
    Ok(())
}
