//! Copies and fills of regions.

use cuprum_sys::FnId;

use super::block::Block;
use super::{Pinned, Queue, Region, RegionError};
use crate::context::Current;
use crate::error::Error;
use crate::memory::side::{self, Side};
use crate::memory::{Extent, Fill, MemoryError, Pattern, Strides, copy, same_driver, same_length};

/// Rows and slices of bytes in a region.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::region::{Plane, Pool};
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let packed = context.enter(|cx| {
///     let pool = Pool::new(cx);
///     let queue = pool.queue(cx)?;
///     let (rows, packed) = (queue.alloc(cx, 2 * 256)?, queue.alloc(cx, 6)?);
///     queue.fill(cx, &rows, 7u8)?;
///     // Three bytes of each of two rows, which begin 256 bytes apart, without the gaps.
///     let to = Plane { region: &packed, pitch: 3, rows: 2 };
///     let from = Plane { region: &rows, pitch: 256, rows: 2 };
///     queue.copy_block(cx, to, from, (3, 2))?;
///     Ok(queue.read(cx, &packed, pool.pinned(cx, 6)?)?.wait()?.to_vec())
/// })?;
/// assert_eq!(packed, [7; 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a region with two strides")]
pub struct Plane<'a> {
    /// The bytes.
    pub region: &'a Region,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Rows from one slice to the next.
    pub rows: usize,
}

impl<'a> Plane<'a> {
    fn side(&self, extent: Extent) -> Result<Side<'a>, MemoryError> {
        let strides = Strides::within::<u8>(self.region.len(), extent, self.pitch, self.rows)?;
        Ok(Side::device::<u8>(self.region.as_raw(), false, strides, self.region.context()))
    }
}

/// Fails for a copy between overlapping parts of one allocation.
fn apart(to: &Region, from: &Region) -> Result<(), MemoryError> {
    if to.overlaps(from) { Err(MemoryError::Overlap) } else { Ok(()) }
}

impl Queue {
    /// Queues a copy between two regions of the same size.
    ///
    /// # Errors
    /// [`MemoryError::Length`] and [`MemoryError::Overlap`] in [`RegionError::Memory`];
    /// [`RegionError::NotOrdered`]; [`Error::WRONG_CONTEXT`] unless all is of the current
    /// context.
    ///
    /// Driver: `cuMemcpyDtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoDAsync_v2")]
    pub fn copy(&self, cx: &Current<'_, '_>, to: &Region, from: &Region) -> Result<(), RegionError> {
        same_length(to.len(), from.len())?;
        apart(to, from)?;
        let (at, start, bytes) = (to.as_raw(), from.as_raw(), to.len());
        self.operate(cx, FnId::cuMemcpyDtoDAsync_v2, [to, from], |context, stream| {
            // SAFETY: both have `bytes` bytes in the current context until their last use is
            // complete.
            unsafe { copy::within_on(context, stream, at, start, bytes) }
        })
    }

    /// Queues a copy of a block of `extent` (bytes, rows and slices) from the start of one plane to
    /// the start of the other. Overlapping blocks of one allocation leave unspecified bytes.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] in [`RegionError::Memory`]; [`RegionError::NotOrdered`];
    /// [`Error::WRONG_CONTEXT`] unless all is of the current context.
    ///
    /// Driver: `cuMemcpy2DAsync_v2`, CUDA 3.2+, or for several slices `cuMemcpy3DAsync_v2`,
    /// CUDA 3.2+.
    #[doc(alias("cuMemcpy2DAsync_v2", "cuMemcpy3DAsync_v2"))]
    pub fn copy_block(
        &self,
        cx: &Current<'_, '_>,
        to: Plane<'_>,
        from: Plane<'_>,
        extent: impl Into<Extent>,
    ) -> Result<(), RegionError> {
        let extent = extent.into();
        let (there, here) = (to.side(extent)?, from.side(extent)?);
        let call = if extent.depth > 1 { FnId::cuMemcpy3DAsync_v2 } else { FnId::cuMemcpy2DAsync_v2 };
        self.operate(cx, call, [to.region, from.region], |context, stream| {
            // SAFETY: both sides are in regions of the current context until their last use is
            // complete.
            unsafe { side::copy_on(context, stream, &there, &here) }
                .map_err(|error| driver_error(error, call))
        })
    }

