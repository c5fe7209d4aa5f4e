//! Errors of memory, and the checks of sizes that report them.

use cuprum_sys::CUarray_format;

use super::Extent;
use crate::error::Error;

/// Error of an allocation or a copy.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::{Buffer, MemoryError};
///
/// let mut buffer = Buffer::<u32>::zeroed(&cx, 3)?;
/// // Detected on the host: nothing was copied.
/// assert_eq!(
///     cx.copy(&mut buffer, &[1, 2, 3, 4]),
///     Err(MemoryError::Length { destination_len: 3, source_len: 4 }),
/// );
/// assert!(matches!(Buffer::<u32>::alloc(&cx, usize::MAX), Err(MemoryError::TooLarge { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The number of bytes overflows: `len` elements of `element_bytes` each.
    #[error("{len} elements of {element_bytes} bytes are more than can be addressed")]
    TooLarge {
        /// The requested number of elements.
        len: usize,
        /// Bytes per element.
        element_bytes: usize,
    },
    /// Source and destination of a copy differ in length. Nothing was copied.
    #[error(
        "cannot copy {source_len} elements into {destination_len}: slice the longer side to the same length"
    )]
    Length {
        /// Number of elements of the destination.
        destination_len: usize,
        /// Number of elements of the source.
        source_len: usize,
    },
    /// Source and destination of a copy differ in width, height or depth. Nothing was copied.
    #[error(
        "cannot copy a block of {source_extent} into one of {destination_extent}: take a part of the larger one"
    )]
    Extent {
        /// Extent of the destination.
        destination_extent: Extent,
        /// Extent of the source.
        source_extent: Extent,
    },
    /// A block of rows and slices exceeds its memory, or its rows or slices overlap.
    #[error(
        "{len} elements have no room for a block of {extent} whose rows begin {pitch} elements apart and whose \
         slices {rows} rows"
    )]
    Outside {
        /// The requested extent.
        extent: Extent,
        /// Elements from one row to the next.
        pitch: usize,
        /// Rows from one slice to the next.
        rows: usize,
        /// Number of elements in the memory.
        len: usize,
    },
    /// An array with a dimension of zero, which the driver would treat as one with fewer
    /// dimensions.
    #[error("an array of {extent} has no elements: every dimension must be at least 1")]
    EmptyArray {
        /// The requested extent.
        extent: Extent,
    },
    /// The array's elements have a different type.
    #[error("the array has {channels} channels of {format:?}, another element type than asked for")]
    Texel {
        /// Format of the array's channels.
        format: CUarray_format,
        /// Channels per element.
        channels: u32,
    },
    /// Source and destination of a copy are lent to different streams. Nothing was copied.
    #[error("the source is lent to another stream: lend it to this one, shared if others read it too")]
    OtherStream,
    /// Memory in the order of one stream was used on another. Nothing was done.
    #[error("the memory is in the order of another stream: use it on its own one, or move it with an event")]
    NotInOrder,
    /// Neither the pool nor the device has room. Nothing was allocated.
    #[error(
        "no room for {bytes} bytes in a pool that has {used} bytes in use and holds {held} more: {error}"
    )]
    NoRoom {
        /// The requested number of bytes.
        bytes: usize,
        /// Bytes in use when the driver refused.
        used: u64,
        /// Other bytes that the pool held.
        held: u64,
        /// The driver's error.
        error: Error,
    },
    /// Source and destination of a copy overlap in the same memory. Nothing was copied.
    #[error(
        "cannot copy between parts of the same memory that overlap: the driver does not define the result"
    )]
    Overlap,
    /// The element does not exist. Nothing was queued.
    #[error("there is no element {index} among {len}")]
    Index {
        /// The requested element, counted from 0.
        index: usize,
        /// Number of elements.
        len: usize,
    },
    /// Work on the host memory could not be waited for, and the device may still write it: see
    /// [`PinnedBuffer`](super::PinnedBuffer). Nothing was done.
    #[error("the host memory is lost: after a fault, the device may go on writing it")]
    Lost,
    /// A device cannot run while the host accesses managed memory, so the host cannot borrow it:
    /// use [`ManagedBuffer::on_host`](super::ManagedBuffer::on_host).
    #[error(
        "a device cannot share managed memory with the host: reach it in the closure of `on_host`, or copy it"
    )]
    NotConcurrent,
    /// A size is not a multiple of the device's granularity. Nothing was created.
    #[error(
        "physical memory comes in multiples of {granularity} bytes, and at least one: {bytes} bytes are none"
    )]
    Granularity {
        /// The requested number of bytes.
        bytes: usize,
        /// The smallest possible number of bytes.
        granularity: usize,
    },
    /// The range to map is outside of the reservation. Nothing was mapped.
    #[error("{bytes} bytes from byte {offset} on exceed a reservation of {reserved} bytes")]
    Unreserved {
        /// Offset of the first byte in the reservation.
        offset: usize,
        /// Number of bytes of the memory.
        bytes: usize,
        /// Number of bytes of the reservation.
        reserved: usize,
    },
    /// Other memory is already mapped in the range. Nothing was mapped.
    #[error("of the {bytes} bytes from byte {offset} of the reservation on, some are mapped already")]
    Mapped {
        /// Offset of the first byte in the reservation.
        offset: usize,
        /// Number of bytes of the memory.
        bytes: usize,
    },
    /// The access of a mapping's own device cannot be changed, because its slices use it.
    #[error(
        "the device of the mapping's own context reads and writes it: unmap it, or set the access of others"
    )]
    OwnAccess,
    /// The driver's host memory is not aligned for the elements. Nothing was allocated.
    #[error("the driver's host memory is not aligned to {align} bytes, as the elements require")]
    Alignment {
        /// The alignment of one element.
        align: usize,
    },
    /// A driver call failed.
    #[error(transparent)]
    Driver(#[from] Error),
}

pub(crate) fn bytes_of<T>(len: usize) -> Result<usize, MemoryError> {
    len.checked_mul(size_of::<T>())
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or(MemoryError::TooLarge { len, element_bytes: size_of::<T>() })
}

pub(crate) fn same_length(destination_len: usize, source_len: usize) -> Result<(), MemoryError> {
    if destination_len == source_len {
        Ok(())
    } else {
        Err(MemoryError::Length { destination_len, source_len })
    }
}
