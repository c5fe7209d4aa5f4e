//! A C library of device arrays, built with cuprum. Calls from C or Python's ctypes cannot crash
//! it.
//!
//! * An array is a number that is never reused. A freed or unknown number returns an error code.
//! * Each function returns a code. The message of the last error is kept per thread.
//! * A panic does not leave this library, a forked child gets an error code, and the process can
//!   end without freeing.
//!
//! The library cannot detect a pointer to less memory than the caller states.
//! `include/arrays.h` is generated from this file (`tests/header.rs`).

mod array;
mod code;
mod gpu;

use std::ffi::{c_char, c_void};

use array::Array;
use code::{answer, invalid};
use gpu::Gpu;

/// Success.
pub const ARRAYS_OK: i32 = 0;
/// An argument is invalid: a null pointer, an unknown type, or an array in a place where it is not
/// allowed.
pub const ARRAYS_INVALID: i32 = 1;
/// The array does not exist: it was freed, or never allocated.
pub const ARRAYS_NO_ARRAY: i32 = 2;
/// The array has another type.
pub const ARRAYS_WRONG_TYPE: i32 = 3;
/// The array has another length.
pub const ARRAYS_WRONG_LENGTH: i32 = 4;
/// The driver failed, or there is none.
pub const ARRAYS_DEVICE: i32 = 5;
/// The process is a fork of one that used the device. Only the parent can use it.
pub const ARRAYS_FORKED: i32 = 6;
/// An internal error of this library.
pub const ARRAYS_BUG: i32 = 7;

/// Type of elements: float.
pub const ARRAYS_F32: i32 = 1;
/// Type of elements: double.
pub const ARRAYS_F64: i32 = 2;
/// Type of elements: int32_t.
pub const ARRAYS_I32: i32 = 3;

/// Allocates an array of `len` elements, all zero, and writes its number to `array`. The number is
/// never 0.
///
/// # Safety
/// `array` is null or writable for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_alloc(element: i32, len: usize, array: *mut u64) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        if array.is_null() {
            return Err(invalid("the place for the array's number is null"));
        }
        let made = gpu.context.enter_as(|cx| Array::zeroed(cx, element, len))?;
        let number = gpu.arrays().insert(made);
        // SAFETY: not null, so the caller guarantees that it is writable; the write requires no
        // alignment.
        unsafe { array.write_unaligned(number) };
        Ok(())
    })
}

/// Frees an array. A second call returns ARRAYS_NO_ARRAY.
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
/// `len` is null or writable for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_len(array: u64, len: *mut usize) -> i32 {
    answer(|| {
        let found = Gpu::get()?.arrays().get(array)?.len();
        if len.is_null() {
            return Err(invalid("the place for the length is null"));
        }
        // SAFETY: not null, so the caller guarantees that it is writable.
        unsafe { len.write_unaligned(found) };
        Ok(())
    })
}

/// Copies `len` elements from the host into an array of exactly that type and length, and waits.
///
/// # Safety
/// `from` is null, or readable for `len` elements of this type, which no other thread writes
/// meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_copy_in(array: u64, element: i32, from: *const c_void, len: usize) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        let mut arrays = gpu.arrays();
        let array = arrays.get_mut(array)?;
        // SAFETY: guaranteed by the caller.
        gpu.context.enter_as(|cx| unsafe { array.copy_in(cx, element, from, len) })
    })
}

/// Copies all elements of an array to the host, where there is room for `len` of this type, and
/// waits.
///
/// # Safety
/// `to` is null, or writable for `len` elements of this type, which no other thread uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_copy_out(array: u64, element: i32, to: *mut c_void, len: usize) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        let arrays = gpu.arrays();
        let array = arrays.get(array)?;
        // SAFETY: guaranteed by the caller.
        gpu.context.enter_as(|cx| unsafe { array.copy_out(cx, element, to, len) })
    })
}

/// Adds two arrays of floats into a third one, all of one length, and waits. The third is none of
/// the others.
#[unsafe(no_mangle)]
pub extern "C" fn arrays_add(a: u64, b: u64, sum: u64) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        let mut arrays = gpu.arrays();
        if sum == a || sum == b {
            return Err(invalid("the sum needs an array of its own"));
        }
        // Removed from the table, so that it can be borrowed together with the others.
        let mut taken = arrays.remove(sum)?;
        let done = arrays.get(a).and_then(|a| gpu.add(a, arrays.get(b)?, &mut taken));
        arrays.put_back(sum, taken);
        done
    })
}

/// Adds `len` floats of the host to `len` others on the device, and waits for the sums.
///
/// # Safety
/// `a` and `b` are null, or readable for `len` floats; `sum` is null, or writable for them. No
/// other thread writes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn add_arrays(a: *const f32, b: *const f32, sum: *mut f32, len: usize) -> i32 {
    answer(|| {
        let gpu = Gpu::get()?;
        if array::overlap(a, sum, len) || array::overlap(b, sum, len) {
            return Err(invalid("the sums overlap what is added"));
        }
        // SAFETY: guaranteed by the caller.
        let a = unsafe { array::slice(a, len) }?;
        // SAFETY: guaranteed by the caller.
        let b = unsafe { array::slice(b, len) }?;
        // SAFETY: guaranteed by the caller; it overlaps neither.
        let sum = unsafe { array::slice_mut(sum, len) }?;
        gpu.add_host(a, b, sum)
    })
}

/// Writes the names of the device and its driver, cut to `bytes` with a NUL at the end.
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
        // SAFETY: guaranteed by the caller.
        unsafe { code::write_text(&gpu.name, text, bytes) };
        Ok(())
    })
}

/// Writes the text of this thread's last error, cut to `bytes` with a NUL at the end, and returns
/// the bytes that the whole text needs, which is 1 without an error. With a null pointer nothing is
/// written.
///
/// # Safety
/// `text` is null, or writable for `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrays_last_error(text: *mut c_char, bytes: usize) -> usize {
    code::with_last(|last| {
        if !text.is_null() {
            // SAFETY: guaranteed by the caller.
            unsafe { code::write_text(last, text, bytes) };
        }
        last.len() + 1
    })
}