    /// Queues a copy from or to a region of another context, on the same device or another one. The
    /// queue is of the current context. Both regions are noted. The copy needs no peer access.
    ///
    /// # Errors
    /// Same as [`copy`](Queue::copy), except that the regions may be of any context of the driver.
    ///
    /// Driver: `cuMemcpyPeerAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyPeerAsync")]
    pub fn copy_peer(&self, cx: &Current<'_, '_>, to: &Region, from: &Region) -> Result<(), RegionError> {
        const CALL: FnId = FnId::cuMemcpyPeerAsync;
        same_length(to.len(), from.len())?;
        apart(to, from)?;
        let (there, here) = ((to.context(), to.as_raw()), (from.context(), from.as_raw()));
        let check = |block: &Block| same_driver(self.context(), block.context(), CALL);
        self.operate_on(cx, CALL, [to.block(), from.block()], check, |context, stream| {
            // SAFETY: both have this many bytes in their contexts until their last use is complete.
            unsafe { copy::between_on(context, stream, there, here, to.len()) }
        })
    }

    /// Queues a fill of a region with a value of one, two or four bytes.
    ///
    /// # Errors
    /// [`MemoryError::Length`] in [`RegionError::Memory`] for a size that is not a multiple of the
    /// value's, [`RegionError::Unaligned`] for such an address; the errors of
    /// [`copy`](Queue::copy).
    ///
    /// Driver: `cuMemsetD8Async`, `cuMemsetD16Async` or `cuMemsetD32Async`, CUDA 3.2+.
    #[doc(alias("cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async"))]
    pub fn fill<P: Fill>(&self, cx: &Current<'_, '_>, region: &Region, value: P) -> Result<(), RegionError> {
        let (pattern, len) = (value.pattern(), region.len() / size_of::<P>());
        same_length(region.len(), len * size_of::<P>())?;
        if region.as_raw() % size_of::<P>() as u64 != 0 {
            return Err(RegionError::Unaligned { address: region.as_raw(), align: size_of::<P>() });
        }
        let call = match pattern {
            Pattern::Byte(_) => FnId::cuMemsetD8Async,
            Pattern::Half(_) => FnId::cuMemsetD16Async,
            Pattern::Word(_) => FnId::cuMemsetD32Async,
        };
        self.operate(cx, call, [region], |context, stream| {
            // SAFETY: there are `len` aligned elements of the pattern's width in the current
            // context, which live until their last use is complete.
            unsafe { copy::fill_on(context, stream, region.as_raw(), pattern, len) }
        })
    }

    /// Queues a copy of page-locked memory to a region of the same size. The memory returns to the
    /// pool after the copy or an error or, in a recording, when the graph is dropped.
    ///
    /// # Errors
    /// Same as [`copy`](Queue::copy).
    ///
    /// Driver: `cuMemcpyHtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyHtoDAsync_v2")]
    pub fn upload(&self, cx: &Current<'_, '_>, to: &Region, from: Pinned) -> Result<(), RegionError> {
        const CALL: FnId = FnId::cuMemcpyHtoDAsync_v2;
        same_length(to.len(), from.len())?;
        let (blocks, check) =
            ([to.block(), from.block()], |block: &Block| block.check_context(self.core(), CALL));
        self.operate_on(cx, CALL, blocks, check, |context, stream| {
            // SAFETY: both have this many bytes. The host gives up its side here, which is not
            // written or reused before its last use is complete.
            unsafe { copy::from_host_on(context, stream, to.as_raw(), from.start().cast(), from.len()) }
        })
    }
}

/// The driver's error of a copy that was already checked.
fn driver_error(error: MemoryError, call: FnId) -> Error {
    match error {
        MemoryError::Driver(error) => error,
        _ => Error::host(cuprum_sys::CUresult::CUDA_ERROR_INVALID_VALUE, call),
    }
}
