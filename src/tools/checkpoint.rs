//! Checkpoints: a process's state on its devices, saved in memory of the host, and restored.

use std::ptr;
use std::time::Duration;

use cuprum_sys::{
    CUcheckpointCheckpointArgs, CUcheckpointGpuPair, CUcheckpointLockArgs, CUcheckpointRestoreArgs,
    CUcheckpointUnlockArgs, CUprocessState, CUresult, CUuuid, FnId,
};

use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// How far a process is on its way to a checkpoint and back, by the driver's number.
pub type ProcessState = CUprocessState;

/// A process whose state on devices is saved and restored, for instance before and after the system's own checkpoint of it, or
/// to lend its devices to others: made by [`Driver::checkpoint_process`].
///
/// [Locked](CheckpointProcess::lock), it waits in its calls of the driver. At the
/// [checkpoint](CheckpointProcess::checkpoint), its memory of devices is saved, and they are given up. The way back is
/// [`restore`](CheckpointProcess::restore) and [`unlock`](CheckpointProcess::unlock). A process that locks itself has to be
/// unlocked by a thread that calls nothing else of the driver, or by another process.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::tools::ProcessState;
///
/// let this = driver.checkpoint_process(std::process::id());
/// match this.state() {
///     Ok(state) => assert_eq!(state, ProcessState::CU_PROCESS_STATE_RUNNING),
///     Err(error) => println!("no checkpoints here: {error}"), // of the software device, or an older driver
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointProcess {
    driver: Driver,
    pid: i32,
}

impl Driver {
    /// The process of that number, which may be this one. No driver call.
    pub const fn checkpoint_process(self, pid: u32) -> CheckpointProcess {
        CheckpointProcess { driver: self, pid: pid as i32 }
    }
}

impl CheckpointProcess {
    /// Its state.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` on the software device; `CUDA_ERROR_OPERATING_SYSTEM` for a process that is none;
    /// `CUDA_ERROR_NOT_INITIALIZED` for one that does not use the driver.
    ///
    /// Driver: `cuCheckpointProcessGetState`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessGetState")]
    #[inline]
    pub fn state(self) -> Result<ProcessState, Error> {
        let mut state = CUprocessState::CU_PROCESS_STATE_RUNNING;
        // SAFETY: the out-parameter outlives the call.
        unsafe {
            driver_call!(self.driver.library(), cuCheckpointProcessGetState(self.pid, &raw mut state))
        }?;
        Ok(state)
    }

    /// The thread of the process that restores it, which whoever freezes the process has to let run then.
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
        unsafe { driver_call!(self.driver.library(), cuCheckpointProcessGetRestoreThreadId(self.pid, to)) }?;
        Ok(thread)
    }

    /// Lets the process wait in further calls of the driver, and blocks until its work so far is done. In steps of a
    /// millisecond, at least one; without a limit, as long as it takes.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_READY` when the time is over; `CUDA_ERROR_ILLEGAL_STATE` unless it runs; those of
    /// [`state`](CheckpointProcess::state).
    ///
    /// Driver: `cuCheckpointProcessLock`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessLock")]
    #[inline]
    pub fn lock(self, limit: Option<Duration>) -> Result<(), Error> {
        let milliseconds = |limit: Duration| u32::try_from(limit.as_millis()).unwrap_or(u32::MAX).max(1);
        let timeout = limit.map_or(0, milliseconds);
        let mut args = CUcheckpointLockArgs { timeoutMs: timeout, ..CUcheckpointLockArgs::zeroed() };
        // SAFETY: the arguments outlive the call.
        unsafe { driver_call!(self.driver.library(), cuCheckpointProcessLock(self.pid, &raw mut args)) }
    }

    /// Saves the memory of devices in memory of the host, and gives the devices up. Blocks until that is done.
    ///
    /// # Errors
    /// `CUDA_ERROR_ILLEGAL_STATE` unless it is locked; `CUDA_ERROR_NOT_SUPPORTED` for memory that cannot be saved, such as
    /// that of other processes; the errors of [`state`](CheckpointProcess::state).
    ///
    /// # Safety
    /// 1. Until the process is restored, it uses no memory that it shares with devices, such as managed or mapped memory.
    /// 2. What other processes share with it, they do not use until then.
    ///
    /// Driver: `cuCheckpointProcessCheckpoint`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessCheckpoint")]
    #[inline]
    pub unsafe fn checkpoint(self) -> Result<(), Error> {
        let mut args = CUcheckpointCheckpointArgs::zeroed();
        // SAFETY: the arguments outlive the call; without a place of the caller's, memory is saved on the host.
        unsafe { driver_call!(self.driver.library(), cuCheckpointProcessCheckpoint(self.pid, &raw mut args)) }
    }

    /// Takes devices again and restores the memory of each. It stays locked. Blocks until that is done.
    ///
    /// Of `devices`, pairs of UUIDs, the first is that of a device at the checkpoint and the second that of the one which takes
    /// its place; without any, it gets the same ones.
    ///
    /// # Errors
    /// `CUDA_ERROR_ILLEGAL_STATE` unless it is checkpointed; `CUDA_ERROR_INVALID_VALUE` for devices that do not match; those of
    /// [`state`](CheckpointProcess::state).
    ///
    /// # Safety
    /// Nobody has changed what the host has of the process's memory, as by restoring another state of it.
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
        // SAFETY: the arguments and the pairs outlive the call; the caller's word for the memory.
        unsafe { driver_call!(self.driver.library(), cuCheckpointProcessRestore(self.pid, &raw mut args)) }
    }

    /// Lets the process go on.
    ///
    /// # Errors
    /// `CUDA_ERROR_ILLEGAL_STATE` unless it is locked; the errors of [`state`](CheckpointProcess::state).
    ///
    /// Driver: `cuCheckpointProcessUnlock`, CUDA 12.8+.
    #[doc(alias = "cuCheckpointProcessUnlock")]
    #[inline]
    pub fn unlock(self) -> Result<(), Error> {
        let mut args = CUcheckpointUnlockArgs::zeroed();
        // SAFETY: the arguments outlive the call.
        unsafe { driver_call!(self.driver.library(), cuCheckpointProcessUnlock(self.pid, &raw mut args)) }
    }
}
