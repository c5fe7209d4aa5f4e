//! Errors of creating tensor maps.

use cuprum_sys::CUtensorMapDataType;

#[cfg(doc)]
use super::TensorMap;
use crate::error::Error;

/// Error of creating a tensor map.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::texture::{TensorError, TensorLayout, TensorMap};
///
/// let memory = cuprum::Buffer::<f32>::alloc(&cx, 100)?;
/// let map = TensorMap::tiled(&cx, memory.as_slice(), &TensorLayout::new(&[64, 32]), &[32]);
/// assert!(matches!(map, Err(TensorError::Rank { given: 1, wanted: 2 }))); // the tile needs two sizes
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The tensor does not have one to five dimensions, or a list does not have one value per
    /// dimension.
    #[error("{given} values were given, where the dimensions of the tensor want {wanted}")]
    Rank {
        /// Number of values in the list.
        given: usize,
        /// Required number of values.
        wanted: usize,
    },
    /// The elements in memory have another size than the requested type.
    #[error("elements of {bytes} bytes cannot be copied as {element:?}")]
    Element {
        /// The requested type.
        element: CUtensorMapDataType,
        /// Bytes of an element in memory.
        bytes: usize,
    },
    /// The tensor is larger than the memory.
    #[error("the tensor takes {needed} bytes, the memory has {bytes}")]
    Outside {
        /// Bytes from the first element to the end of the last.
        needed: u64,
        /// Bytes of the memory.
        bytes: u64,
    },
    /// The size of the tensor in bytes overflows.
    #[error("the tensor has more bytes than can be addressed")]
    TooLarge,
    /// The driver returned an error.
    #[error(transparent)]
    Driver(#[from] Error),
}
