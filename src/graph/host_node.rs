//! Host functions that nodes call.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::CUDA_HOST_NODE_PARAMS;

/// Payload of a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// A host function that nodes call.
pub(super) struct HostNode {
    function: Mutex<Box<dyn FnMut() + Send>>,
    panic: Mutex<Option<Payload>>,
}

impl HostNode {
    pub(super) fn new(function: impl FnMut() + Send + 'static) -> Arc<Self> {
        Arc::new(Self { function: Mutex::new(Box::new(function)), panic: Mutex::new(None) })
    }

    /// Returns the parameters for the driver, which are valid as long as the call is kept.
    pub(super) fn params(this: &Arc<Self>) -> CUDA_HOST_NODE_PARAMS {
        CUDA_HOST_NODE_PARAMS { fn_: Some(called), userData: Arc::as_ptr(this).cast_mut().cast::<c_void>() }
    }

    /// Takes the first panic that has not been taken.
    pub(super) fn take_panic(&self) -> Option<Payload> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn has_panicked(&self) -> bool {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn call(&self) {
        let call = || {
            let mut function = self.function.lock().unwrap_or_else(PoisonError::into_inner);
            (*function)();
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(call)) {
            let mut panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            match *panic {
                None => *panic = Some(payload),
                // The first panic is reported. Other payloads leak, because dropping one may run
                // any code.
                Some(_) => std::mem::forget(payload),
            }
        }
    }
}

/// Entry point for the driver.
unsafe extern "C" fn called(data: *mut c_void) {
    // SAFETY: the address of a call that the graph keeps as long as it can run; only shared
    // references to it exist.
    let call = unsafe { &*data.cast::<HostNode>() };
    call.call();
}
