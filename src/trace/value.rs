//! Arguments as text, and what calls gave.

use std::ffi::{CStr, c_char};

use cuprum_sys::FnId;
use cuprum_sys::hook::{Argument, Call};

/// The most characters of a text that is written down.
const CHARACTERS: usize = 120;

/// The value of an argument: C strings as they read, handles and pointers as addresses.
pub(super) fn written(argument: &Argument<'_>) -> String {
    match argument.parameter() {
        parameter if parameter.ty() == "*const c_char" => text_at(argument),
        parameter if parameter.is_address() => parameter.text(argument.word()),
        _ => format!("{argument:?}"),
    }
}

/// A C string, quoted.
fn text_at(argument: &Argument<'_>) -> String {
    let word = argument.word();
    if word == 0 {
        return argument.parameter().text(word);
    }
    let start = std::ptr::with_exposed_provenance::<c_char>(word as usize);
    // SAFETY: not null, and so by the driver API a C string that lives as long as the call.
    let text = unsafe { CStr::from_ptr(start) }.to_string_lossy();
    let mut shown: String = text.chars().take(CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// The name of the kernel that a call gives.
pub(super) fn kernel_name(call: &Call<'_>) -> Option<String> {
    match call.function() {
        FnId::cuModuleGetFunction | FnId::cuLibraryGetKernel => {
            let name = call.arguments().nth(2)?;
            Some(text_at(&name).trim_matches('"').to_owned())
        }
        _ => None,
    }
}

/// The handle of the function or kernel that a call is about, if it is told.
pub(super) fn kernel(call: &Call<'_>) -> Option<u64> {
    let mut handles = call.arguments().filter(|argument| matches!(argument.ty(), "CUfunction" | "CUkernel"));
    handles.next().map(|argument| argument.word())
}
