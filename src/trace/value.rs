//! Arguments as text, and what calls gave.

use std::ffi::{CStr, c_char};

use cuprum_sys::FnId;
use cuprum_sys::hook::{Argument, Call};

/// The most characters of a text that is written down.
const CHARACTERS: usize = 120;

/// Functions whose first parameter is an array, which may be empty.
const ARRAYS: &[FnId] = &[
    FnId::cuDeviceGetHostAtomicCapabilities,
    FnId::cuDeviceGetP2PAtomicCapabilities,
    FnId::cuModuleEnumerateFunctions,
    FnId::cuLibraryEnumerateKernels,
    FnId::cuMemcpyBatchAsync,
    FnId::cuMemcpyBatchAsync_v2,
    FnId::cuMemPrefetchBatchAsync,
    FnId::cuMemDiscardBatchAsync,
    FnId::cuMemDiscardAndPrefetchBatchAsync,
];

/// What a call gave through its first parameter.
pub(super) struct Given {
    pub(super) word: u64,
    pub(super) text: String,
}

/// The value of an argument: C strings as they read, handles and pointers as addresses.
pub(super) fn written(argument: &Argument<'_>) -> String {
    match argument.ty() {
        "*const c_char" => text_at(argument.word()),
        ty if ty.starts_with('*') => address(argument.word()),
        ty if is_handle(ty) => address(argument.word()),
        _ => format!("{argument:?}"),
    }
}

/// Handles and device addresses: eight bytes that are read as an address.
fn is_handle(ty: &str) -> bool {
    matches!(
        ty,
        "CUcontext"
            | "CUmodule"
            | "CUfunction"
            | "CUlibrary"
            | "CUkernel"
            | "CUarray"
            | "CUmipmappedArray"
            | "CUevent"
            | "CUstream"
            | "CUgraph"
            | "CUgraphNode"
            | "CUgraphExec"
            | "CUmemoryPool"
            | "CUlinkState"
            | "CUexternalMemory"
            | "CUexternalSemaphore"
            | "CUuserObject"
            | "CUgreenCtx"
            | "CUgraphicsResource"
            | "CUtexObject"
            | "CUsurfObject"
            | "CUdeviceptr"
            | "CUmemGenericAllocationHandle"
    )
}

fn address(word: u64) -> String {
    if word == 0 { "null".to_owned() } else { format!("{word:#x}") }
}

/// A C string, quoted.
fn text_at(word: u64) -> String {
    if word == 0 {
        return address(word);
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

/// What a call that succeeded gave through its first parameter, if that is a pointer to one handle or number.
pub(super) fn given(call: &Call<'_>) -> Option<Given> {
    let first = call.arguments().next()?;
    let ty = first.ty().strip_prefix("*mut ")?;
    if first.word() == 0 || ARRAYS.contains(&call.function()) {
        return None;
    }
    let place = std::ptr::with_exposed_provenance::<u8>(first.word() as usize);
    macro_rules! read {
        ($ty:ty) => {{
            // SAFETY: not null and no array: by the driver API one value of this type, which the call has just written.
            unsafe { place.cast::<$ty>().read_unaligned() }
        }};
    }
    Some(match ty {
        "i32" | "CUdevice" => {
            let number = read!(i32);
            Given { word: u64::from(number.unsigned_abs()), text: number.to_string() }
        }
        "u32" => {
            let number = read!(u32);
            Given { word: number.into(), text: number.to_string() }
        }
        "usize" => {
            let number = read!(u64);
            Given { word: number, text: number.to_string() }
        }
        "f32" => Given { word: 0, text: read!(f32).to_string() },
        ty if is_handle(ty) => {
            let word = read!(u64);
            Given { word, text: address(word) }
        }
        _ => return None,
    })
}

/// The name of the kernel that a call gives.
pub(super) fn kernel_name(call: &Call<'_>) -> Option<String> {
    match call.function() {
        FnId::cuModuleGetFunction | FnId::cuLibraryGetKernel => {
            let name = call.arguments().nth(2)?;
            Some(text_at(name.word()).trim_matches('"').to_owned())
        }
        _ => None,
    }
}

/// The handle of the function or kernel that a call is about, if it is told.
pub(super) fn kernel(call: &Call<'_>) -> Option<u64> {
    let mut handles = call.arguments().filter(|argument| matches!(argument.ty(), "CUfunction" | "CUkernel"));
    handles.next().map(|argument| argument.word())
}
