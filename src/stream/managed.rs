//! Managed memory on streams: prefetched, discarded and attached.

use cuprum_sys::{CUmemAttach_flags, CUmemLocation, FnId};

use super::Stream;
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::memory::{ManagedRange, ManagedRangeMut, MemoryLocation};
use crate::raw::call::either_call;

/// Access to managed memory on a device without [concurrent
/// access](crate::memory::ManagedBuffer#devices-without-concurrent-access), as the driver's number:
/// `CU_MEM_ATTACH_GLOBAL`, the initial state, for all streams of all devices, and the host only
/// while no kernel runs; `CU_MEM_ATTACH_HOST` for the host and no stream; `CU_MEM_ATTACH_SINGLE`
/// for one stream, and the host only while that stream is idle.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::memory::ManagedBuffer;
/// use cuprum::stream::Attachment;
///
/// let (numbers, stream) = (ManagedBuffer::<u32>::zeroed(&cx, 4)?, Stream::new(&cx)?);
/// let range = numbers.range(..).ok_or("outside")?;
/// // SAFETY: only this stream uses the memory, and the host waits for it.
/// unsafe { stream.attach(&cx, range, Attachment::CU_MEM_ATTACH_SINGLE) }?;
/// stream.synchronize(&cx)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Attachment = CUmemAttach_flags;

/// The arguments of a batch: addresses, sizes, and locations with the index of their first range.
#[derive(Default)]
struct Batch {
    addresses: Vec<u64>,
    sizes: Vec<usize>,
    places: Vec<CUmemLocation>,
    firsts: Vec<usize>,
}

impl Batch {
    /// Empty ranges are skipped.
    fn add(&mut self, range: ManagedRange<'_>, place: Option<MemoryLocation>) {
        if range.bytes() == 0 {
            return;
        }
        if let Some(place) = place.map(MemoryLocation::as_raw) {
            let is_new =
                self.places.last().is_none_or(|last| (last.type_, last.id) != (place.type_, place.id));
            if is_new {
                self.places.push(place);
                self.firsts.push(self.addresses.len());
            }
        }
        self.addresses.push(range.as_raw());
        self.sizes.push(range.bytes());
    }
}

