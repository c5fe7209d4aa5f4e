//! The context that is current, as functions on its buffers and images.

use super::format::Format;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flat,
    Solid,
    Layers,
    Cube,
}

impl Kind {
    /// Returns the kind of a texture's target; `None` if CUDA cannot share it.
    pub(crate) fn of(target: u32) -> Option<Self> {
        match target {
            TEXTURE_2D | TEXTURE_RECTANGLE => Some(Self::Flat),
            TEXTURE_3D => Some(Self::Solid),
            TEXTURE_2D_ARRAY => Some(Self::Layers),
            TEXTURE_CUBE_MAP => Some(Self::Cube),
            _ => None,
        }
    }
}

pub(crate) const TEXTURE_2D: u32 = 0x0DE1;

pub(crate) const TEXTURE_RECTANGLE: u32 = 0x84F5;

pub(crate) const TEXTURE_CUBE_MAP: u32 = 0x8513;

pub(crate) const TEXTURE_3D: u32 = 0x806F;

pub(crate) const TEXTURE_2D_ARRAY: u32 = 0x8C1A;

pub(crate) const RENDERBUFFER: u32 = 0x8D41;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) target: u32,
    pub(crate) kind: Kind,
    pub(crate) format: Format,
    /// Width, height and slices of each level; layers and faces count as slices.
    pub(crate) levels: Vec<[usize; 3]>,
}

impl Image {
    pub(crate) fn bytes(&self, level: usize) -> usize {
        let sides = self.levels.get(level).copied().unwrap_or_default();
        sides.iter().product::<usize>() * self.format.bytes()
    }
}

/// A context of OpenGL that is current on the calling thread.
pub(crate) trait Context {
    /// Returns a number that is unique among the live contexts.
    fn identity(&self) -> u64;

    /// Returns the size of a buffer object; `None` if the name is invalid.
    fn buffer_bytes(&self, name: u32) -> Option<usize>;

    /// Reads the first bytes of a buffer object. Returns false on failure.
    fn read_buffer(&self, name: u32, into: &mut [u8]) -> bool;

    /// Overwrites the first bytes of a buffer object. Returns false on failure.
    fn write_buffer(&self, name: u32, from: &[u8]) -> bool;

    fn is_texture(&self, name: u32) -> bool;

    /// Returns the texture of this name and target; `None` if missing, or in a format not shared.
    fn image(&self, name: u32, target: u32) -> Option<Image>;

    /// Reads the texels of a level, by slices and rows, without gaps. Returns false on failure.
    fn read_level(&self, name: u32, image: &Image, level: usize, into: &mut [u8]) -> bool;

    /// Overwrites a level. Returns false on failure.
    fn write_level(&self, name: u32, image: &Image, level: usize, from: &[u8]) -> bool;
}
