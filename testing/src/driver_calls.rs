//! Calls of the software device's driver functions: the initialized table, and checks of its
//! results.

use core::ffi::c_void;
use core::ptr::null_mut;

use cuprum_sys::*;

/// Returns the emulator's functions, after `cuInit`.
pub fn fns() -> &'static Fns {
    let library = cuprum_emulator::library();
    assert_eq!(library.init(), CUresult::CUDA_SUCCESS);
    library.fns()
}

/// Calls a driver function, and returns its code.
#[macro_export]
macro_rules! code {
    ($name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the arguments are deliberately invalid, or the test's own outputs.
        unsafe { ($crate::driver_calls::fns().$name)($($arg),*) }
    };
}

/// Calls a driver function that must succeed.
#[macro_export]
macro_rules! ok {
    ($name:ident($($arg:expr),* $(,)?)) => {
        assert_eq!($crate::code!($name($($arg),*)), cuprum_sys::CUresult::CUDA_SUCCESS)
    };
}

pub use crate::{code, ok};

/// A context, current on this thread until dropped.
pub struct TestContext(pub CUcontext);

impl TestContext {
    pub fn new() -> Self {
        let mut context = CUcontext::null();
        ok!(cuCtxCreate_v2(&mut context, 0, 0));
        Self(context)
    }
}

impl Drop for TestContext {
    fn drop(&mut self) {
        let result = code!(cuCtxDestroy_v2(self.0));
        if !std::thread::panicking() {
            let gone = result == CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
            assert!(gone || result == CUresult::CUDA_SUCCESS, "{result:?}");
        }
    }
}

pub fn current() -> CUcontext {
    let mut context = CUcontext::null();
    ok!(cuCtxGetCurrent(&mut context));
    context
}

pub fn alloc(bytes: usize) -> CUdeviceptr {
    let mut pointer = 0;
    ok!(cuMemAlloc_v2(&mut pointer, bytes));
    pointer
}

pub fn read<T: Default + Clone>(from: CUdeviceptr, len: usize) -> Vec<T> {
    let mut host = vec![T::default(); len];
    ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast::<c_void>(), from, size_of_val(&host[..])));
    host
}

pub fn write<T>(to: CUdeviceptr, values: &[T]) {
    ok!(cuMemcpyHtoD_v2(to, values.as_ptr().cast::<c_void>(), size_of_val(values)));
}

pub fn stream(flags: u32) -> CUstream {
    let mut stream = CUstream::null();
    ok!(cuStreamCreate(&mut stream, flags));
    stream
}

pub fn event(flags: u32) -> CUevent {
    let mut event = CUevent::null();
    ok!(cuEventCreate(&mut event, flags));
    event
}

pub const NULL: *mut c_void = null_mut();
