//! Shapes of arrays, and their uses.

use cuprum_sys::{
    CUDA_ARRAY3D_CUBEMAP, CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_SPARSE,
    CUDA_ARRAY3D_SURFACE_LDST, CUDA_ARRAY3D_TEXTURE_GATHER, CUarray_format,
};

use super::Texel;
use crate::memory::Extent;
use crate::raw::flags::flags;

/// Dimensions of an array, in elements. All must be positive.
///
/// ```
/// use cuprum::memory::ArrayShape;
///
/// let picture = ArrayShape::TwoD { width: 640, height: 480 };
/// assert_eq!(picture.level(2), ArrayShape::TwoD { width: 160, height: 120 });
/// assert_eq!(ArrayShape::Cubemap { side: 64 }.extent().depth, 6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the fields say it")]
pub enum ArrayShape {
    /// A line.
    OneD { width: usize },
    /// A plane.
    TwoD { width: usize, height: usize },
    /// A solid.
    ThreeD { width: usize, height: usize, depth: usize },
    /// Lines selected by index, without filtering between them.
    OneDLayered { width: usize, layers: usize },
    /// Planes selected by index, without filtering between them.
    TwoDLayered { width: usize, height: usize, layers: usize },
    /// Six square planes, the faces +x, -x, +y, -y, +z and -z of a cube.
    Cubemap { side: usize },
    /// Cubes of six faces, selected by index.
    CubemapLayered { side: usize, cubes: usize },
}

impl ArrayShape {
    /// Number of elements per dimension, for copies: the depth counts layers and faces.
    pub const fn extent(self) -> Extent {
        let (width, height, depth) = match self {
            Self::OneD { width } => (width, 1, 1),
            Self::TwoD { width, height } => (width, height, 1),
            Self::ThreeD { width, height, depth } => (width, height, depth),
            Self::OneDLayered { width, layers } => (width, 1, layers),
            Self::TwoDLayered { width, height, layers } => (width, height, layers),
            Self::Cubemap { side } => (side, side, 6),
            Self::CubemapLayered { side, cubes } => (side, side, cubes.saturating_mul(6)),
        };
        Extent { width, height, depth }
    }

    pub(crate) const fn is_solid(self) -> bool {
        !matches!(self, Self::OneD { .. } | Self::TwoD { .. })
    }

    /// Returns the shape of a level of a mipmapped array: each level halves all sides, down to one.
    pub const fn level(self, level: u32) -> Self {
        const fn halved(side: usize, level: u32) -> usize {
            match side.checked_shr(level) {
                Some(half) if half > 0 => half,
                _ if side == 0 => 0,
                _ => 1,
            }
        }
        match self {
            Self::OneD { width } => Self::OneD { width: halved(width, level) },
            Self::TwoD { width, height } => {
                Self::TwoD { width: halved(width, level), height: halved(height, level) }
            }
            Self::ThreeD { width, height, depth } => Self::ThreeD {
                width: halved(width, level),
                height: halved(height, level),
                depth: halved(depth, level),
            },
            Self::OneDLayered { width, layers } => Self::OneDLayered { width: halved(width, level), layers },
            Self::TwoDLayered { width, height, layers } => {
                Self::TwoDLayered { width: halved(width, level), height: halved(height, level), layers }
            }
            Self::Cubemap { side } => Self::Cubemap { side: halved(side, level) },
            Self::CubemapLayered { side, cubes } => Self::CubemapLayered { side: halved(side, level), cubes },
        }
    }

    /// Returns the number of levels of a mipmapped array with this shape, down to a single element.
    pub(super) fn most_levels(self) -> u32 {
        let Extent { width, height, depth } = self.extent();
        let depth = if matches!(self, Self::ThreeD { .. }) { depth } else { 0 };
        width.max(height).max(depth).checked_ilog2().map_or(0, |log| log + 1)
    }

    /// The driver's descriptor: a missing height or depth is zero, and flags select the kind.
    pub(super) const fn described<T: Texel>(self, flags: ArrayFlags) -> CUDA_ARRAY3D_DESCRIPTOR {
        let Extent { width, height, depth } = self.extent();
        let (layered, cubemap) = (CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_CUBEMAP);
        let (height, depth, shape) = match self {
            Self::OneD { .. } => (0, 0, 0),
            Self::TwoD { .. } => (height, 0, 0),
            Self::ThreeD { .. } => (height, depth, 0),
            Self::OneDLayered { .. } => (0, depth, layered),
            Self::TwoDLayered { .. } => (height, depth, layered),
            Self::Cubemap { .. } => (height, depth, cubemap),
            Self::CubemapLayered { .. } => (height, depth, cubemap | layered),
        };
        CUDA_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: height,
            Depth: depth,
            Format: T::FORMAT,
            NumChannels: T::CHANNELS,
            Flags: shape | flags.bits() & ArrayFlags::all().bits(),
        }
    }

    fn read(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> Self {
        let &CUDA_ARRAY3D_DESCRIPTOR { Width: width, Height: height, Depth: depth, Flags: flags, .. } =
            descriptor;
        let (layered, cubemap) = (flags & CUDA_ARRAY3D_LAYERED != 0, flags & CUDA_ARRAY3D_CUBEMAP != 0);
        match (cubemap, layered, height, depth) {
            (true, true, ..) => Self::CubemapLayered { side: width, cubes: depth / 6 },
            (true, false, ..) => Self::Cubemap { side: width },
            (_, true, 0, layers) => Self::OneDLayered { width, layers },
            (_, true, _, layers) => Self::TwoDLayered { width, height, layers },
            (_, _, 0, _) => Self::OneD { width },
            (_, _, _, 0) => Self::TwoD { width, height },
            _ => Self::ThreeD { width, height, depth },
        }
    }
}

flags! {
    /// Uses of an array besides textures.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
    /// use cuprum::texture::Surface;
    ///
    /// let line = Array::<f32>::new(&cx, ArrayShape::OneD { width: 4 }, ArrayFlags::SURFACE)?;
    /// let surface = Surface::new(&cx, &line)?; // kernels write the array through it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct ArrayFlags: u32 {
        /// Kernels can access it through a [`Surface`](crate::texture::Surface).
        const SURFACE = CUDA_ARRAY3D_SURFACE_LDST;
        /// Kernels can gather four texels at once. Two dimensions only.
        const TEXTURE_GATHER = CUDA_ARRAY3D_TEXTURE_GATHER;
        /// It has no memory until [`map_tiles`](crate::Stream::map_tiles) maps memory to its tiles.
        /// Tiles without memory read as zeros and ignore writes.
        const SPARSE = CUDA_ARRAY3D_SPARSE;
    }
}

/// The driver's description of an array.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
///
/// let line = Array::<[u8; 4]>::new(&cx, ArrayShape::OneD { width: 8 }, ArrayFlags::empty())?;
/// let described = line.view().descriptor(&cx)?;
/// assert_eq!((described.shape, described.channels), (ArrayShape::OneD { width: 8 }, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayDescriptor {
    /// Dimensions, in elements.
    pub shape: ArrayShape,
    /// Format of a channel.
    pub format: CUarray_format,
    /// Number of channels per element.
    pub channels: u32,
    /// Uses for which it was made. Unknown bits are kept.
    pub flags: ArrayFlags,
}

impl ArrayDescriptor {
    pub(super) fn read(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> Self {
        let flags = descriptor.Flags & !(CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
        Self {
            shape: ArrayShape::read(descriptor),
            format: descriptor.Format,
            channels: descriptor.NumChannels,
            flags: ArrayFlags::from_bits_retain(flags),
        }
    }
}
