//! Copies and fills of memory in stream order.

use cuprum_sys::{CUstream, FnId};

use crate::context::{Current, context_call};
use crate::memory::place::kind::{Fillable, Host, kinds, pairs};
use crate::memory::{DeviceData, MemoryError, Pattern, Slice, bytes_of, copy, same_length};
use crate::raw::seal::Key;

kinds! {
    /// Memory in the order of a stream.
    InOrder: Ordered<'a, T>, Ordered<'a, T>;
}

/// Elements in the order of a stream, which exists while they are borrowed.
#[derive(Debug)]
pub struct Ordered<'a, T: DeviceData> {
    pub(super) elements: Slice<'a, T>,
    pub(super) stream: CUstream,
}

impl<T: DeviceData> Ordered<'_, T> {
    /// Waits for the stream and copies the elements.
    ///
    /// # Safety
    /// `host` has room for all elements.
    pub(super) unsafe fn read_into(&self, cx: &Current<'_, '_>, host: *mut T) -> Result<(), MemoryError> {
        let bytes = bytes_of::<T>(self.elements.len())?;
        let context = cx.of(self.elements.context(), FnId::cuMemcpyDtoH_v2)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the stream is live, and its context is current.
        unsafe { context_call!(context, cuStreamSynchronize(self.stream)) }?;
        // SAFETY: the caller guarantees `host`; the device side is allocated, because the stream
        // has passed the allocation, and nothing writes it, because only that stream does.
        unsafe { copy::to_host(context, host.cast(), self.elements.as_raw(), bytes) }?;
        Ok(())
    }
}

pairs! {
    InOrder from Host: |cx, to, from| {
        same_length(to.elements.len(), from.len())?;
        let bytes = bytes_of::<T>(to.elements.len())?;
        let context = cx.of(to.elements.context(), FnId::cuMemcpyHtoDAsync_v2)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both sides have `bytes` bytes. The host side is borrowed until the wait below. If
        // the wait fails, the device may read it later, which is harmless: the bytes end up in
        // memory with unspecified contents.
        unsafe { copy::from_host_on(context, to.stream, to.elements.as_raw(), from.as_ptr().cast(), bytes) }?;
        // SAFETY: the stream is live, and its context is current.
        Ok(unsafe { context_call!(context, cuStreamSynchronize(to.stream)) }?)
    }

    Host from InOrder: |cx, to, from| {
        same_length(to.len(), from.elements.len())?;
        // SAFETY: `to` has as many elements and is exclusively borrowed; any bytes are a `T`.
        unsafe { from.read_into(cx, to.as_mut_ptr()) }
    }

    InOrder from InOrder: |cx, to, from| {
        same_length(to.elements.len(), from.elements.len())?;
        let bytes = bytes_of::<T>(to.elements.len())?;
        let context =
            cx.of_both([to.elements.context(), from.elements.context()], FnId::cuMemcpyDtoDAsync_v2)?;
        if from.stream != to.stream {
            return Err(MemoryError::NotInOrder);
        }
        // SAFETY: both sides have `bytes` bytes and are in the order of this stream; the first was
        // borrowed mutably.
        unsafe { copy::within_on(context, to.stream, to.elements.as_raw(), from.elements.as_raw(), bytes) }?;
        Ok(())
    }
}

impl Fillable for InOrder {
    #[inline]
    fn fill<T: DeviceData>(
        cx: &Current<'_, '_>,
        to: Ordered<'_, T>,
        pattern: Pattern,
        per_element: usize,
        _: Key,
    ) -> Result<(), MemoryError> {
        let call = match pattern {
            Pattern::Byte(_) => FnId::cuMemsetD8Async,
            Pattern::Half(_) => FnId::cuMemsetD16Async,
            Pattern::Word(_) => FnId::cuMemsetD32Async,
        };
        let context = cx.of(to.elements.context(), call)?;
        let len = to.elements.len().saturating_mul(per_element);
        // SAFETY: there are this many values of the pattern's width, after their allocation on the
        // stream and before their free; any bytes are a `T`.
        unsafe { copy::fill_on(context, to.stream, to.elements.as_raw(), pattern, len) }?;
        Ok(())
    }
}
