//! The pairs of kinds that the driver copies between, and the kinds that it fills.

use cuprum_sys::FnId;

use super::super::data::Pattern;
use super::super::place::kind::{Accepts, Elsewhere, Fillable, Host, pairs};
use super::super::side::{self, DeviceRows, HostRows, InArray, Side};
use super::super::slice::Device;
use super::super::{
    DeviceData, HostBlock, HostBlockMut, MemoryError, SliceMut, bytes_of, copy, filled_rows, same_driver,
    same_length,
};
use crate::context::Current;
use crate::raw::seal::Key;

pairs! {
    Device from Host: |cx, to, from| {
        same_length(to.len(), from.len())?;
        let bytes = bytes_of::<T>(to.len())?;
        let context = cx.of(to.context(), FnId::cuMemcpyHtoD_v2)?;
        // SAFETY: both sides have as many bytes; the device side is live and exclusively borrowed.
        unsafe { copy::from_host(context, to.as_raw(), from.as_ptr().cast(), bytes) }?;
        Ok(())
    }

    Host from Device: |cx, to, from| {
        same_length(to.len(), from.len())?;
        // SAFETY: `to` has as many elements and is exclusively borrowed; any bytes are a `T`.
        unsafe { from.read_into(cx, to.as_mut_ptr()) }
    }

    Device from Device: |cx, to, from| {
        same_length(to.len(), from.len())?;
        let bytes = bytes_of::<T>(to.len())?;
        let context = cx.of_both([to.context(), from.context()], FnId::cuMemcpyDtoD_v2)?;
        // SAFETY: both sides have `bytes` bytes in live allocations of the current context; the
        // first is exclusively borrowed.
        unsafe { copy::within(context, to.as_raw(), from.as_raw(), bytes) }?;
        Ok(())
    }

    Device from Elsewhere<Device>: |cx, to, from| {
        same_length(to.len(), from.len())?;
        let bytes = bytes_of::<T>(to.len())?;
        let context = cx.of(to.context(), FnId::cuMemcpyPeer)?;
        same_driver(context, from.context(), FnId::cuMemcpyPeer)?;
        let (to, from) = ((context, to.as_raw()), (from.context(), from.as_raw()));
        // SAFETY: both sides have `bytes` live bytes in their contexts; the first is exclusive.
        unsafe { copy::between(to, from, bytes) }?;
        Ok(())
    }
}

/// Rows of the device or the host, or elements of an array.
macro_rules! rows {
    ($($to:ident from $($from:ident)+;)+) => { $( $( pairs! {
        $to from $from: |cx, to, from| {
            // SAFETY: both sides are borrowed views with room for their extents. The destination is
            // exclusively borrowed, or an array, whose elements are never exclusive; any bytes are
            // a `T`.
            unsafe { side::copy(cx, &to, &from) }
        }
    } )+ )+ };
}

/// Rows of the device or elements of an array: from and to a host slice, and between contexts.
macro_rules! on_the_device {
    ($($there:ident)+) => { $( pairs! {
        $there from Host: |cx, to, from| {
            let extent = to.extent();
            same_length(extent.len().unwrap_or(usize::MAX), from.len())?;
            <$there as Accepts<HostRows>>::copy::<T>(cx, to, HostBlock::new(from, extent)?.side(), Key::new())
        }

        Host from $there: |cx, to, from| {
            let extent = from.extent();
            same_length(to.len(), extent.len().unwrap_or(usize::MAX))?;
            <HostRows as Accepts<$there>>::copy::<T>(cx, HostBlockMut::new(to, extent)?.side(), from, Key::new())
        }

        $there from Elsewhere<DeviceRows>: |cx, to, from| {
            // SAFETY: as within one context; no side is on the host.
            unsafe { side::copy_between(cx, &to, &from) }
        }

        $there from Elsewhere<InArray>: |cx, to, from| {
            // SAFETY: as above.
            unsafe { side::copy_between(cx, &to, &from) }
        }
    } )+ };
}

rows! {
    DeviceRows from HostRows DeviceRows InArray;
    InArray from HostRows DeviceRows InArray;
    HostRows from DeviceRows InArray;
}

on_the_device!(DeviceRows InArray);

/// The fill function for a pattern, for errors on the host.
const fn fill_call(pattern: Pattern) -> FnId {
    match pattern {
        Pattern::Byte(_) => FnId::cuMemsetD8_v2,
        Pattern::Half(_) => FnId::cuMemsetD16_v2,
        Pattern::Word(_) => FnId::cuMemsetD32_v2,
    }
}

impl Fillable for Device {
    #[inline]
    fn fill<T: DeviceData>(
        cx: &Current<'_, '_>,
        to: SliceMut<'_, T>,
        pattern: Pattern,
        per_element: usize,
        _: Key,
    ) -> Result<(), MemoryError> {
        let context = cx.of(to.context(), fill_call(pattern))?;
        let len = to.len().saturating_mul(per_element);
        // SAFETY: this many values of the pattern's width are in a live, exclusively borrowed
        // allocation, at a multiple of that width, and any bytes are a `T`.
        unsafe { copy::fill(context, to.as_raw(), pattern, len) }?;
        Ok(())
    }
}

impl Fillable for DeviceRows {
    fn fill<T: DeviceData>(
        cx: &Current<'_, '_>,
        to: Side<'_>,
        pattern: Pattern,
        per_element: usize,
        _: Key,
    ) -> Result<(), MemoryError> {
        let context = cx.of(to.home.unwrap_or(cx.context()), FnId::cuMemsetD2D32_v2)?;
        // Without elements, the width may be any number.
        let width = to.extent().width.saturating_mul(per_element);
        for rows in filled_rows(to.device_address(), &to.strides, width) {
            // SAFETY: the rows are in live, exclusively borrowed memory of the current context. It
            // begins at an element, rows begin at elements, and any bytes are a `T`.
            unsafe { copy::fill_rows(context, rows, pattern) }?;
        }
        Ok(())
    }
}
