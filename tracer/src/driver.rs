//! The real driver.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::OnceLock;

use cuprum_sys::{CUcontext, CUresult, FnId, Fns, Library, StreamMode, environment};

use crate::variables;

/// The real driver.
pub(crate) struct Driver {
    pub(crate) legacy: Library,
    pub(crate) per_thread: Library,
}

/// The driver; `None` if it cannot be opened, which is reported once.
pub(crate) fn driver() -> Option<&'static Driver> {
    static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
    thread_local! {
        static OPENING: Cell<bool> = const { Cell::new(false) };
    }
    // A driver that calls us while it is opened has none to be forwarded to yet.
    if OPENING.get() {
        return None;
    }
    let driver = DRIVER.get_or_init(|| {
        OPENING.set(true);
        let opened = open();
        OPENING.set(false);
        if let Err(why) = &opened {
            // A program that was started on this library has no driver, and nothing else reports
            // the cause.
            eprintln!("cuprum trace: the driver that calls are forwarded to is not there: {why}");
        }
        opened.ok()
    });
    driver.as_ref()
}

/// Functions of the real driver.
pub(crate) fn functions(mode: StreamMode) -> &'static Fns {
    match (driver(), mode) {
        (Some(driver), StreamMode::Legacy) => driver.legacy.fns(),
        (Some(driver), StreamMode::PerThread) => driver.per_thread.fns(),
        (None, _) => const { &Fns::STUBS },
    }
}

/// The driver's version as it writes it; 0 if there is none.
pub(crate) fn version() -> u32 {
    driver().map_or(0, |driver| driver.legacy.version().as_raw())
}

/// True if the driver has a function.
pub(crate) fn has(function: FnId) -> bool {
    driver().is_some_and(|driver| driver.legacy.has(function))
}

/// The result that a program gets if the driver lacks a function, or if there is no driver.
pub(crate) fn answer(result: CUresult) -> CUresult {
    match result {
        CUresult::UNRESOLVED if driver().is_none() => CUresult::CUDA_ERROR_NO_DEVICE,
        CUresult::UNRESOLVED => CUresult::CUDA_ERROR_NOT_SUPPORTED,
        result => result,
    }
}

/// The context that is current on this thread.
pub(crate) fn current_context() -> u64 {
    let mut context = CUcontext::null();
    // SAFETY: a place for the answer, which stays null if there is none.
    let _ = unsafe { (functions(StreamMode::Legacy).cuCtxGetCurrent)(&mut context) };
    context.0.addr() as u64
}

unsafe extern "C" {
    /// The function that this library exports.
    fn cuInit(flags: c_uint) -> CUresult;
}

fn open() -> Result<Driver, String> {
    let path = environment::variable(variables::DRIVER)
        .ok_or_else(|| format!("{} does not name it; `cuprum trace` does", variables::DRIVER))?;
    let path = Path::new(&path);
    if !path.is_absolute() {
        return Err(format!("{} is no absolute path, and could lead back here", path.display()));
    }
    if keep_to_itself(path) == Some(cuInit as *const c_void) {
        return Err(format!("{} is this library itself", path.display()));
    }
    let open = |per_thread| {
        let options = Library::options().per_thread_default_stream(per_thread);
        // SAFETY: the user who set the variable vouches that this is a CUDA driver.
        unsafe { options.open_from(path) }.map_err(|error| error.to_string())
    };
    let (legacy, per_thread) = (open(false)?, open(true)?);
    Ok(Driver { legacy, per_thread })
}

/// Opens the driver so that it uses its own functions, whatever this process exports under their
/// names. It stays open. Returns the address of its `cuInit`.
fn keep_to_itself(path: &Path) -> Option<*const c_void> {
    const RTLD_NOW: c_int = 2;
    const RTLD_DEEPBIND: c_int = 8;
    unsafe extern "C" {
        fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    let path = CString::new(path.as_os_str().as_encoded_bytes()).ok()?;
    // SAFETY: runs the initializers of a driver, as opening it again does. A failure is reported
    // there.
    let library = unsafe { dlopen(path.as_ptr(), RTLD_NOW | RTLD_DEEPBIND) };
    if library.is_null() {
        return None;
    }
    // SAFETY: an open library, and a C string.
    Some(unsafe { dlsym(library, c"cuInit".as_ptr()) }.cast_const())
}
