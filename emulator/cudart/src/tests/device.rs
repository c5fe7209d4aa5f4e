//! The software device of the tests, and calls of the runtime.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the software device for a test, because a reset ends the context for all threads.
pub(super) fn device() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    crate::driver::use_software_device();
    let _ = crate::calls::version::cudaGetLastError();
    guard
}

macro_rules! call {
    ($function:path $(, $argument:expr)* $(,)?) => {{
        // SAFETY: outputs and addresses that live during the call, as each test ensures.
        unsafe { $function($($argument),*) }.0
    }};
}
pub(super) use call;
