//! State of a host thread: its last error, its device, configurations of launches in progress.

use core::cell::{Cell, RefCell};

use cuprum_sys::{CUcontext, CUstream};

use crate::error::{Result, cudaError};
use crate::structs::dim3;

/// The configuration of a launch, between `<<<` and the call of the kernel's host function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Configuration {
    pub(crate) grid: dim3,
    pub(crate) block: dim3,
    pub(crate) shared: usize,
    pub(crate) stream: CUstream,
}

thread_local! {
    static LAST: Cell<u32> = const { Cell::new(0) };
    static DEVICE: Cell<Option<i32>> = const { Cell::new(None) };
    static SEEN: Cell<(CUcontext, u64)> = const { Cell::new((CUcontext::null(), 0)) };
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Returns the C code of a result, and stores it as the thread's last error.
///
/// `cudaErrorNotReady` is the result of a query and no error, so it is not stored.
pub(crate) fn record(result: Result) -> cudaError {
    match result {
        Ok(()) => cudaError::cudaSuccess,
        Err(code) => {
            if code != cudaError::cudaErrorNotReady {
                LAST.set(code.0);
            }
            code
        }
    }
}

pub(crate) fn last_error() -> cudaError {
    cudaError(LAST.get())
}

pub(crate) fn take_last_error() -> cudaError {
    cudaError(LAST.replace(0))
}

pub(crate) fn device() -> Option<i32> {
    DEVICE.get()
}

pub(crate) fn set_device(device: i32) {
    DEVICE.set(Some(device));
}

/// True if this thread has found the context usable since this number of resets.
pub(crate) fn has_seen(context: CUcontext, resets: u64) -> bool {
    SEEN.get() == (context, resets)
}

pub(crate) fn see(context: CUcontext, resets: u64) {
    SEEN.set((context, resets));
}

/// Stores a configuration for `pop`. Fails at the end of a thread, after its stack was destroyed.
pub(crate) fn push(configuration: Configuration) -> Result {
    let pushed = CONFIGURATIONS.try_with(|stack| stack.borrow_mut().push(configuration));
    pushed.map_err(|_| cudaError::cudaErrorCudartUnloading)
}

pub(crate) fn pop() -> Result<Configuration> {
    let popped = CONFIGURATIONS.try_with(|stack| stack.borrow_mut().pop());
    popped.ok().flatten().ok_or(cudaError::cudaErrorMissingConfiguration)
}
