//! The error of creating a texture or a surface.

use crate::error::Error;
use crate::memory::Extent;

/// Error of creating a texture or a surface.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
/// use cuprum::texture::{Surface, TextureError};
///
/// let shape = ArrayShape::TwoD { width: 4, height: 4 };
/// let picture = Array::<f32>::new(&cx, shape, ArrayFlags::empty())?;
/// assert!(matches!(Surface::new(&cx, &picture), Err(TextureError::NoSurfaces)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextureError {
    /// The rows have more than one slice.
    #[error("a texture of rows of memory has two dimensions, not {extent}: take one slice, or an array")]
    Slices {
        /// Elements along each dimension.
        extent: Extent,
    },
    /// The array was not created for surfaces.
    #[error("the array was made without `ArrayFlags::SURFACE`, so kernels cannot reach it through a surface")]
    NoSurfaces,
    /// The driver refused.
    #[error(transparent)]
    Driver(#[from] Error),
}
