//! Operations of views, for loans.

use cuprum_sys::CUdeviceptr;

use super::Signals;
use super::value::StreamValue;
use crate::memory::{
    ArrayPart, DeviceData, Extent, Peer, PinnedMut, Pitched, PitchedMut, Slice, SliceMut, Source, Texel,
};
use crate::raw::seal::{Key, Sealed};

/// A view with an address.
pub trait Located: Sealed {
    /// Address of the first element.
    type Address;
    #[doc(hidden)]
    fn address(&self, key: Key) -> Self::Address;
}

/// A view of consecutive elements.
pub trait Line: Located + Sized {
    #[doc(hidden)]
    fn count(&self, key: Key) -> usize;
    /// `len` elements from `start` on, which the caller has checked.
    #[doc(hidden)]
    fn part(&self, start: usize, len: usize, key: Key) -> Self;
}

/// A view of rows of device memory.
pub trait Rows: Located {
    #[doc(hidden)]
    fn extent(&self, key: Key) -> Extent;
    #[doc(hidden)]
    fn pitch_bytes(&self, key: Key) -> usize;
}

/// A view to read and write, which can be converted to a view to read.
pub trait Exclusive: Sealed {
    /// The view to read.
    type Shared;
    #[doc(hidden)]
    fn shared(&self, key: Key) -> Self::Shared;
}

/// View of a loan that the scope can write: [`SliceMut`], [`PitchedMut`], [`ArrayPart`],
/// [`PinnedMut`], and [`Peer`] of a [`SliceMut`].
#[diagnostic::on_unimplemented(
    message = "a scope cannot write to `Lent<'_, {Self}>`",
    label = "not lent to be written",
    note = "lend device memory by `scope.lend(&mut buffer)?`, and page-locked memory by `scope.lend(&mut pinned)?`"
)]
pub trait LentTarget: Source<Self::Element> {
    /// Type of its elements.
    type Element: DeviceData;
}

/// The address of the element at `start`. The caller has checked the range.
const fn offset<T>(address: CUdeviceptr, start: usize) -> CUdeviceptr {
    address + (start * size_of::<T>()) as CUdeviceptr
}

macro_rules! lines {
    ($($view:ident: $address:ty, $this:ident from $start:ident, $len:ident: $part:expr;)*) => { $(
        impl<T: DeviceData> Located for $view<'_, T> {
            type Address = $address;

            #[inline]
            fn address(&self, _: Key) -> $address {
                self.as_raw()
            }
        }

        impl<T: DeviceData> Line for $view<'_, T> {
            #[inline]
            fn count(&self, _: Key) -> usize {
                self.len()
            }

            #[inline]
            fn part(&self, start: usize, len: usize, _: Key) -> Self {
                let ($this, $start, $len) = (self, start, len);
                $part
            }
        }
    )* };
}

lines! {
    Slice: CUdeviceptr, this from start, len: Slice::new(offset::<T>(this.as_raw(), start), len, this.near());
    SliceMut: CUdeviceptr, this from start, len: SliceMut::new(offset::<T>(this.as_raw(), start), len, this.near());
    PinnedMut: *mut T, this from start, len: this.part(start, len);
}

impl<M: Located> Located for Peer<M> {
    type Address = M::Address;

    #[inline]
    fn address(&self, key: Key) -> M::Address {
        self.0.address(key)
    }
}

impl<M: Line> Line for Peer<M> {
    #[inline]
    fn count(&self, key: Key) -> usize {
        self.0.count(key)
    }

    #[inline]
    fn part(&self, start: usize, len: usize, key: Key) -> Self {
        Self(self.0.part(start, len, key))
    }
}

impl<T: StreamValue> Located for &Signals<'_, T> {
    type Address = CUdeviceptr;

    #[inline]
    fn address(&self, _: Key) -> CUdeviceptr {
        self.as_raw()
    }
}

macro_rules! rows {
    ($($view:ident)*) => { $(
        impl<T: DeviceData> Located for $view<'_, T> {
            type Address = CUdeviceptr;

            #[inline]
            fn address(&self, _: Key) -> CUdeviceptr {
                self.as_raw()
            }
        }

        impl<T: DeviceData> Rows for $view<'_, T> {
            fn extent(&self, _: Key) -> Extent {
                self.extent()
            }

            fn pitch_bytes(&self, _: Key) -> usize {
                self.pitch_bytes()
            }
        }
    )* };
}

rows!(Pitched PitchedMut);

impl<'a, T: DeviceData> Exclusive for SliceMut<'a, T> {
    type Shared = Slice<'a, T>;

    #[inline]
    fn shared(&self, _: Key) -> Slice<'a, T> {
        Slice::new(self.as_raw(), self.len(), self.near())
    }
}

impl<'a, T: DeviceData> Exclusive for PitchedMut<'a, T> {
    type Shared = Pitched<'a, T>;

    fn shared(&self, _: Key) -> Pitched<'a, T> {
        Pitched::new(self.as_raw(), self.strides(), self.is_aligned(), self.near())
    }
}

impl<M: Exclusive> Exclusive for Peer<M> {
    type Shared = Peer<M::Shared>;

    #[inline]
    fn shared(&self, key: Key) -> Peer<M::Shared> {
        Peer(self.0.shared(key))
    }
}

macro_rules! targets {
    ($($view:ty, of $element:ident;)*) => { $(
        impl<T: $element> LentTarget for $view {
            type Element = T;
        }
    )* };
}

targets! {
    SliceMut<'_, T>, of DeviceData;
    PitchedMut<'_, T>, of DeviceData;
    ArrayPart<'_, T>, of Texel;
    PinnedMut<'_, T>, of DeviceData;
    Peer<SliceMut<'_, T>>, of DeviceData;
}
