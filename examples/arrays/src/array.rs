//! Arrays whose element type is known only at run time, and the table of their numbers.

use std::collections::HashMap;
use std::ffi::c_void;
use std::slice;

use cuprum::memory::DeviceData;
use cuprum::{Buffer, Current};

use crate::code::{Failure, invalid};
use crate::{ARRAYS_F32, ARRAYS_F64, ARRAYS_I32, ARRAYS_NO_ARRAY, ARRAYS_WRONG_LENGTH, ARRAYS_WRONG_TYPE};

/// An array on the device.
#[derive(Debug)]
pub(crate) enum Array {
    F32(Buffer<'static, f32>),
    F64(Buffer<'static, f64>),
    I32(Buffer<'static, i32>),
}

/// Runs an expression with the buffer of an array of any type.
macro_rules! each {
    ($array:expr, $buffer:ident => $body:expr) => {
        match $array {
            Array::F32($buffer) => $body,
            Array::F64($buffer) => $body,
            Array::I32($buffer) => $body,
        }
    };
}

impl Array {
    pub(crate) fn zeroed(cx: &Current<'_, 'static>, element: i32, len: usize) -> Result<Self, Failure> {
        Ok(match element {
            ARRAYS_F32 => Self::F32(Buffer::zeroed(cx, len)?),
            ARRAYS_F64 => Self::F64(Buffer::zeroed(cx, len)?),
            ARRAYS_I32 => Self::I32(Buffer::zeroed(cx, len)?),
            _ => return Err(invalid(&format!("there is no type of elements {element}"))),
        })
    }

    pub(crate) fn len(&self) -> usize {
        each!(self, buffer => buffer.len())
    }

    /// The buffer, if its elements are floats.
    pub(crate) fn floats(&self) -> Result<&Buffer<'static, f32>, Failure> {
        let Self::F32(buffer) = self else { return Err(self.wrong_type(ARRAYS_F32)) };
        Ok(buffer)
    }

    /// The same, to be written.
    pub(crate) fn floats_mut(&mut self) -> Result<&mut Buffer<'static, f32>, Failure> {
        match self {
            Self::F32(buffer) => Ok(buffer),
            _ => Err(self.wrong_type(ARRAYS_F32)),
        }
    }

    /// Copies from the host.
    ///
    /// # Safety
    /// `from` is null, or readable for `len` elements of the type `element`, which are not written
    /// during the call.
    pub(crate) unsafe fn copy_in(
        &mut self,
        cx: &Current<'_, '_>,
        element: i32,
        from: *const c_void,
        len: usize,
    ) -> Result<(), Failure> {
        self.check(element, len)?;
        // SAFETY: the caller guarantees the type and the length.
        each!(self, buffer => Ok(cx.copy(buffer, unsafe { slice(from.cast(), len) }?)?))
    }

    /// Copies to the host.
    ///
    /// # Safety
    /// `to` is null, or writable for `len` elements of the type `element`, which are not used
    /// otherwise during the call.
    pub(crate) unsafe fn copy_out(
        &self,
        cx: &Current<'_, '_>,
        element: i32,
        to: *mut c_void,
        len: usize,
    ) -> Result<(), Failure> {
        self.check(element, len)?;
        // SAFETY: the caller guarantees the type and the length.
        each!(self, buffer => Ok(cx.copy(unsafe { slice_mut(to.cast(), len) }?, &buffer)?))
    }

    /// Frees it, and returns the driver's error.
    pub(crate) fn close(self) -> Result<(), Failure> {
        each!(self, buffer => Ok(buffer.close()?))
    }

    fn element(&self) -> i32 {
        match self {
            Self::F32(_) => ARRAYS_F32,
            Self::F64(_) => ARRAYS_F64,
            Self::I32(_) => ARRAYS_I32,
        }
    }

    fn wrong_type(&self, wanted: i32) -> Failure {
        let text = format!("the array has elements of type {}, not {wanted}", self.element());
        Failure::new(ARRAYS_WRONG_TYPE, text)
    }

    fn check(&self, element: i32, len: usize) -> Result<(), Failure> {
        if element != self.element() {
            return Err(self.wrong_type(element));
        }
        same_length(self.len(), len)
    }
}

/// Fails unless both lengths are one.
pub(crate) fn same_length(len: usize, other: usize) -> Result<(), Failure> {
    if len == other {
        return Ok(());
    }
    Err(Failure::new(ARRAYS_WRONG_LENGTH, format!("the array has {len} elements, not {other}")))
}

/// Memory of C's.
///
/// # Safety
/// `from` is null, or readable for `len` elements, which are not written during the call.
pub(crate) unsafe fn slice<'a, T: DeviceData>(from: *const T, len: usize) -> Result<&'a [T], Failure> {
    check_memory(from, len)?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: guaranteed by the caller, and not null, aligned, and no larger than an allocation can
    // be.
    Ok(unsafe { slice::from_raw_parts(from, len) })
}

/// Memory of C's, to be written.
///
/// # Safety
/// `to` is null, or writable for `len` elements, which are not used otherwise during the call.
pub(crate) unsafe fn slice_mut<'a, T: DeviceData>(to: *mut T, len: usize) -> Result<&'a mut [T], Failure> {
    check_memory(to, len)?;
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: guaranteed by the caller, not null, aligned, and no larger than an allocation can be;
    // any bytes are valid elements of these types.
    Ok(unsafe { slice::from_raw_parts_mut(to, len) })
}

/// Checks that are possible for an address.
fn check_memory<T>(at: *const T, len: usize) -> Result<(), Failure> {
    if at.is_null() && len > 0 {
        return Err(invalid("the address of the elements is null"));
    }
    if !at.is_aligned() {
        return Err(invalid("the elements are not aligned"));
    }
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(invalid("no memory has that many elements")),
    }
}

/// True if two pieces of memory have a byte in common.
pub(crate) fn overlap<T>(a: *const T, b: *const T, len: usize) -> bool {
    a.addr().abs_diff(b.addr()) < len.saturating_mul(size_of::<T>())
}

/// All arrays, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    arrays: HashMap<u64, Array>,
    last: u64,
}

impl Arrays {
    /// Gives an array a number that was never used.
    pub(crate) fn insert(&mut self, array: Array) -> u64 {
        self.last += 1;
        self.arrays.insert(self.last, array);
        self.last
    }

    pub(crate) fn get(&self, number: u64) -> Result<&Array, Failure> {
        self.arrays.get(&number).ok_or_else(|| missing(number, self.last))
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Result<&mut Array, Failure> {
        let last = self.last;
        self.arrays.get_mut(&number).ok_or_else(|| missing(number, last))
    }

    pub(crate) fn remove(&mut self, number: u64) -> Result<Array, Failure> {
        self.arrays.remove(&number).ok_or_else(|| missing(number, self.last))
    }

    /// Puts a removed array back, under its number.
    pub(crate) fn put_back(&mut self, number: u64, array: Array) {
        self.arrays.insert(number, array);
    }
}

/// The error of a missing array, where `last` is the greatest number so far.
fn missing(number: u64, last: u64) -> Failure {
    let why = if (1..=last).contains(&number) { "was freed" } else { "never was" };
    Failure::new(ARRAYS_NO_ARRAY, format!("there is no array {number}: it {why}"))
}
