//! Checkpoints: the state of a process on its devices, saved in host memory, and restored.

use std::ptr;
use std::time::Duration;

use cuprum_sys::{
    CUcheckpointCheckpointArgs, CUcheckpointGpuPair, CUcheckpointLockArgs, CUcheckpointRestoreArgs,
    CUcheckpointUnlockArgs, CUprocessState, CUresult, CUuuid, FnId,
};

use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// The checkpoint state of a process: the driver's number.
pub type ProcessState = CUprocessState;

/// A process whose state on devices is saved and restored, for example around a checkpoint by the
/// system, or to lend its devices to other processes.
///
/// A [locked](CheckpointProcess::lock) process waits in its driver calls. A
/// [checkpoint](CheckpointProcess::checkpoint) saves its device memory and releases the devices.
/// [`restore`](CheckpointProcess::restore) and [`unlock`](CheckpointProcess::unlock) reverse this.
/// If a process locks itself, it must be unlocked by a thread that makes no other driver calls, or
/// by another process.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::tools::{CheckpointProcess, ProcessState};
///
/// let this = CheckpointProcess { driver, pid: std::process::id() };
/// match this.state() {
///     Ok(state) => assert_eq!(state, ProcessState::CU_PROCESS_STATE_RUNNING),
///     Err(error) => println!("no checkpoints here: {error}"), // of the software device, or an older driver
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a driver and the id of a process")]
pub struct CheckpointProcess {
    /// The driver that saves and restores it.
    pub driver: Driver,
    /// Its id, which may be of the current process.
    pub pid: u32,
}

impl CheckpointProcess {
    /// Returns its state.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` on the software device; `CUDA_ERROR_OPERATING_SYSTEM` if the
    /// process does not exist; `CUDA_ERROR_NOT_INITIALIZED` if it does not use the driver.
    ///
    /// Driver: `cuCheckpointProcessGetState`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessGetState")]
    #[inline]
    pub fn state(self) -> Result<ProcessState, Error> {
        let mut state = CUprocessState::CU_PROCESS_STATE_RUNNING;
        // SAFETY: the out-parameter outlives the call.
        unsafe {
            driver_call!(self.driver.library(), cuCheckpointProcessGetState(self.pid as i32, &raw mut state))
        }?;
        Ok(state)
    }

    /// Returns the thread that restores the process. Tools that freeze the process let this thread
    /// run.
    ///
    /// # Errors
    /// Same as [`state`](CheckpointProcess::state).
    ///
    /// Driver: `cuCheckpointProcessGetRestoreThreadId`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessGetRestoreThreadId")]
    #[inline]
    pub fn restore_thread(self) -> Result<i32, Error> {
        let mut thread = 0;
        let to = &raw mut thread;
        // SAFETY: the out-parameter outlives the call.
        unsafe {
            driver_call!(self.driver.library(), cuCheckpointProcessGetRestoreThreadId(self.pid as i32, to))
        }?;
        Ok(thread)
    }

    /// Makes later driver calls of the process wait, and blocks until its earlier work is complete.
    /// The limit has steps of a millisecond, and is at least one.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_READY` after the limit; `CUDA_ERROR_ILLEGAL_STATE` unless it runs; the
    /// errors of [`state`](CheckpointProcess::state).
    ///
    /// Driver: `cuCheckpointProcessLock`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessLock")]
    #[inline]
    pub fn lock(self, limit: Option<Duration>) -> Result<(), Error> {
        let milliseconds = |limit: Duration| u32::try_from(limit.as_millis()).unwrap_or(u32::MAX).max(1);
        let timeout = limit.map_or(0, milliseconds);
        let mut args = CUcheckpointLockArgs { timeoutMs: timeout, ..CUcheckpointLockArgs::zeroed() };
        // SAFETY: the arguments outlive the call.
        unsafe {
            driver_call!(self.driver.library(), cuCheckpointProcessLock(self.pid as i32, &raw mut args))
        }
    }

    /// Saves the device memory in host memory, and releases the devices. Blocks until that is done.
    ///
    /// # Errors
    /// `CUDA_ERROR_ILLEGAL_STATE` unless it is locked; `CUDA_ERROR_NOT_SUPPORTED` for memory that
    /// cannot be saved, such as memory of other processes; the errors of
    /// [`state`](CheckpointProcess::state).
    ///
    /// # Safety
    /// 1. Until the process is restored, it does not use memory that it shares with devices, such
    ///    as managed or mapped memory.
    /// 2. Until then, other processes do not use memory that they share with it.
    ///
    /// Driver: `cuCheckpointProcessCheckpoint`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessCheckpoint")]
    #[inline]
    pub unsafe fn checkpoint(self) -> Result<(), Error> {
        let mut args = CUcheckpointCheckpointArgs::zeroed();
        // SAFETY: the arguments outlive the call; memory is saved on the host by default.
        unsafe {
            driver_call!(self.driver.library(), cuCheckpointProcessCheckpoint(self.pid as i32, &raw mut args))
        }
    }

    /// Acquires devices and restores their memory, and blocks until done. The process stays locked.
    ///
    /// `devices` has pairs of UUIDs: of a device at the checkpoint, and of the device that replaces
    /// it. If empty, the process gets the same devices.
    ///
    /// # Errors
    /// `CUDA_ERROR_ILLEGAL_STATE` unless it is checkpointed; `CUDA_ERROR_INVALID_VALUE` for devices
    /// that do not match; the errors of [`state`](CheckpointProcess::state).
    ///
    /// # Safety
    /// The host's part of the process's memory is unchanged since the checkpoint.
    ///
    /// Driver: `cuCheckpointProcessRestore`, CUDA 12.8+; with pairs of devices CUDA 13.0+.
    #[doc(alias = "cuCheckpointProcessRestore")]
    #[inline]
    pub unsafe fn restore(self, devices: &[([u8; 16], [u8; 16])]) -> Result<(), Error> {
        let uuid = |bytes| CUuuid { bytes };
        let pair = |&(old, new): &([u8; 16], [u8; 16])| CUcheckpointGpuPair {
            oldUuid: uuid(old),
            newUuid: uuid(new),
        };
        let mut pairs: Vec<CUcheckpointGpuPair> = devices.iter().map(pair).collect();
        let many = |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuCheckpointProcessRestore);
        let gpu_pairs = if pairs.is_empty() { ptr::null_mut() } else { pairs.as_mut_ptr() };
        let mut args = CUcheckpointRestoreArgs {
            gpuPairs: gpu_pairs,
            gpuPairsCount: u32::try_from(pairs.len()).map_err(many)?,
            ..CUcheckpointRestoreArgs::zeroed()
        };
        // SAFETY: the arguments and the pairs outlive the call; the caller guarantees the memory.
        unsafe {
            driver_call!(self.driver.library(), cuCheckpointProcessRestore(self.pid as i32, &raw mut args))
        }
    }

    /// Lets the process continue.
    ///
    /// # Errors
    /// `CUDA_ERROR_ILLEGAL_STATE` unless it is locked; the errors of
    /// [`state`](CheckpointProcess::state).
    ///
    /// Driver: `cuCheckpointProcessUnlock`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessUnlock")]
    #[inline]
    pub fn unlock(self) -> Result<(), Error> {
        let mut args = CUcheckpointUnlockArgs::zeroed();
        // SAFETY: the arguments outlive the call.
        unsafe {
            driver_call!(self.driver.library(), cuCheckpointProcessUnlock(self.pid as i32, &raw mut args))
        }
    }
}
