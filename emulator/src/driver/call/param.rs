//! The checked parameters of C functions: outputs, inputs, text.

use core::ffi::{CStr, c_char, c_void};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};

use crate::driver::handle::Handle;

/// A parameter: its C type, and the type that the body of the function sees.
pub(crate) trait Param: Copy {
    type Raw;

    /// # Safety
    ///
    /// The caller of the driver function passed `raw` for this parameter, as the driver documents.
    unsafe fn from_raw(raw: Self::Raw) -> Self;
}

macro_rules! passed_as_is {
    ($($ty:ty),* $(,)?) => { $(
        impl Param for $ty {
            type Raw = $ty;

            unsafe fn from_raw(raw: $ty) -> $ty {
                raw
            }
        }
    )* };
}

passed_as_is!(
    u8,
    u16,
    u32,
    u64,
    usize,
    i32,
    f32,
    CUarray_format,
    CUdevice_attribute,
    CUdevice_P2PAttribute,
    CUfunc_cache,
    CUfunction_attribute,
    CUjitInputType,
    CUlimit,
    CUmemAccess_flags,
    CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType,
    CUmemPool_attribute,
    CUmem_advise,
    CUmem_range_attribute,
    CUpointer_attribute,
    CUresult,
    CUsharedconfig,
    CUstreamCaptureMode,
    CUlaunchAttributeID,
    CUlogsCallback,
    CUmemLocation,
    CUhostFn,
    CUstreamCallback,
    CUoccupancyB2DSize,
    CUexecAffinityType,
    CUmemAllocationType,
    CUgraphMem_attribute,
    CUipcEventHandle,
    CUipcMemHandle,
    CUoutput_mode,
    CUflushGPUDirectRDMAWritesTarget,
    CUflushGPUDirectRDMAWritesScope,
    CUdevResourceType,
    CUtensorMapDataType,
    CUtensorMapInterleave,
    CUtensorMapSwizzle,
    CUtensorMapL2promotion,
    CUtensorMapFloatOOBfill,
    CUtensorMapIm2ColWideMode,
    CUtensorMapAllocClass,
    CUGLDeviceList,
);

impl<H: Handle> Param for H {
    type Raw = H;

    unsafe fn from_raw(raw: H) -> H {
        raw
    }
}

impl<T> Param for *mut T {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> *mut T {
        raw
    }
}

impl<T> Param for *const T {
    type Raw = *const T;

    unsafe fn from_raw(raw: *const T) -> *const T {
        raw
    }
}

/// A pointer to an output: null, or valid for as many values as the function documents.
#[derive(Debug)]
pub(crate) struct Out<T>(*mut T);

// A derived implementation would require `T: Clone`, but `T` may be `void`.
impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Param for Out<T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        Self(raw)
    }
}

impl<T> Out<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Fails if the pointer is null.
    pub(crate) fn check(self) -> Answer {
        ensure(!self.0.is_null(), INVALID_VALUE)
    }
}

impl<T> Out<T> {
    pub(crate) fn nth(self, index: usize) -> Self {
        Self(self.0.wrapping_add(index))
    }
}

impl<T: Copy> Out<T> {
    pub(crate) fn set(self, value: T) -> Answer {
        self.check()?;
        self.set_if_wanted(value);
        Ok(())
    }

    /// Writes the result unless the caller passed null.
    pub(crate) fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so it is the caller's output by the contract of `Param::from_raw`.
            // Unaligned because C does not promise alignment.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Reads the value of a parameter that is both input and output.
    pub(crate) fn get(self) -> Answer<T> {
        self.check()?;
        // SAFETY: not null, and only called for parameters documented to hold a value on entry.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Writes several values; `room` is the number of values for which the caller has room.
    pub(crate) fn set_all(self, values: &[T], room: usize) -> Answer {
        if room > 0 && !values.is_empty() {
            self.check()?;
        }
        for (index, &value) in values.iter().take(room).enumerate() {
            self.nth(index).set_if_wanted(value);
        }
        Ok(())
    }
}

impl Out<*mut c_void> {
    /// Returns the output of another type that C passes as a `void *` in this array.
    pub(crate) fn at(self, index: usize) -> Answer<Out<c_void>> {
        Ok(Out(self.nth(index).get()?))
    }
}

impl Out<c_void> {
    /// Casts an output to the type that the documentation states.
    pub(crate) fn cast<T>(self) -> Out<T> {
        Out(self.0.cast())
    }
}

impl Out<c_char> {
    /// Writes text with its NUL into a buffer of `room` bytes, truncated if it does not fit.
    pub(crate) fn set_text(self, text: &str, room: usize) -> Answer {
        self.check()?;
        let Some(last) = room.checked_sub(1) else {
            return Err(INVALID_VALUE);
        };
        let bytes = text.bytes().take(last).chain([0]);
        for (index, byte) in bytes.enumerate() {
            self.nth(index).set_if_wanted(c_char::from_ne_bytes([byte]));
        }
        Ok(())
    }
}

/// A pointer to input: null, or valid for as many values as the function documents.
#[derive(Debug)]
pub(crate) struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> Param for In<T> {
    type Raw = *const T;

    unsafe fn from_raw(raw: *const T) -> Self {
        Self(raw)
    }
}

impl<T> In<T> {
    /// An array in a client's structure: null, or valid for as many values as that says.
    pub(crate) fn of(array: *const T) -> Self {
        Self(array)
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T: Copy> In<T> {
    /// Reads the value; fails if the pointer is null.
    pub(crate) fn get(self) -> Answer<T> {
        ensure(!self.0.is_null(), INVALID_VALUE)?;
        // SAFETY: not null, so readable by the contract of `Param::from_raw`.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads `count` values; fails if the pointer is null and the count is not zero.
    pub(crate) fn get_all(self, count: usize) -> Answer<Vec<T>> {
        let mut values = Vec::new();
        for index in 0..count {
            ensure(!self.0.is_null(), INVALID_VALUE)?;
            values.push(Self(self.0.wrapping_add(index)).get()?);
        }
        Ok(values)
    }
}

/// An array that the function only reads, although C declares it `T *`.
#[derive(Debug)]
pub(crate) struct InMut<T>(*mut T);

impl<T> Clone for InMut<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for InMut<T> {}

impl<T> Param for InMut<T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        Self(raw)
    }
}

impl<T: Copy> InMut<T> {
    pub(crate) fn input(self) -> In<T> {
        In(self.0)
    }

    /// Returns the same address as an output, for structures with one output field.
    pub(crate) fn output(self) -> Out<T> {
        Out(self.0)
    }
}

/// A NUL-terminated string of the caller, or null.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Param for Text {
    type Raw = *const c_char;

    unsafe fn from_raw(raw: *const c_char) -> Self {
        Self(raw)
    }
}

impl Text {
    /// Returns the string; fails if it is null. Replaces bytes that are not UTF-8.
    pub(crate) fn get(self) -> Answer<String> {
        ensure(!self.0.is_null(), INVALID_VALUE)?;
        // SAFETY: not null, so it is a NUL-terminated string by the contract of `Param::from_raw`.
        // The caller does not change it during the call.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }
}

/// Writes the handle of a new object.
pub(crate) fn put_handle<H: Handle>(out: Out<H>, handle: usize) -> Answer {
    out.set(H::from_addr(handle))
}
