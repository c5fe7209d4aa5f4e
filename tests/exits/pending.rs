//! Work on its way that outlives the function that queued it.

use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, Pending, Request};
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

use crate::cases::BYTES;

pub(crate) type Slot = (PinnedBuffer<'static, u8>, Buffer<'static, u8>);

/// A copy to page-locked memory, on its way.
pub(crate) fn pending(cx: &Current<'_, 'static>, stream: &Stream<'_>) -> Pending<Slot> {
    let host = PinnedBuffer::zeroed(cx, BYTES, PinnedFlags::empty()).unwrap();
    let slot = (host, Buffer::zeroed(cx, BYTES).unwrap());
    let request = Request::new(Event::new(cx, EventFlags::DISABLE_TIMING).unwrap(), slot);
    let pending = request.submit(cx, stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
        scope.copy(&scope.lend(host)?, &scope.lend(buffer.as_mut_slice())?)
    });
    pending.unwrap()
}
