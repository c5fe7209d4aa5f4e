//! Stands in for features that the software device lacks: core dumps, whose settings are remembered
//! and whose callbacks are called once when they are registered; checkpoints, which only change the
//! state; and a memory budget that is exceeded.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use cuprum::sys::{
    CUasyncCallback, CUasyncCallbackHandle, CUasyncNotificationInfo, CUasyncNotificationInfo_info,
    CUasyncNotificationInfo_info_overBudget, CUasyncNotificationType, CUcheckpointCheckpointArgs,
    CUcheckpointLockArgs, CUcheckpointRestoreArgs, CUcheckpointUnlockArgs, CUcoredumpCallbackHandle,
    CUcoredumpSettings, CUcoredumpStatusCallback, CUdevice, CUprocessState, CUresult, Fns,
};

/// Maximum wait, in milliseconds, for locking a process that cannot be locked.
pub const BUSY_MILLISECONDS: u32 = 7;
/// Bytes beyond the budget.
pub const OVER_BUDGET: u64 = 4096;

/// Values by setting; the settings of all contexts are separate.
static SETTINGS: Mutex<BTreeMap<(bool, u32), Vec<u8>>> = Mutex::new(BTreeMap::new());
static STATE: AtomicU32 = AtomicU32::new(0);

fn get(all: bool, setting: CUcoredumpSettings, value: *mut c_void, size: *mut usize) -> CUresult {
    let settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the caller's place for a size.
    let room = unsafe { size.read() };
    // SAFETY: the caller's place of that size.
    let to = unsafe { slice::from_raw_parts_mut(value.cast::<u8>(), room) };
    to.fill(0);
    if let Some(known) = settings.get(&(all, setting.0)) {
        let bytes = known.len().min(room);
        to[..bytes].copy_from_slice(&known[..bytes]);
    }
    CUresult::CUDA_SUCCESS
}

fn set(all: bool, setting: CUcoredumpSettings, value: *mut c_void, size: *mut usize) -> CUresult {
    // SAFETY: the caller's size.
    let bytes = unsafe { size.read() };
    // SAFETY: the caller's value of that size.
    let value = unsafe { slice::from_raw_parts(value.cast::<u8>(), bytes) };
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner).insert((all, setting.0), value.to_vec());
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn get_here(
    setting: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    get(false, setting, value, size)
}

unsafe extern "system" fn get_all(
    setting: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    get(true, setting, value, size)
}

unsafe extern "system" fn set_here(
    setting: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    set(false, setting, value, size)
}

unsafe extern "system" fn set_all(
    setting: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    set(true, setting, value, size)
}

unsafe extern "system" fn told(
    callback: CUcoredumpStatusCallback,
    data: *mut c_void,
    _: *mut CUcoredumpCallbackHandle,
) -> CUresult {
    let Some(callback) = callback else { return CUresult::CUDA_ERROR_INVALID_VALUE };
    // SAFETY: the data is the callback's own.
    unsafe { callback(data, 1234, 0) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn untold(_: CUcoredumpCallbackHandle) -> CUresult {
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn notify(
    _: CUdevice,
    callback: CUasyncCallback,
    data: *mut c_void,
    handle: *mut CUasyncCallbackHandle,
) -> CUresult {
    let Some(callback) = callback else { return CUresult::CUDA_ERROR_INVALID_VALUE };
    let over = CUasyncNotificationInfo_info_overBudget { bytesOverBudget: OVER_BUDGET };
    let mut info = CUasyncNotificationInfo {
        type_: CUasyncNotificationType::CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET,
        info: CUasyncNotificationInfo_info { overBudget: over },
    };
    // SAFETY: the caller's place for a handle.
    let handle = unsafe { handle.read() };
    // SAFETY: the data is the callback's own.
    unsafe { callback(&raw mut info, data, handle) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn stop_notifying(_: CUdevice, _: CUasyncCallbackHandle) -> CUresult {
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn state(_: i32, state: *mut CUprocessState) -> CUresult {
    // SAFETY: the caller's place.
    unsafe { state.write(CUprocessState(STATE.load(Ordering::Relaxed))) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn restore_thread(pid: i32, thread: *mut i32) -> CUresult {
    // SAFETY: the caller's place.
    unsafe { thread.write(pid) };
    CUresult::CUDA_SUCCESS
}

fn now(state: CUprocessState) -> CUresult {
    STATE.store(state.0, Ordering::Relaxed);
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn lock(_: i32, args: *mut CUcheckpointLockArgs) -> CUresult {
    // SAFETY: the caller's arguments.
    if unsafe { args.read() }.timeoutMs == BUSY_MILLISECONDS {
        return CUresult::CUDA_ERROR_NOT_READY;
    }
    now(CUprocessState::CU_PROCESS_STATE_LOCKED)
}

unsafe extern "system" fn checkpoint(_: i32, _: *mut CUcheckpointCheckpointArgs) -> CUresult {
    now(CUprocessState::CU_PROCESS_STATE_CHECKPOINTED)
}

/// Refuses a device that is to take its own place.
unsafe extern "system" fn restore(_: i32, args: *mut CUcheckpointRestoreArgs) -> CUresult {
    // SAFETY: the caller's arguments.
    let args = unsafe { args.read() };
    if !args.gpuPairs.is_null() {
        // SAFETY: so many pairs of the caller's.
        let pairs = unsafe { slice::from_raw_parts(args.gpuPairs, args.gpuPairsCount as usize) };
        if pairs.iter().any(|pair| pair.oldUuid.bytes == pair.newUuid.bytes) {
            return CUresult::CUDA_ERROR_INVALID_VALUE;
        }
    }
    now(CUprocessState::CU_PROCESS_STATE_LOCKED)
}

unsafe extern "system" fn unlock(_: i32, _: *mut CUcheckpointUnlockArgs) -> CUresult {
    now(CUprocessState::CU_PROCESS_STATE_RUNNING)
}

/// Adds them to a table.
pub(super) fn add(fns: &mut Fns) {
    fns.cuCoredumpGetAttribute = get_here;
    fns.cuCoredumpGetAttributeGlobal = get_all;
    fns.cuCoredumpSetAttribute = set_here;
    fns.cuCoredumpSetAttributeGlobal = set_all;
    fns.cuCoredumpRegisterStartCallback = told;
    fns.cuCoredumpRegisterCompleteCallback = told;
    fns.cuCoredumpDeregisterStartCallback = untold;
    fns.cuCoredumpDeregisterCompleteCallback = untold;
    fns.cuDeviceRegisterAsyncNotification = notify;
    fns.cuDeviceUnregisterAsyncNotification = stop_notifying;
    fns.cuCheckpointProcessGetState = state;
    fns.cuCheckpointProcessGetRestoreThreadId = restore_thread;
    fns.cuCheckpointProcessLock = lock;
    fns.cuCheckpointProcessCheckpoint = checkpoint;
    fns.cuCheckpointProcessRestore = restore;
    fns.cuCheckpointProcessUnlock = unlock;
}
