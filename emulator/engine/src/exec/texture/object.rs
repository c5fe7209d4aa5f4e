//! Texture and surface objects in a launch.

use super::format::{Channel, Format};

/// Handling of coordinates beyond the edges.
///
/// ```
/// use cuprum_engine::exec::texture::AddressMode;
///
/// let modes = [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Clamp]; // the modes of a `Sampler`
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddressMode {
    /// The texture repeats; needs normalized coordinates.
    Wrap,
    /// Uses the nearest edge texel.
    Clamp,
    /// The texture repeats mirrored; needs normalized coordinates.
    Mirror,
    /// Uses the border color.
    Border,
}

/// Sampling of texels.
///
/// ```
/// use cuprum_engine::exec::texture::{AddressMode, Sampler};
///
/// let sampler = Sampler {
///     modes: [AddressMode::Clamp; 3], linear: true, normalized: true, integer: false, srgb: false, seamless: false,
///     mip_linear: false, anisotropy: 1, steep: false, bias: 0.0, least: 0.0, most: 0.0, border: [0.0; 4],
/// };
/// ```
#[derive(Clone, Debug)]
pub struct Sampler {
    /// Address mode of each axis.
    pub modes: [AddressMode; 3],
    /// True if neighboring texels are filtered.
    pub linear: bool,
    /// True if coordinates range from 0 to 1.
    pub normalized: bool,
    /// True if integer texels are read as integers, not as values from 0, or -1, to 1.
    pub integer: bool,
    /// True if bytes are converted from sRGB to linear.
    pub srgb: bool,
    /// True if filtering continues across the edges of a cube.
    pub seamless: bool,
    /// True if neighboring mip levels are filtered.
    pub mip_linear: bool,
    /// Maximum ratio of length to width of a pixel's footprint in the texture.
    pub anisotropy: u32,
    /// True if the weights of two mip levels move toward the nearer one with anisotropy.
    pub steep: bool,
    /// Added to the mip level.
    pub bias: f32,
    /// Smallest mip level.
    pub least: f32,
    /// Largest mip level.
    pub most: f32,
    /// Color outside, for [`AddressMode::Border`].
    pub border: [f32; 4],
}

/// The shape of a resource.
///
/// ```
/// let cube = cuprum_engine::exec::texture::Shape { dimensions: 2, layered: false, cube: true };
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Number of dimensions: 1 to 3. A cube has two.
    pub dimensions: u32,
    /// True if slices are layers.
    pub layered: bool,
    /// True if slices are faces of cubes, six each.
    pub cube: bool,
}

/// One mip level in memory. Slices are depth, layers or faces.
///
/// ```
/// // 64 by 32 texels of four bytes.
/// let level = cuprum_engine::exec::texture::Level { address: 0x1000, size: [64, 32, 1], pitch: 256, slice: 8192 };
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Device address of the first texel.
    pub address: u64,
    /// Texels per row, rows per slice, and slices; none is zero.
    pub size: [u32; 3],
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Bytes from one slice to the next.
    pub slice: u64,
}

/// A texture object, or a surface object if it has no sampler.
///
/// ```
/// use cuprum_engine::exec::texture::{Channel, Format, Level, Object, Shape};
///
/// // A surface: without a sampler.
/// let surface = Object {
///     format: Format { channel: Channel::Float, channels: 1, normalized: false },
///     shape: Shape { dimensions: 2, layered: false, cube: false },
///     levels: vec![Level { address: 0x1000, size: [64, 32, 1], pitch: 256, slice: 8192 }],
///     sampler: None,
///     linear_memory: false,
/// };
/// ```
#[derive(Clone, Debug)]
pub struct Object {
    /// Format of a texel.
    pub format: Format,
    /// Its shape.
    pub shape: Shape,
    /// Its levels, the largest first; at least one.
    pub levels: Vec<Level>,
    /// Its sampling.
    pub sampler: Option<Sampler>,
    /// True for linear memory, which reads as zero outside.
    pub linear_memory: bool,
}

impl Object {
    /// Returns the largest level.
    pub(in crate::exec) fn first(&self) -> Option<&Level> {
        self.levels.first()
    }

    pub(super) fn is_integer(&self) -> bool {
        let Format { channel, normalized, .. } = self.format;
        match channel {
            Channel::Half | Channel::Float => false,
            Channel::Unsigned32 | Channel::Signed32 => true,
            _ => !normalized && self.sampler.as_ref().is_some_and(|sampler| sampler.integer),
        }
    }
}

/// Result of a search by handle.
///
/// ```
/// use cuprum_engine::exec::{Hooks, NoHooks, texture::Handle};
///
/// assert!(matches!(NoHooks.object(7, false), Handle::Unknown));
/// ```
#[derive(Clone, Debug)]
pub enum Handle {
    /// An object.
    Live(std::sync::Arc<Object>),
    /// An object that was destroyed.
    Destroyed,
    /// A handle that was never valid, or is of another kind.
    Unknown,
}
