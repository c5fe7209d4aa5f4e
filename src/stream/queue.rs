//! The pairs of kinds that a scope copies between, and the kinds that it fills.

use std::ptr::NonNull;

use cuprum_sys::{CUdeviceptr, CUstream};

use crate::context::{ContextRef, context_call};
use crate::memory::locked::Pinned;
use crate::memory::place::kind::{Elsewhere, Host, Kind};
use crate::memory::side::{self, DeviceRows, HostRows, InArray, Side};
use crate::memory::{
    Device, DeviceData, Extent, HostBlock, HostBlockMut, MemoryError, Pattern, Slice, bytes_of, copy,
    filled_rows, same_length,
};
use crate::raw::seal::Key;

/// A stream, and its context, which is current. It is `pub` only because hidden methods take it.
#[derive(Clone, Copy, Debug)]
pub struct On<'a> {
    pub(super) context: &'a ContextRef,
    pub(super) stream: CUstream,
}

/// Kinds of places to which a scope can copy from `S` without waiting for its stream.
#[diagnostic::on_unimplemented(
    message = "a scope does not copy from a place of the kind `{S}` to one of the kind `{Self}`",
    label = "these two do not go together",
    note = "one side at least is device memory; to a slice of the host, which is not page-locked for certain, \
            `scope.read` copies and waits"
)]
pub trait Queues<S: Kind>: Kind {
    /// # Safety
    /// The destination is lent, to be written, to the scope that waits for this stream, or to
    /// another one on it. So is the source, to be read, unless it is host memory borrowed for the
    /// scope.
    #[doc(hidden)]
    unsafe fn queue<T: DeviceData>(
        on: On<'_>,
        to: Self::View<'_, T>,
        from: S::View<'_, T>,
        key: Key,
    ) -> Result<(), MemoryError>;
}

/// Kinds of places on the host to which a scope can copy from `S`, after its stream.
#[diagnostic::on_unimplemented(
    message = "a scope does not read a place of the kind `{S}` into one of the kind `{Self}`",
    label = "these two do not go together",
    note = "`read` copies device memory that was lent to the scope to a slice of the host, or rows and arrays to a \
            `HostBlockMut`"
)]
pub trait Reads<S: Kind>: Kind {
    /// # Safety
    /// The source is lent to the scope of this stream.
    #[doc(hidden)]
    unsafe fn read<T: DeviceData>(
        on: On<'_>,
        to: Self::ViewMut<'_, T>,
        from: S::View<'_, T>,
        key: Key,
    ) -> Result<(), MemoryError>;
}

/// Kinds of places that a scope can fill.
#[diagnostic::on_unimplemented(
    message = "a scope does not fill places of the kind `{Self}`",
    label = "not device memory",
    note = "an array is filled by a kernel or a copy, page-locked memory as a loan of the device: `scope.as_device`"
)]
pub trait Fills: Kind {
    /// Fills each element with as many patterns as fit in it.
    ///
    /// # Safety
    /// The place is lent to be written to the scope of this stream.
    #[doc(hidden)]
    unsafe fn fill<T: DeviceData>(
        on: On<'_>,
        to: Self::View<'_, T>,
        pattern: Pattern,
        per_element: usize,
        key: Key,
    ) -> Result<(), MemoryError>;
}

/// True if two places, given by address and size, overlap.
pub(super) const fn meet(one: (CUdeviceptr, usize), other: (CUdeviceptr, usize)) -> bool {
    one.0 < other.0 + other.1 as CUdeviceptr && other.0 < one.0 + one.1 as CUdeviceptr
}

/// The address of host memory on devices with unified addressing.
pub(super) fn unified<T>(host: NonNull<[T]>) -> CUdeviceptr {
    host.as_ptr().addr() as CUdeviceptr
}

