//! Borrowed parts of device memory.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::{CUdeviceptr, FnId};

use super::extent::resolve;
use super::place::kind::kinds;
use super::place::place;
use super::run::run;
use super::{DeviceData, MemoryError, bytes_of, copy};
use crate::context::{ContextRef, Current};
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::owner::context;

/// Borrows elements of device memory to read. `Copy`.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Buffer;
///
/// let numbers = Buffer::from_slice(&cx, &[1u32, 2, 3, 4])?;
/// let (left, right) = numbers.as_slice().split_at(2).ok_or("outside")?;
/// assert_eq!((left.to_vec(&cx)?, right.to_vec(&cx)?), (vec![1, 2], vec![3, 4]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Slice<'a, T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    context: Near<'a, ContextRef>,
    _elements: PhantomData<&'a [T]>,
}

/// Borrows elements of device memory exclusively, to write.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Buffer;
///
/// let mut numbers = Buffer::from_slice(&cx, &[1u32, 2, 3, 4])?;
/// let (mut left, right) = numbers.as_mut_slice().into_split_at(2).ok_or("outside")?;
/// cx.copy(&mut left, &right)?;
/// assert_eq!(numbers.to_vec(&cx)?, [3, 4, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SliceMut<'a, T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    context: Near<'a, ContextRef>,
    _elements: PhantomData<&'a mut [T]>,
}

/// Common methods of both kinds of slices.
macro_rules! common {
    ($slice:ident) => {
        impl<'a, T: DeviceData> $slice<'a, T> {
            pub(crate) const fn new(address: CUdeviceptr, len: usize, context: Near<'a, ContextRef>) -> Self {
                Self { address, len, context, _elements: PhantomData }
            }

            context!(|this| &this.context);

            pub(crate) const fn near(&self) -> Near<'a, ContextRef> {
                self.context
            }
        }

        debug!([T: DeviceData] $slice<'_, T>: |this| "{:#x}, {} elements", this.address, this.len);
    };
}

common!(Slice);
common!(SliceMut);

run!(Slice<'_, T>, with parts);
run!(SliceMut<'_, T>);

impl<T: DeviceData> Slice<'_, T> {
    /// Splits the elements before `middle`. Returns `None` if there are fewer than `middle`.
    #[inline]
    pub fn split_at(self, middle: usize) -> Option<(Self, Self)> {
        Some((self.slice(..middle)?, self.slice(middle..)?))
    }

    /// Copies the elements to a new vector. Blocks until the copy is complete.
    ///
    /// # Errors
    /// Same as [`Current::copy`]; [`MemoryError::TooLarge`] if the host does not have enough
    /// memory.
    ///
    /// Driver: `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoH_v2")]
    #[inline]
    pub fn to_vec(self, cx: &Current<'_, '_>) -> Result<Vec<T>, MemoryError> {
        let mut host = Vec::new();
        let no_room = |_| MemoryError::TooLarge { len: self.len, element_bytes: size_of::<T>() };
        host.try_reserve_exact(self.len).map_err(no_room)?;
        // SAFETY: the vector's spare capacity has room for `len` elements.
        unsafe { self.read_into(cx, host.as_mut_ptr()) }?;
        // SAFETY: the copy has initialized `len` elements, and any bytes are a `T`.
        unsafe { host.set_len(self.len) };
        Ok(host)
    }

    /// # Safety
    /// `host` has room for all elements of the slice.
    #[inline]
    pub(super) unsafe fn read_into(self, cx: &Current<'_, '_>, host: *mut T) -> Result<(), MemoryError> {
        let bytes = bytes_of::<T>(self.len)?;
        let context = cx.of(&self.context, FnId::cuMemcpyDtoH_v2)?;
        // SAFETY: the caller guarantees `host`; the device side is in a live, borrowed allocation.
        unsafe { copy::to_host(context, host.cast(), self.address, bytes) }?;
        Ok(())
    }
}

impl<'a, T: DeviceData> SliceMut<'a, T> {
    /// The elements from `start` on. The caller has checked the range.
    const fn part(&self, start: usize, len: usize) -> Self {
        Self::new(self.address + (start * size_of::<T>()) as CUdeviceptr, len, self.context)
    }

    /// The same elements, to read.
    pub const fn as_slice(&self) -> Slice<'_, T> {
        Slice::new(self.address, self.len, self.context)
    }

    /// Reborrows some of the elements. Returns `None` if the range is out of bounds.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<SliceMut<'_, T>> {
        let (start, len) = resolve(&range, self.len)?;
        Some(self.part(start, len))
    }

    /// Returns some of the elements, or `None` if the range is out of bounds.
    pub fn into_slice(self, range: impl RangeBounds<usize>) -> Option<Self> {
        let (start, len) = resolve(&range, self.len)?;
        Some(self.part(start, len))
    }

    /// Splits the elements before `middle`. Returns `None` if there are fewer than `middle`. To
    /// keep the whole, split `slice_mut(..)`.
    #[inline]
    pub fn into_split_at(self, middle: usize) -> Option<(Self, Self)> {
        (middle <= self.len).then(|| (self.part(0, middle), self.part(middle, self.len - middle)))
    }
}

kinds! {
    /// Elements of linear device memory.
    Device: Slice<'a, T>, SliceMut<'a, T>;
}

place!([T: DeviceData] Slice<'_, T>: Device, of T, read |this| *this);
place! {
    [T: DeviceData] SliceMut<'_, T>: Device, of T,
    read |this| this.as_slice(), write |this| this.part(0, this.len)
}
