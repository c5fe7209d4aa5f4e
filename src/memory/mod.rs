//! Device memory: buffers that own it, slices that borrow it, traits of its elements, pitched
//! memory of two and three dimensions, and arrays. Also page-locked host memory, whose copies run
//! in parallel with the host.
//!
//! # Rows and slices
//!
//! A [`PitchedBuffer`] owns rows with a pitch that the driver chose; in three dimensions, rows form
//! planes, which the driver's documentation calls slices. [`Pitched`] and [`PitchedMut`] borrow
//! rows and planes of it or of linear memory; [`HostBlock`] and [`HostBlockMut`] borrow them from
//! the host. [`Current::copy`](crate::Current::copy) copies between all of them and parts of
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
mod error;
mod extent;
mod foreign;
mod host_block;
mod ipc;
mod location;
pub(crate) mod locked;
mod managed;
mod peer;
mod pinned;
pub(crate) mod pinned_pool;
mod pitched;
pub(crate) mod place;
mod pointer;
mod register_error;
mod registered;
mod run;
pub(crate) mod side;
mod slice;
mod strides;
pub mod vector;
mod verbs;
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
pub use self::error::MemoryError;
pub(crate) use self::error::{bytes_of, same_length};
pub use self::extent::Extent;
pub(crate) use self::extent::resolve;
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
pub use self::place::{Peer, Source, Target};
pub use self::pointer::PointerInfo;
pub use self::register_error::RegisterError;
pub(crate) use self::registered::HostOwner;
pub use self::registered::{RegisterFlags, Registered};
pub(crate) use self::slice::Device;
pub use self::slice::{Slice, SliceMut};
pub(crate) use self::strides::Strides;
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
