//! A C library of arrays on the device, made with cuprum: what C or Python's ctypes can call and cannot crash.
//!
//! * An array is a number that is never given twice. One that was freed, or never was, is answered with a code.
//! * Each function answers a code; the text of the last error is kept per thread.
//! * A panic does not leave this library, a forked child is told so, and nothing has to be freed before the process ends.
//!
//! What C cannot be kept from is to pass an address where there is not as much memory as it says.
//! `include/arrays.h` is made of this file (`tests/header.rs`).

mod array;
mod code;
mod gpu;

use std::ffi::{c_char, c_void};

use array::Array;
use code::{answer, invalid};
use gpu::Gpu;

/// It is done.
pub const ARRAYS_OK: i32 = 0;
/// An argument makes no sense: a null pointer, a type that does not exist, an array that stands where it must not.
pub const ARRAYS_INVALID: i32 = 1;
/// There is no such array: it was freed, or never allocated.
pub const ARRAYS_NO_ARRAY: i32 = 2;
/// The array has another type.
pub const ARRAYS_WRONG_TYPE: i32 = 3;
/// The array has another length.
pub const ARRAYS_WRONG_LENGTH: i32 = 4;
/// The driver failed, or there is none.
pub const ARRAYS_DEVICE: i32 = 5;
/// The process is a fork of one that had used the device, which works in that one alone.
pub const ARRAYS_FORKED: i32 = 6;
/// An error of this library's own.
pub const ARRAYS_BUG: i32 = 7;

/// Type of elements: float.
pub const ARRAYS_F32: i32 = 1;
/// Type of elements: double.
pub const ARRAYS_F64: i32 = 2;
/// Type of elements: int32_t.
pub const ARRAYS_I32: i32 = 3;

/// Allocates an array of `len` elements, all zero, and writes its number to `array`. The number is never 0.
///
/// # Safety
/// `array` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_alloc(element: i32, len: usize, array: *mut u64) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        if array.is_null() {
            return Err(invalid("the place for the array's number is null"));
        }
        let made = gpu.context.enter(|cx| Array::zeroed(cx, element, len))??;
        let number = gpu.arrays().insert(made);
        // SAFETY: not null, so the caller's place for a number; written without asking for an alignment.
        unsafe { array.write_unaligned(number) };
        Ok(())
    })
}

/// Frees an array. Freeing it again is answered with ARRAYS_NO_ARRAY.
#[unsafe(no_mangle)]
pub extern "C" fn arrays_free(array: u64) -> i32 {
    answer(|| {
        let freed = Gpu::get()?.arrays().remove(array)?;
        freed.close()
    })
}

/// Writes the number of elements of an array to `len`.
///
/// # Safety
/// `len` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_len(array: u64, len: *mut usize) -> i32 {
    answer(|| {
        let found = Gpu::get()?.arrays().get(array)?.len();
        if len.is_null() {
            return Err(invalid("the place for the length is null"));
        }
        // SAFETY: not null, so the caller's place for a number.
        unsafe { len.write_unaligned(found) };
        Ok(())
    })
}

/// Copies `len` elements from the host into an array of exactly that type and length, and waits.
///
/// # Safety
/// `from` is null, or readable for `len` elements of this type, which no other thread writes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_copy_in(array: u64, element: i32, from: *const c_void, len: usize) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        let mut arrays = gpu.arrays();
        let array = arrays.get_mut(array)?;
        // SAFETY: the caller's word.
        gpu.context.enter(|cx| unsafe { array.copy_in(cx, element, from, len) })?
    })
}

/// Copies all elements of an array to the host, where there is room for `len` of this type, and waits.
///
/// # Safety
/// `to` is null, or writable for `len` elements of this type, which no other thread uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_copy_out(array: u64, element: i32, to: *mut c_void, len: usize) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        let arrays = gpu.arrays();
        let array = arrays.get(array)?;
        // SAFETY: the caller's word.
        gpu.context.enter(|cx| unsafe { array.copy_out(cx, element, to, len) })?
    })
}

/// Adds two arrays of floats into a third one, all of one length, and waits. The third is none of the others.
#[unsafe(no_mangle)]
pub extern "C" fn arrays_add(a: u64, b: u64, sum: u64) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        let mut arrays = gpu.arrays();
        if sum == a || sum == b {
            return Err(invalid("the sum needs an array of its own"));
        }
        // Taken out, to be borrowed beside the others.
        let mut taken = arrays.remove(sum)?;
        let done = arrays.get(a).and_then(|a| gpu.add(a, arrays.get(b)?, &mut taken));
        arrays.put_back(sum, taken);
        done
    })
}

/// Adds `len` floats of the host to `len` others on the device, and waits for the sums.
///
/// # Safety
/// `a` and `b` are null, or readable for `len` floats; `sum` is null, or writable for them. No other thread writes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn add_arrays(a: *const f32, b: *const f32, sum: *mut f32, len: usize) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        if array::overlap(a, sum, len) || array::overlap(b, sum, len) {
            return Err(invalid("the sums overlap what is added"));
        }
        // SAFETY: the caller's word.
        let a = unsafe { array::slice(a, len) }?;
        // SAFETY: the caller's word.
        let b = unsafe { array::slice(b, len) }?;
        // SAFETY: the caller's word; it overlaps neither.
        let sum = unsafe { array::slice_mut(sum, len) }?;
        gpu.add_host(a, b, sum)
    })
}

/// Writes the name of the device, and that of its driver, cut to `bytes` with a NUL at its end.
///
/// # Safety
/// `text` is null, or writable for `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_device(text: *mut c_char, bytes: usize) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        if text.is_null() {
            return Err(invalid("the place for the text is null"));
        }
        // SAFETY: the caller's word.
        unsafe { code::write_text(&gpu.name, text, bytes) };
        Ok(())
    })
}

/// Writes the text of this thread's last error, cut to `bytes` with a NUL at its end, and returns the bytes that all of it
/// needs, which is 1 if there was none. With a null pointer nothing is written.
///
/// # Safety
/// `text` is null, or writable for `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_last_error(text: *mut c_char, bytes: usize) -> usize {
    code::with_last(|last| {
        if !text.is_null() {
            // SAFETY: the caller's word.
            unsafe { code::write_text(last, text, bytes) };
        }
        last.len() + 1
    })
}