impl Stream<'_> {
    /// Queues a prefetch of managed memory to a location. The host does not wait.
    ///
    /// The contents stay, and no work needs to wait for it. Does nothing for an empty range.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_DEVICE` for a device without concurrent managed access;
    /// [`Error::UNRESOLVED`] for a NUMA node before CUDA 12.2; [`Error::WRONG_CONTEXT`]
    /// unless stream and memory are of the current context, and for a device of another driver.
    ///
    /// Driver: `cuMemPrefetchAsync_v2`, CUDA 12.2+; before that `cuMemPrefetchAsync`, CUDA 8.0+.
    #[doc(alias("cuMemPrefetchAsync_v2", "cuMemPrefetchAsync"))]
    #[inline]
    pub fn prefetch(
        &self,
        cx: &Current<'_, '_>,
        range: ManagedRange<'_>,
        to: MemoryLocation,
    ) -> Result<(), Error> {
        let context = cx.of_both([self.context(), range.context()], FnId::cuMemPrefetchAsync_v2)?;
        to.check_driver(context.driver(), FnId::cuMemPrefetchAsync_v2)?;
        if range.bytes() == 0 {
            return Ok(());
        }
        let (library, address, bytes) = (context.library(), range.as_raw(), range.bytes());
        let (location, stream) = (to.as_raw(), self.as_raw());
        let queued = match to.as_device() {
            // SAFETY: the range is in a live allocation, whose contents stay; the stream is live.
            Some(device) => unsafe {
                either_call!(library, cuMemPrefetchAsync_v2(address, bytes, location, 0, stream)
                    or cuMemPrefetchAsync(address, bytes, device, stream))
            },
            // SAFETY: as above.
            None => unsafe {
                context_call!(context, cuMemPrefetchAsync_v2(address, bytes, location, 0, stream))
            },
        };
        queued.map_err(|error| context.record(error))
    }

    /// Queues prefetches of several parts of managed memory, each to its own location, as
    /// [`prefetch`](Stream::prefetch) does. Makes no call if all are empty.
    ///
    /// # Errors
    /// Same as [`prefetch`](Stream::prefetch); [`Error::UNRESOLVED`] before CUDA 13.0;
    /// `CUDA_ERROR_INVALID_VALUE` on the default stream.
    ///
    /// Driver: `cuMemPrefetchBatchAsync`, CUDA 13.0+.
    #[doc(alias = "cuMemPrefetchBatchAsync")]
    #[inline]
    pub fn prefetch_batch(
        &self,
        cx: &Current<'_, '_>,
        moves: &[(ManagedRange<'_>, MemoryLocation)],
    ) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuMemPrefetchBatchAsync)?;
        let mut batch = Batch::default();
        for &(range, place) in moves {
            cx.of(range.context(), FnId::cuMemPrefetchBatchAsync)?;
            place.check_driver(context.driver(), FnId::cuMemPrefetchBatchAsync)?;
            batch.add(range, Some(place));
        }
        let (count, places) = (batch.addresses.len(), batch.places.len());
        if count == 0 {
            return Ok(());
        }
        let (addresses, sizes) = (batch.addresses.as_mut_ptr(), batch.sizes.as_mut_ptr());
        let (to, firsts) = (batch.places.as_mut_ptr(), batch.firsts.as_mut_ptr());
        // SAFETY: lists of the given lengths, which outlive the call; the ranges are in live
        // allocations of managed memory, and the stream is live.
        unsafe {
            context_call!(
                context,
                cuMemPrefetchBatchAsync(addresses, sizes, count, to, firsts, places, 0, self.as_raw())
            )
        }
    }

    /// Queues a discard of the contents of managed memory, which then need not be moved. The host
    /// does not wait. Until the next write, the memory has unspecified contents.
    ///
    /// The discard may also affect unordered writes of other streams: order them by an event.
    ///
    /// # Errors
    /// Same as [`prefetch_batch`](Stream::prefetch_batch).
    ///
    /// Driver: `cuMemDiscardBatchAsync`, CUDA 13.0+.
    #[doc(alias = "cuMemDiscardBatchAsync")]
    #[inline]
    pub fn discard(&self, cx: &Current<'_, '_>, ranges: &mut [ManagedRangeMut<'_>]) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuMemDiscardBatchAsync)?;
        let mut batch = Batch::default();
        for range in ranges {
            cx.of(range.as_range().context(), FnId::cuMemDiscardBatchAsync)?;
            batch.add(range.as_range(), None);
        }
        let count = batch.addresses.len();
        if count == 0 {
            return Ok(());
        }
        let (addresses, sizes) = (batch.addresses.as_mut_ptr(), batch.sizes.as_mut_ptr());
        // SAFETY: lists of the given length, which outlive the call; the ranges are in live,
        // exclusively borrowed allocations of managed memory, whose elements may have any bytes;
        // the stream is live.
        unsafe { context_call!(context, cuMemDiscardBatchAsync(addresses, sizes, count, 0, self.as_raw())) }
    }

    /// Queues a discard of the contents of managed memory, as [`discard`](Stream::discard) does,
    /// and moves each part to a location, for memory that is written there next.
    ///
    /// # Errors
    /// Same as [`prefetch_batch`](Stream::prefetch_batch).
    ///
    /// Driver: `cuMemDiscardAndPrefetchBatchAsync`, CUDA 13.0+.
    #[doc(alias = "cuMemDiscardAndPrefetchBatchAsync")]
    #[inline]
    pub fn discard_and_prefetch(
        &self,
        cx: &Current<'_, '_>,
        moves: &mut [(ManagedRangeMut<'_>, MemoryLocation)],
    ) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuMemDiscardAndPrefetchBatchAsync)?;
        let mut batch = Batch::default();
        for (range, place) in moves {
            cx.of(range.as_range().context(), FnId::cuMemDiscardAndPrefetchBatchAsync)?;
            place.check_driver(context.driver(), FnId::cuMemDiscardAndPrefetchBatchAsync)?;
            batch.add(range.as_range(), Some(*place));
        }
        let (count, places) = (batch.addresses.len(), batch.places.len());
        if count == 0 {
            return Ok(());
        }
        let (addresses, sizes) = (batch.addresses.as_mut_ptr(), batch.sizes.as_mut_ptr());
        let (to, firsts, stream) = (batch.places.as_mut_ptr(), batch.firsts.as_mut_ptr(), self.as_raw());
        // SAFETY: as in `discard`, with as many locations as given.
        unsafe {
            context_call!(
                context,
                cuMemDiscardAndPrefetchBatchAsync(addresses, sizes, count, to, firsts, places, 0, stream)
            )
        }
    }

    /// Attaches a whole [`ManagedBuffer`](crate::memory::ManagedBuffer) to this stream, to the host
    /// or to all streams, in the order of this stream. For devices without concurrent managed
    /// access; on others it is a hint.
    ///
    /// The host does not wait. For access from the host,
    /// [`on_host`](crate::memory::ManagedBuffer::on_host) is a safe alternative.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a part of an allocation, and for `CU_MEM_ATTACH_SINGLE` on a
    /// default stream; [`Error::WRONG_CONTEXT`].
    ///
    /// # Safety
    /// 1. Until the memory is attached to all streams again, and a wait for that has succeeded,
    ///    work of the device accesses it only on this stream after `CU_MEM_ATTACH_SINGLE`, and not
    ///    at all after `CU_MEM_ATTACH_HOST`. Copies and fills on the default stream count as work
    ///    of the device.
    /// 2. Until then [`on_host`](crate::memory::ManagedBuffer::on_host) is not called.
    /// 3. The stream outlives an attachment to it alone.
    ///
    /// Driver: `cuStreamAttachMemAsync`, CUDA 6.0+.
    #[doc(alias = "cuStreamAttachMemAsync")]
    #[inline]
    pub unsafe fn attach(
        &self,
        cx: &Current<'_, '_>,
        memory: ManagedRange<'_>,
        attachment: Attachment,
    ) -> Result<(), Error> {
        let context = cx.of_both([self.context(), memory.context()], FnId::cuStreamAttachMemAsync)?;
        if memory.bytes() == 0 {
            return Ok(());
        }
        let (stream, address, bytes) = (self.as_raw(), memory.as_raw(), memory.bytes());
        // SAFETY: the allocation and the stream are live; the caller guarantees the accesses.
        unsafe { context_call!(context, cuStreamAttachMemAsync(stream, address, bytes, attachment.0)) }
    }
}
