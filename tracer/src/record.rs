//! Calls, recorded on their way to the driver.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::hook::{Argument, Call};
use cuprum_sys::{CUfunction, CUkernel, CUresult, FnId, StreamMode};

use crate::driver;
use crate::extras;
use crate::format::{call as place, extra, kind};
use crate::os;
use crate::segment::Record;
use crate::times;

/// Passes a call on, and records it.
pub(crate) fn write_down(
    call: &Call<'_>,
    per_thread: bool,
    pass_on: &mut dyn FnMut() -> CUresult,
) -> CUresult {
    let function = call.function();
    name_kernel(call);
    let Some(mut record) = Record::new(kind::CALL) else { return pass_on() };
    let what = function as u64 | if per_thread { place::PER_THREAD } else { 0 };
    record.push(what);
    record.push(0);
    record.push(0);
    record.push(0);
    call.arguments().for_each(|argument| record.push(argument.word()));
    call.arguments().enumerate().for_each(|(number, argument)| push_text(&mut record, number, &argument));
    let stream = extras::push(&mut record, call);
    let mode = if per_thread { StreamMode::PerThread } else { StreamMode::Legacy };
    let measured = times::begin(call, stream, mode);
    // Last, so that the time of writing is not included.
    let start = os::now();
    record.set(place::START, start);
    let open = record.leave_open();
    let result = pass_on();
    let end = os::now();
    let mut what = what | place::RETURNED | u64::from(result.0) << 32;
    let mut gave = 0;
    if result == CUresult::CUDA_SUCCESS {
        // SAFETY: the call has been passed on, and succeeded.
        if let Some(given) = unsafe { call.given() } {
            (gave, what) = (given, what | place::HAS_GIVEN);
        }
        if matches!(call.function(), FnId::cuModuleGetFunction | FnId::cuLibraryGetKernel) {
            NAMED.add(gave);
        }
    }
    open.complete(&[(place::END, end), (place::GAVE, gave), (place::WHAT, what)]);
    if let (Some(measured), CUresult::CUDA_SUCCESS) = (measured, result) {
        times::end(measured, function, mode, start);
    }
    if result == CUresult::CUDA_SUCCESS {
        times::after_wait(function);
    }
    result
}

/// The maximum number of bytes of a recorded text.
const TEXT_BYTES: usize = 160;

/// Adds an argument's text, if it is a C string.
fn push_text(record: &mut Record, number: usize, argument: &Argument<'_>) {
    if argument.ty() != "*const c_char" || argument.word() == 0 {
        return;
    }
    let start = ptr::with_exposed_provenance::<c_char>(argument.word() as usize);
    // SAFETY: not null, and so by the driver API a C string that lives as long as the call.
    let text = unsafe { CStr::from_ptr(start) }.to_bytes();
    let text = &text[..text.len().min(TEXT_BYTES)];
    if record.room() > text.len().div_ceil(8) {
        record.push(extra::TEXT | (number as u64) << 8 | (text.len() as u64) << 32);
        record.push_bytes(text);
    }
}

/// Handles of kernels whose names are in the files.
static NAMED: Handles = Handles([const { AtomicU64::new(0) }; 4096]);

/// A set that only grows, up to its size.
struct Handles([AtomicU64; 4096]);

impl Handles {
    /// The place of a handle, or where it would be; `None` if there is no room near it.
    fn place(&self, handle: u64) -> Option<&AtomicU64> {
        let first = (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize;
        let places = (first..first + 16).map(|place| &self.0[place % self.0.len()]);
        places.into_iter().find(|place| {
            matches!(place.load(Ordering::Relaxed), 0) || place.load(Ordering::Relaxed) == handle
        })
    }

    fn add(&self, handle: u64) {
        if let Some(place) = self.place(handle) {
            let _ = place.compare_exchange(0, handle, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// True if a handle is known, or there is no room to remember it.
    fn has(&self, handle: u64) -> bool {
        self.place(handle).is_none_or(|place| place.load(Ordering::Relaxed) == handle)
    }
}

/// Asks the driver for the name of a launched kernel that the program did not look up by name.
fn name_kernel(call: &Call<'_>) {
    if !extras::is_launch(call.function()) {
        return;
    }
    let mut handles = call.arguments().filter(|argument| argument.ty() == "CUfunction");
    let Some(handle) = handles.next().map(|argument| argument.word()) else { return };
    if handle == 0 || NAMED.has(handle) {
        return;
    }
    NAMED.add(handle);
    let mut name = ptr::null();
    let fns = driver::functions(StreamMode::Legacy);
    let pointer = ptr::with_exposed_provenance_mut::<c_void>(handle as usize);
    let mut result = CUresult::UNRESOLVED;
    if driver::has(FnId::cuFuncGetName) {
        // SAFETY: a place for the answer; the program is about to launch the function.
        result = unsafe { (fns.cuFuncGetName)(&mut name, CUfunction(pointer)) };
    }
    if result != CUresult::CUDA_SUCCESS && driver::has(FnId::cuKernelGetName) {
        // SAFETY: likewise: a launch takes a kernel in place of a function.
        result = unsafe { (fns.cuKernelGetName)(&mut name, CUkernel(pointer)) };
    }
    if result != CUresult::CUDA_SUCCESS || name.is_null() {
        return;
    }
    // SAFETY: the driver's text, which lives as long as the function.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let name = &name[..name.len().min(TEXT_BYTES)];
    if let Some(mut record) = Record::new(kind::KERNEL) {
        record.push(handle);
        record.push(name.len() as u64);
        record.push_bytes(name);
        record.finish();
    }
}
