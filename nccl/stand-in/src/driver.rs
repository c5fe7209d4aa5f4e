//! The driver on whose streams it works, and page-locked memory.

use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cuprum_sys::{CUcontext, CUresult, CUstreamCaptureMode, Fns, Library};

use crate::code;

static DRIVER: OnceLock<Library> = OnceLock::new();

/// Uses this driver, unless one is in use.
pub(crate) fn install(driver: Library) {
    DRIVER.get_or_init(|| driver);
}

/// The functions of the driver: of the one that was installed, or else of the machine's.
pub(crate) fn fns() -> Result<&'static Fns, i32> {
    if let Some(driver) = DRIVER.get() {
        return Ok(driver.fns());
    }
    let driver = Library::open().map_err(|error| crate::refuse(code::CUDA, &error.to_string()))?;
    Ok(DRIVER.get_or_init(|| driver).fns())
}

/// Turns an answer of the driver into a result.
pub(crate) fn check(call: &str, result: CUresult) -> Result<(), i32> {
    if result == CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(crate::refuse(code::CUDA, &format!("{call} answered {result:?}")))
    }
}

/// Runs `body` with a context current.
pub(crate) fn in_context<R>(context: CUcontext, body: impl FnOnce(&Fns) -> Result<R, i32>) -> Result<R, i32> {
    let (fns, mut popped) = (fns()?, CUcontext::null());
    // SAFETY: the context is one that the program had current, and lives as long as the
    // communicator by its word.
    check("cuCtxPushCurrent", unsafe { (fns.cuCtxPushCurrent_v2)(context) })?;
    let result = body(fns);
    // SAFETY: it was pushed above.
    check("cuCtxPopCurrent", unsafe { (fns.cuCtxPopCurrent_v2)(&raw mut popped) })?;
    result
}

/// Page-locked memory of one operation: a flag, the elements that go out, and the elements that
/// come in.
#[derive(Debug)]
pub(crate) struct Staging {
    host: *mut u8,
    device: u64,
    /// Bytes of each part.
    bytes: usize,
}

// SAFETY: its parts are used by one at a time: by the stream, by the host function, by the thread
// that receives.
unsafe impl Send for Staging {}
// SAFETY: as above; the flag is an atomic.
unsafe impl Sync for Staging {}

/// Bytes before the parts.
const HEAD: usize = 64;

impl Staging {
    /// Allocates it, in the current context.
    pub(crate) fn new(fns: &Fns, bytes: usize) -> Result<Self, i32> {
        let bytes = bytes.next_multiple_of(64).next_power_of_two();
        let (mut host, mut device) = (ptr::null_mut::<c_void>(), 0);
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // A capture of this thread may run, which has no part in this.
        // SAFETY: the place outlives the call.
        check("cuThreadExchangeStreamCaptureMode", unsafe {
            (fns.cuThreadExchangeStreamCaptureMode)(&raw mut mode)
        })?;
        // SAFETY: as above.
        let allocated = unsafe { (fns.cuMemHostAlloc)(&raw mut host, HEAD + 2 * bytes, 3) };
        // SAFETY: as above.
        check("cuThreadExchangeStreamCaptureMode", unsafe {
            (fns.cuThreadExchangeStreamCaptureMode)(&raw mut mode)
        })?;
        check("cuMemHostAlloc", allocated)?;
        // SAFETY: the memory was allocated for devices, too.
        check("cuMemHostGetDevicePointer", unsafe {
            (fns.cuMemHostGetDevicePointer_v2)(&raw mut device, host, 0)
        })?;
        let host = host.cast::<u8>();
        // SAFETY: it has so many bytes.
        unsafe { host.write_bytes(0, HEAD + 2 * bytes) };
        Ok(Self { host, device, bytes })
    }

    pub(crate) fn serves(&self, bytes: usize) -> bool {
        (bytes..=4 * bytes.max(64)).contains(&self.bytes)
    }

    pub(crate) fn free(self, fns: &Fns) {
        // SAFETY: it is not used again; its context is current.
        let _ = unsafe { (fns.cuMemFreeHost)(self.host.cast()) };
    }

    pub(crate) fn flag(&self) -> &AtomicU32 {
        // SAFETY: the first bytes are an aligned number that all use atomically.
        unsafe { AtomicU32::from_ptr(self.host.cast()) }
    }

    pub(crate) fn set(&self) {
        self.flag().store(1, Ordering::Release);
    }

    pub(crate) const fn flag_address(&self) -> u64 {
        self.device
    }

    pub(crate) fn outgoing(&self) -> *mut c_void {
        self.host.wrapping_add(HEAD).cast()
    }

    pub(crate) fn incoming(&self) -> *mut c_void {
        self.host.wrapping_add(HEAD + self.bytes).cast()
    }

    /// The elements that go out, in a host function after the copy.
    pub(crate) fn sent(&self, bytes: usize) -> Vec<u8> {
        let mut copy = vec![0; bytes.min(self.bytes)];
        // SAFETY: there are so many bytes, which the stream does not use at the moment.
        unsafe { ptr::copy_nonoverlapping(self.outgoing().cast::<u8>(), copy.as_mut_ptr(), copy.len()) };
        copy
    }

    /// Puts in the elements that came, before the flag is set.
    pub(crate) fn fill(&self, bytes: &[u8]) {
        // SAFETY: there is room for so many bytes, which the stream does not use before the flag is
        // set.
        unsafe {
            ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.incoming().cast::<u8>(),
                bytes.len().min(self.bytes),
            );
        };
    }
}