pub(super) fn apart(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<(), MemoryError> {
    if bytes != 0 && meet((to, bytes), (from, bytes)) { Err(MemoryError::Overlap) } else { Ok(()) }
}

/// Defines copies between pairs of kinds, with a stream and both sides in scope.
macro_rules! on_stream {
    ($trait:ident::$act:ident, to $view:ident;
     $($to:ident $(<$inner:ident>)? from $from:ty: |$on:ident, $dst:ident, $src:ident| $body:block)+) => { $(
        impl $trait<$from> for $to $(<$inner>)? {
            #[inline]
            unsafe fn $act<T: DeviceData>(
                $on: On<'_>,
                $dst: <$to $(<$inner>)? as Kind>::$view<'_, T>,
                $src: <$from as Kind>::View<'_, T>,
                _: Key,
            ) -> Result<(), MemoryError> $body
        }
    )+ };
}

on_stream! { Queues::queue, to View;
    Device from Host: |on, to, from| {
        same_length(to.len(), from.len())?;
        let bytes = bytes_of::<T>(to.len())?;
        // SAFETY: as many elements on both sides; the host's are borrowed until the scope has
        // waited.
        unsafe { copy::from_host_on(on.context, on.stream, to.as_raw(), from.as_ptr().cast(), bytes) }?;
        Ok(())
    }

    Device from Pinned: |on, to, from| {
        same_length(to.len(), from.len())?;
        let bytes = bytes_of::<T>(to.len())?;
        apart(to.as_raw(), unified(from), bytes)?;
        let host = from.as_ptr().cast_const().cast();
        // SAFETY: both sides have `bytes` initialized bytes and are lent to a scope that waits for
        // this stream.
        unsafe { copy::from_host_on(on.context, on.stream, to.as_raw(), host, bytes) }?;
        Ok(())
    }

    Pinned from Device: |on, to, from| {
        same_length(to.len(), from.len())?;
        let bytes = bytes_of::<T>(to.len())?;
        apart(unified(to), from.as_raw(), bytes)?;
        // SAFETY: both sides have `bytes` bytes and are lent to a scope that waits for this stream.
        // If the wait fails, the scope makes the host side inaccessible. Any bytes are a `T`.
        unsafe { copy::to_host_on(on.context, on.stream, to.as_ptr().cast(), from.as_raw(), bytes) }?;
        Ok(())
    }

    Device from Device: |on, to, from| {
        same_length(to.len(), from.len())?;
        let bytes = bytes_of::<T>(to.len())?;
        if to.as_raw() == from.as_raw() {
            return Ok(());
        }
        apart(to.as_raw(), from.as_raw(), bytes)?;
        // SAFETY: both sides have `bytes` bytes and are lent to a scope that waits for this stream.
        unsafe { copy::within_on(on.context, on.stream, to.as_raw(), from.as_raw(), bytes) }?;
        Ok(())
    }

    Device from Elsewhere<Device>: |on, to, from| {
        // SAFETY: guaranteed by the caller.
        unsafe { between_contexts(on, to, from) }
    }

    Elsewhere<Device> from Device: |on, to, from| {
        // SAFETY: guaranteed by the caller.
        unsafe { between_contexts(on, to, from) }
    }
}

/// Queues a copy between contexts: each side has its own.
///
/// # Safety
/// Same as [`Queues::queue`].
#[inline]
unsafe fn between_contexts<T: DeviceData>(
    on: On<'_>,
    to: Slice<'_, T>,
    from: Slice<'_, T>,
) -> Result<(), MemoryError> {
    same_length(to.len(), from.len())?;
    let bytes = bytes_of::<T>(to.len())?;
    let (to, from) = ((to.context(), to.as_raw()), (from.context(), from.as_raw()));
    // SAFETY: both sides have `bytes` bytes, are of one driver, and are lent to a scope that waits
    // for this stream; any bytes are a `T`.
    unsafe { copy::between_on(on.context, on.stream, to, from, bytes) }?;
    Ok(())
}

/// Pairs in which each side is rows and slices, or elements of an array.
macro_rules! blocks {
    (within a context: $($to:ident from $($from:ident)+;)+) => { $( $(
        on_stream! { Queues::queue, to View;
            $to from $from: |on, to, from| {
                if to.is_at(&from) {
                    // Loans of rows do not overlap, so both are the same: there is nothing to copy.
                    return Extent::same(to.extent(), from.extent());
                }
                // SAFETY: both sides have room for their extents, and are lent to or borrowed for a
                // scope that waits for this stream.
                unsafe { side::copy_on(on.context, on.stream, &to, &from) }
            }
        }
    )+ )+ };
    (between contexts: $($to:ident from $($from:ident)+;)+) => { $( $(
        on_stream! { Queues::queue, to View;
            $to from Elsewhere<$from>: |on, to, from| {
                // SAFETY: both sides have room for their extents, and are lent to a scope that
                // waits for this stream; the destination is on the device.
                unsafe { side::copy_between_on(on.context, on.stream, &to, &from) }
            }
        }
    )+ )+ };
    (with slices of the host: $($there:ident)+) => { $(
        on_stream! { Queues::queue, to View;
            $there from Host: |on, to, from| {
                same_length(to.extent().len().unwrap_or(usize::MAX), from.len())?;
                let from = HostBlock::new(from, to.extent())?;
                // SAFETY: guaranteed by the caller; the rows are in the slice.
                unsafe { <Self as Queues<HostRows>>::queue::<T>(on, to, from.side(), Key::new()) }
            }
        }

        on_stream! { Reads::read, to ViewMut;
            HostRows from $there: |on, to, from| {
                Extent::same(to.extent(), from.extent())?;
                on.wait()?;
                // SAFETY: both sides have room for their extents, the host side is exclusively
                // borrowed, and any bytes are a `T`.
                unsafe { side::copy_here(on.context, &to, &from) }
            }
        }

        on_stream! { Reads::read, to ViewMut;
            Host from $there: |on, to, from| {
                same_length(to.len(), from.extent().len().unwrap_or(usize::MAX))?;
                let to = HostBlockMut::new(to, from.extent())?;
                // SAFETY: guaranteed by the caller; the rows are in the slice.
                unsafe { <HostRows as Reads<$there>>::read::<T>(on, to.side(), from, Key::new()) }
            }
        }
    )+ };
}

blocks! { within a context:
    DeviceRows from HostRows DeviceRows InArray;
    InArray from HostRows DeviceRows InArray;
}

blocks! { between contexts:
    DeviceRows from DeviceRows InArray;
    InArray from DeviceRows InArray;
}

blocks! { with slices of the host: DeviceRows InArray }

on_stream! { Reads::read, to ViewMut;
    Host from Device: |on, to, from| {
        same_length(to.len(), from.len())?;
        // SAFETY: as many elements, borrowed for the call.
        unsafe { read_into(on, to.as_mut_ptr(), from) }
    }
}

/// Waits for the stream, then copies to the host. Nothing is written before the wait.
///
/// # Safety
/// The source is lent to the scope of this stream. `to` is valid for writes of as many elements,
/// and has no other users after the wait.
#[inline]
pub(crate) unsafe fn read_into<T: DeviceData>(
    on: On<'_>,
    to: *mut T,
    from: Slice<'_, T>,
) -> Result<(), MemoryError> {
    let bytes = bytes_of::<T>(from.len())?;
    if bytes == 0 {
        return Ok(());
    }
    on.wait()?;
    // SAFETY: both sides have `bytes` bytes; the host side has no other users; any bytes are a `T`.
    unsafe { copy::to_host(on.context, to.cast(), from.as_raw(), bytes) }?;
    Ok(())
}

impl On<'_> {
    #[inline]
    fn wait(self) -> Result<(), MemoryError> {
        // SAFETY: the stream outlives the scope, which borrows it, and its context is current.
        Ok(unsafe { context_call!(self.context, cuStreamSynchronize(self.stream)) }?)
    }
}

impl Fills for Device {
    #[inline]
    unsafe fn fill<T: DeviceData>(
        on: On<'_>,
        to: Slice<'_, T>,
        pattern: Pattern,
        per_element: usize,
        _: Key,
    ) -> Result<(), MemoryError> {
        // Does not overflow, because it is at most the size of live memory.
        let len = to.len() * per_element;
        // SAFETY: this many values of the pattern's width are lent to a scope that waits for this
        // stream; any bytes are a `T`.
        unsafe { copy::fill_on(on.context, on.stream, to.as_raw(), pattern, len) }?;
        Ok(())
    }
}

impl Fills for DeviceRows {
    unsafe fn fill<T: DeviceData>(
        on: On<'_>,
        to: Side<'_>,
        pattern: Pattern,
        per_element: usize,
        _: Key,
    ) -> Result<(), MemoryError> {
        // An empty block may have any width.
        let width = to.extent().width.saturating_mul(per_element);
        for rows in filled_rows(to.device_address(), &to.strides, width) {
            // SAFETY: the rows are lent to a scope that waits for this stream; rows begin at
            // elements, and any bytes are a `T`.
            unsafe { copy::fill_rows_on(on.context, on.stream, rows, pattern) }?;
        }
        Ok(())
    }
}
