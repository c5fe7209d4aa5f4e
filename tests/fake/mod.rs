//! A driver that does nothing and writes down what it was asked: for the number and order of calls, and for
//! what a real driver rarely answers.

#![allow(dead_code, reason = "each program that includes this uses its own part")]

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use cuprum::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute,
    CUjit_option, CUmodule, CUresult, CUstream, FnId, OpenOptions, Symbol,
};
use cuprum::{Driver, Library};

thread_local! {
    /// Written only while `calls_of` listens: a benchmark makes millions of calls.
    static CALLS: RefCell<Option<Vec<FnId>>> = const { RefCell::new(None) };
    static FAILING: Cell<Option<(FnId, CUresult)>> = const { Cell::new(None) };
    static CURRENT: RefCell<Vec<CUcontext>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<usize> = const { Cell::new(0x1000) };
}

/// The calls that `body` makes, and what it returns.
pub(crate) fn calls_of<R>(body: impl FnOnce() -> R) -> (Vec<FnId>, R) {
    CALLS.set(Some(Vec::new()));
    let result = body();
    (CALLS.take().unwrap_or_default(), result)
}

/// Runs `body` with one function failing on this thread.
pub(crate) fn failing<R>(function: FnId, code: CUresult, body: impl FnOnce() -> R) -> R {
    FAILING.set(Some((function, code)));
    let result = body();
    FAILING.set(None);
    result
}

fn answer(call: FnId) -> CUresult {
    CALLS.with_borrow_mut(|calls| calls.iter_mut().for_each(|calls| calls.push(call)));
    match FAILING.get() {
        Some((function, code)) if function == call => code,
        _ => CUresult::CUDA_SUCCESS,
    }
}

/// A handle that nobody has.
fn fresh() -> *mut c_void {
    NEXT.set(NEXT.get() + 0x100);
    std::ptr::without_provenance_mut(NEXT.get())
}

/// Functions that write an answer where they are told to, and are written down.
macro_rules! functions {
    ($( fn $name:ident($($arg:ident: $type:ty),*) $body:block )*) => {
        $(
            unsafe extern "system" fn $name($($arg: $type),*) -> CUresult {
                let code = answer(FnId::$name);
                if code == CUresult::CUDA_SUCCESS $body
                code
            }
        )*

        fn resolve(symbol: &Symbol) -> *const c_void {
            let name = symbol.name.to_str().unwrap_or_default();
            match name.trim_end_matches("_ptds").trim_end_matches("_ptsz") {
                $( stringify!($name) => $name as *const c_void, )*
                _ => std::ptr::null(),
            }
        }
    };
}

#[allow(non_snake_case, unused_variables, reason = "the driver's names")]
mod functions {
    use super::*;

    /// # Safety
    /// `to` is null or may be written.
    unsafe fn put<T>(to: *mut T, value: T) {
        if !to.is_null() {
            // SAFETY: the caller's word.
            unsafe { to.write(value) }
        }
    }

    // SAFETY of every body: the safe layer passes out-parameters that may be written.
    #[allow(clippy::undocumented_unsafe_blocks, reason = "said once above")]
    mod table {
        use super::*;
        functions! {
            fn cuInit(flags: u32) {}
            fn cuDriverGetVersion(version: *mut i32) { unsafe { put(version, 9000) } }
            fn cuDeviceGetCount(count: *mut i32) { unsafe { put(count, 1) } }
            fn cuDeviceGet(device: *mut CUdevice, ordinal: i32) { unsafe { put(device, ordinal) } }
            fn cuDeviceGetAttribute(value: *mut i32, attribute: CUdevice_attribute, device: CUdevice) { unsafe { put(value, 1024) } }
            fn cuCtxCreate_v2(context: *mut CUcontext, flags: u32, device: CUdevice) {
                let raw = CUcontext(fresh());
                CURRENT.with_borrow_mut(|stack| stack.push(raw));
                unsafe { put(context, raw) }
            }
            fn cuCtxDestroy_v2(context: CUcontext) {}
            fn cuCtxPushCurrent_v2(context: CUcontext) { CURRENT.with_borrow_mut(|stack| stack.push(context)) }
            fn cuCtxPopCurrent_v2(context: *mut CUcontext) {
                let top = CURRENT.with_borrow_mut(Vec::pop);
                unsafe { put(context, top.unwrap_or(CUcontext::null())) }
            }
            fn cuCtxGetCurrent(context: *mut CUcontext) {
                let top = CURRENT.with_borrow(|stack| stack.last().copied());
                unsafe { put(context, top.unwrap_or(CUcontext::null())) }
            }
            fn cuCtxSynchronize() {}
            fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) { unsafe { put(address, fresh().addr() as u64) } }
            fn cuMemFree_v2(address: CUdeviceptr) {}
            fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) {}
            fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) { unsafe { to.write_bytes(0, bytes) } }
            fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {}
            fn cuMemsetD8_v2(to: CUdeviceptr, value: u8, count: usize) {}
            fn cuMemsetD32_v2(to: CUdeviceptr, value: u32, count: usize) {}
            fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream) {}
            fn cuStreamCreate(stream: *mut CUstream, flags: u32) { unsafe { put(stream, CUstream(fresh())) } }
            fn cuStreamDestroy_v2(stream: CUstream) {}
            fn cuStreamSynchronize(stream: CUstream) {}
            fn cuStreamQuery(stream: CUstream) {}
            fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: u32) {}
            fn cuEventCreate(event: *mut CUevent, flags: u32) { unsafe { put(event, CUevent(fresh())) } }
            fn cuEventDestroy_v2(event: CUevent) {}
            fn cuEventRecord(event: CUevent, stream: CUstream) {}
            fn cuEventSynchronize(event: CUevent) {}
            fn cuEventQuery(event: CUevent) {}
            fn cuEventElapsedTime(ms: *mut f32, start: CUevent, end: CUevent) { unsafe { put(ms, 1.5) } }
            fn cuModuleLoadDataEx(
                module: *mut CUmodule, image: *const c_void, count: u32, options: *mut CUjit_option, values: *mut *mut c_void
            ) { unsafe { put(module, CUmodule(fresh())) } }
            fn cuModuleUnload(module: CUmodule) {}
            fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const std::ffi::c_char) { unsafe { put(function, CUfunction(fresh())) } }
            fn cuFuncGetAttribute(value: *mut i32, attribute: CUfunction_attribute, function: CUfunction) { unsafe { put(value, 1024) } }
            fn cuLaunchKernel(
                function: CUfunction, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: CUstream,
                parameters: *mut *mut c_void, extra: *mut *mut c_void
            ) {}
        }

        pub(crate) fn address_of(symbol: &Symbol) -> *const c_void {
            resolve(symbol)
        }
    }
    pub(crate) use table::address_of;
}

/// The fake, which says that it is CUDA 9.0 and has what is above.
pub(crate) fn driver() -> Driver {
    with_options(Library::options())
}

/// The same with a default stream for each thread.
pub(crate) fn driver_with_streams_of_threads() -> Driver {
    with_options(Library::options().per_thread_default_stream(true))
}

fn with_options(options: OpenOptions) -> Driver {
    // SAFETY: each address is a function of that name with the driver's signature, in this program.
    let library = unsafe { options.from_resolver("a fake", functions::address_of) };
    Driver::init(library.expect("the fake has a version")).expect("the fake initializes")
}
