//! Memory of the device: buffers that own it, slices that borrow parts of it, and what may lie in it. Memory of the host
//! that is page-locked, so that copies of it run beside the host.

mod buffer;
pub(crate) mod copy;
mod data;
pub(crate) mod locked;
mod peer;
mod pinned;
mod pointer;
mod registered;
mod slice;
pub mod vector;

pub use self::buffer::Buffer;
pub(crate) use self::data::Pattern;
#[cfg(feature = "bytemuck")]
pub use self::data::Plain;
pub use self::data::{DeviceAddress, DeviceData, Fill};
pub use self::locked::PageLocked;
pub use self::peer::PeerAccess;
pub use self::pinned::{PinnedBuffer, PinnedFlags};
pub use self::pointer::PointerInfo;
pub use self::registered::{HostOwner, RegisterError, RegisterFlags, Registered};
pub(crate) use self::slice::resolve;
pub use self::slice::{Slice, SliceMut};

/// Feature `derive`.
///
/// ```
/// use cuprum::DeviceData;
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

use crate::error::Error;

/// Why an allocation or a copy did not happen, or failed.
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
    /// The source of a copy is lent to another stream than the destination, which nothing orders. Nothing was copied.
    #[error("the source is lent to another stream: lend it to this one, shared if others read it too")]
    OtherStream,
    /// Source and destination of a copy are parts of the same memory and overlap. Nothing was copied.
    #[error(
        "cannot copy between parts of the same memory that overlap: the driver leaves open what that does"
    )]
    Overlap,
    /// The host memory was lent to work that could not be waited for, and the device may still write it: see
    /// [`PinnedBuffer`]. Nothing was done.
    #[error("the host memory is lost: after a fault, the device may go on writing it")]
    Lost,
    /// The driver's page-locked memory does not begin at a multiple of the element's alignment. Nothing was allocated.
    #[error("elements aligned to {align} bytes cannot lie in page-locked memory")]
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
