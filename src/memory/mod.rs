//! Device memory: buffers that own it, slices that borrow parts of it, and the types that may lie in it; rows and
//! slices of it, and arrays. Memory of the host that is page-locked, so that copies of it run beside the host.
//!
//! # Rows and slices
//!
//! A [`PitchedBuffer`] owns rows whose distance the driver chose. [`Pitched`] and [`PitchedMut`] borrow rows and slices
//! of it or of linear memory, [`HostBlock`] and [`HostBlockMut`] those of the host. All of them, and parts of arrays, are
//! copied to each other by [`Current::copy`](crate::Current::copy), which compares the [extents](Extent).
//!
//! # Arrays
//!
//! An [`Array`] has a shape and a format and lies in an order of the device's own; kernels reach it through
//! [textures and surfaces](crate::texture). Any number of them may reach one array, and kernels may write it through
//! surfaces at any time. So an array gives copies, never slices, and needs no exclusive borrow to be written: a copy to
//! `&mut array.view()` writes the array. Nor does a [`Global`](crate::module::Global), of which there can be several. Streams,
//! events and the default stream make order; a copy that is not in order with a write finds old elements or new ones.

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
    Array, ArrayDescriptor, ArrayFlags, ArrayPart, ArrayShape, ArrayView, Half, MemoryRequirements,
    MipmappedArray, MipmappedView, SparseProperties, Texel, TileMap, TilePart,
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
pub use self::ipc::IpcBuffer;
pub use self::location::MemoryLocation;
pub use self::locked::{PageLocked, PinnedMut};
pub use self::managed::{Advice, ManagedBuffer, ManagedInfo, ManagedRange, ManagedRangeMut};
pub use self::peer::PeerAccess;
pub(crate) use self::peer::same_driver;
pub use self::pinned::{PinnedBuffer, PinnedFlags};
pub(crate) use self::pitched::filled_rows;
pub use self::pitched::{Pitched, PitchedBuffer, PitchedMut};
pub use self::pointer::PointerInfo;
pub use self::registered::{HostOwner, RegisterError, RegisterFlags, Registered};
pub(crate) use self::slice::resolve;
pub use self::slice::{Slice, SliceMut};
pub use self::verbs::{Peer, Source, Target};
pub use self::virtual_memory::{
    Granularity, Mapping, MemoryAccess, Multicast, MulticastMapping, PhysicalFlags, PhysicalMemory,
    PhysicalProperties, Reservation,
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
/// // Found on the host: nothing was copied.
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
    /// The number of bytes does not fit: `len` elements of `element_bytes` each.
    #[error("{len} elements of {element_bytes} bytes are more than can be addressed")]
    TooLarge {
        /// Elements asked for.
        len: usize,
        /// Bytes of one element.
        element_bytes: usize,
    },
    /// Source and destination of a copy differ in length. Nothing was copied.
    #[error(
        "cannot copy {source_len} elements into {destination_len}: slice the longer side to the same length"
    )]
    Length {
        /// Elements of the destination.
        destination_len: usize,
        /// Elements of the source.
        source_len: usize,
    },
    /// Source and destination of a copy differ in width, height or depth. Nothing was copied.
    #[error(
        "cannot copy a block of {source_extent} into one of {destination_extent}: take a part of the larger one"
    )]
    Extent {
        /// Elements of the destination along each dimension.
        destination_extent: Extent,
        /// Elements of the source along each dimension.
        source_extent: Extent,
    },
    /// A block of rows and slices does not lie in the memory that is to hold it, or its rows or slices overlap.
    #[error(
        "{len} elements have no room for a block of {extent} whose rows begin {pitch} elements apart and whose \
         slices {rows} rows"
    )]
    Outside {
        /// Elements asked for along each dimension.
        extent: Extent,
        /// Elements from one row to the next.
        pitch: usize,
        /// Rows from one slice to the next.
        rows: usize,
        /// Elements that there are.
        len: usize,
    },
    /// An array with a dimension of zero, which the driver would take for one of fewer dimensions.
    #[error("an array of {extent} has no elements: every dimension must be at least 1")]
    EmptyArray {
        /// Elements asked for along each dimension.
        extent: Extent,
    },
    /// An array has elements of another type.
    #[error("the array has {channels} channels of {format:?}, another element type than asked for")]
    Texel {
        /// Format of a channel.
        format: CUarray_format,
        /// Channels of an element.
        channels: u32,
    },
    /// The source of a copy is lent to another stream than the destination, which nothing orders. Nothing was copied.
    #[error("the source is lent to another stream: lend it to this one, shared if others read it too")]
    OtherStream,
    /// Memory in the order of one stream was given to work on another one. Nothing was done.
    #[error("the memory is in the order of another stream: use it on its own one, or move it with an event")]
    NotInOrder,
    /// A pool has no room, nor has the device for the pool. Nothing was allocated.
    #[error(
        "no room for {bytes} bytes in a pool that has {used} bytes in use and holds {held} more: {error}"
    )]
    NoRoom {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes that were in use when the driver refused.
        used: u64,
        /// Bytes that the pool held beside them.
        held: u64,
        /// The driver's refusal.
        error: Error,
    },
    /// Source and destination of a copy are parts of the same memory and overlap. Nothing was copied.
    #[error(
        "cannot copy between parts of the same memory that overlap: the driver leaves open what that does"
    )]
    Overlap,
    /// There is no such element. Nothing was queued.
    #[error("there is no element {index} among {len}")]
    Index {
        /// Element asked for, counted from 0.
        index: usize,
        /// Elements that there are.
        len: usize,
    },
    /// The host memory was lent to work that could not be waited for, and the device may still write it: see
    /// [`PinnedBuffer`]. Nothing was done.
    #[error("the host memory is lost: after a fault, the device may go on writing it")]
    Lost,
    /// A device does not work beside the host's accesses to managed memory, so that the host cannot be lent it: use
    /// [`ManagedBuffer::on_host`].
    #[error(
        "a device cannot share managed memory with the host: reach it in the closure of `on_host`, or copy it"
    )]
    NotConcurrent,
    /// Physical memory of a size that is no multiple of what the device deals in. Nothing was created.
    #[error(
        "physical memory comes in multiples of {granularity} bytes, and at least one: {bytes} bytes are none"
    )]
    Granularity {
        /// Bytes asked for.
        bytes: usize,
        /// Least number of bytes.
        granularity: usize,
    },
    /// Memory was to be mapped outside of a reservation. Nothing was mapped.
    #[error("{bytes} bytes from byte {offset} on do not lie in a reservation of {reserved} bytes")]
    Unreserved {
        /// First byte, counted from the start of the reservation.
        offset: usize,
        /// Bytes of the memory.
        bytes: usize,
        /// Bytes of the reservation.
        reserved: usize,
    },
    /// Memory was to be mapped where other memory is mapped. Nothing was mapped.
    #[error("of the {bytes} bytes from byte {offset} of the reservation on, some are mapped already")]
    Mapped {
        /// First byte, counted from the start of the reservation.
        offset: usize,
        /// Bytes of the memory.
        bytes: usize,
    },
    /// The device of a mapping's own context reads and writes it, as its slices do; that cannot be changed.
    #[error(
        "the device of the mapping's own context reads and writes it: unmap it, or set the access of others"
    )]
    OwnAccess,
    /// The driver's memory for the host does not begin at a multiple of the element's alignment. Nothing was allocated.
    #[error("elements aligned to {align} bytes cannot lie in memory that the driver allocates for the host")]
    Alignment {
        /// The alignment of one element.
        align: usize,
    },
    /// The driver refused.
    #[error(transparent)]
    Driver(#[from] Error),
}

/// Bytes of `len` elements.
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
