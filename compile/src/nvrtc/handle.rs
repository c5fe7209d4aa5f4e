//! Handles and callbacks of NVRTC, and calls of its functions.

use core::ffi::c_void;

cuprum_sys::c_handles! {
    /// A program: source that is, or was, compiled.
    nvrtcProgram,
}

/// Callback that decides, during compilation, whether to go on: 1 cancels, 0 goes on. It must be
/// thread-safe, return 1 forever after the first 1, and call nothing of NVRTC. The second argument
/// is null. CUDA 12.8+.
pub type nvrtcFlowCallback =
    Option<unsafe extern "C" fn(payload: *mut c_void, reserved: *mut c_void) -> core::ffi::c_int>;

/// Calls a function of NVRTC's table and names it: `(nvrtcResult, nvrtc::FnId)`, after one indirect
/// call.
///
/// ```
/// # use cuprum_compile::{nvrtc, nvrtc_call};
/// let (mut major, mut minor) = (0, 0);
/// // SAFETY: a stub touches nothing.
/// let (result, function) = unsafe { nvrtc_call!(&nvrtc::Fns::STUBS, nvrtcVersion(&mut major, &mut minor)) };
/// assert_eq!(result, nvrtc::nvrtcResult::UNRESOLVED);
/// assert_eq!(function, nvrtc::FnId::nvrtcVersion);
/// ```
#[macro_export]
macro_rules! nvrtc_call {
    ($fns:expr, $name:ident($($arg:expr),* $(,)?)) => {
        (($fns.$name)($($arg),*), $crate::nvrtc::FnId::$name)
    };
}
pub(crate) use nvrtc_call;
