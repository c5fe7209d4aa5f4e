//! Device memory: buffers that own it, slices that borrow it, the types of its elements, rows and
//! slices, and arrays. Also page-locked host memory, whose copies run in parallel with the host.
//!
//! # Rows and slices
//!
//! A [`PitchedBuffer`] owns rows with a pitch that the driver chose. [`Pitched`] and [`PitchedMut`]
//! borrow rows and slices of it or of linear memory; [`HostBlock`] and [`HostBlockMut`] borrow them
//! from the host. [`Current::copy`](crate::Current::copy) copies between all of them and parts of
//! arrays, and compares their [extents](Extent).
//!
//! # Arrays
//!
//! An [`Array`] has a shape and a format, and a memory layout specific to the device; kernels
//! access it through [textures and surfaces](crate::texture). Any number of these can use one
//! array, and kernels can write it through surfaces at any time. So an array supports copies but
//! never slices, and needs no exclusive borrow to be written: a copy to `&mut array.view()` writes
//! the array. The same applies to a [`Global`](crate::module::Global), of which several can exist.
//! Streams, events and the default stream order accesses; an unordered copy finds old or new
//! elements.

#[cfg(unix)]
mod address;
mod array;
mod buffer;
pub(crate) mod caching;
pub(crate) mod copy;
pub(crate) mod data;
pub(crate) mod elements;
mod extent;
mod foreign;
mod host_block;
mod ipc;
mod location;
pub(crate) mod locked;
mod managed;
mod peer;
mod pinned;
mod pitched;
mod pointer;
mod registered;
pub(crate) mod side;
mod slice;
pub mod vector;
pub(crate) mod verbs;
pub mod virtual_memory;

#[cfg(unix)]
pub(crate) use self::address::owned_descriptor;
pub use self::array::{
    Array, ArrayDescriptor, ArrayFlags, ArrayPart, ArrayShape, ArrayView, Half, MipmappedArray,
    MipmappedView, Texel, TileMap, TilePart,
};
pub use self::buffer::Buffer;
pub(crate) use self::data::Pattern;
#[cfg(feature = "bytemuck")]
pub use self::data::Plain;
pub use self::data::{DeviceAddress, DeviceData, Fill};
pub use self::extent::Extent;
pub(crate) use self::extent::Strides;
pub use self::foreign::ForeignBuffer;
pub use self::host_block::{HostBlock, HostBlockMut};
pub use self::location::MemoryLocation;
pub use self::locked::PinnedMut;
pub(crate) use self::locked::sealed::PageLocked;
pub use self::managed::{Advice, ManagedBuffer, ManagedInfo, ManagedRange, ManagedRangeMut};
pub use self::peer::PeerAccess;
pub(crate) use self::peer::same_driver;
pub use self::pinned::{PinnedBuffer, PinnedFlags};
pub(crate) use self::pitched::filled_rows;
pub use self::pitched::{Pitched, PitchedBuffer, PitchedMut};
pub use self::pointer::PointerInfo;
pub(crate) use self::registered::HostOwner;
pub use self::registered::{RegisterError, RegisterFlags, Registered};
pub(crate) use self::slice::resolve;
pub use self::slice::{Slice, SliceMut};
pub use self::verbs::{Peer, Source, Target};
pub use self::virtual_memory::{
    Granularity, Mapping, MemoryAccess, Multicast, MulticastMapping, PhysicalFlags, PhysicalMemory,
    Reservation,
};

/// Feature `derive`.
///
/// ```
/// use cuprum::memory::DeviceData;
///
/// #[derive(Clone, Copy, DeviceData)]
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 3],
///     mass: f32,
/// }
/// ```
#[cfg(feature = "derive")]
pub use cuprum_derive::DeviceData;

use cuprum_sys::CUarray_format;

use crate::error::Error;

/// Error of an allocation or a copy.
///
/// # Example
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
    /// [`PinnedBuffer`]. Nothing was done.
    #[error("the host memory is lost: after a fault, the device may go on writing it")]
    Lost,
    /// A device cannot run while the host accesses managed memory, so the host cannot borrow it:
    /// use [`ManagedBuffer::on_host`].
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
