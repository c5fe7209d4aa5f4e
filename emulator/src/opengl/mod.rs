//! OpenGL as the software device meets it: the context that is current on the calling thread.
//!
//! On a machine with a GPU, OpenGL and CUDA have one memory. A software device has none of OpenGL's: it asks OpenGL for the
//! contents of a buffer or image when it is mapped, and gives them back when it is unmapped. That is any OpenGL from 3.1 on
//! that is current by EGL or GLX on Linux, such as Mesa's, or else a [`StandIn`].

mod format;
#[cfg(all(target_os = "linux", not(miri)))]
mod found;
mod stand_in;

pub use stand_in::StandIn;

pub(crate) use format::{BYTE, Format, HALF_FLOAT, INT, SHORT, UNSIGNED_BYTE, UNSIGNED_INT, UNSIGNED_SHORT};

/// Dimensions of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flat,
    Solid,
    Layers,
    Cube,
}

impl Kind {
    /// The kind of a texture's target; `None` for those that CUDA does not share.
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

/// A texture: what its levels are like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) target: u32,
    pub(crate) kind: Kind,
    pub(crate) format: Format,
    /// Width, height and slices of each level; layers and faces count as slices.
    pub(crate) levels: Vec<[usize; 3]>,
}

impl Image {
    /// Bytes of a level, without gaps.
    pub(crate) fn bytes(&self, level: usize) -> usize {
        let sides = self.levels.get(level).copied().unwrap_or_default();
        sides.iter().product::<usize>() * self.format.bytes()
    }
}

/// A context of OpenGL that is current on the calling thread.
pub(crate) trait Context {
    /// A number that no other context has which lives at the same time.
    fn identity(&self) -> u64;

    /// Size of a buffer object; `None` if there is none of that name.
    fn buffer_bytes(&self, name: u32) -> Option<usize>;

    /// The first bytes of a buffer object. False if they could not be had.
    fn read_buffer(&self, name: u32, into: &mut [u8]) -> bool;

    /// Overwrites the first bytes of a buffer object. False if that could not be done.
    fn write_buffer(&self, name: u32, from: &[u8]) -> bool;

    /// True if there is a texture of that name.
    fn is_texture(&self, name: u32) -> bool;

    /// The texture of that name and target; `None` if there is none, or of no format that CUDA shares.
    fn image(&self, name: u32, target: u32) -> Option<Image>;

    /// The texels of a level, slice by slice and row by row, without gaps. False if they could not be had.
    fn read_level(&self, name: u32, image: &Image, level: usize, into: &mut [u8]) -> bool;

    /// Overwrites a level. False if that could not be done.
    fn write_level(&self, name: u32, image: &Image, level: usize, from: &[u8]) -> bool;
}

/// Why there is no context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// None is current.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "elsewhere none is looked for"))]
    NoContext,
    /// One that is not asked may be, for this reason.
    NotAsked(&'static str),
}

/// The context that is current on the calling thread.
pub(crate) fn current() -> Result<Box<dyn Context>, Missing> {
    match stand_in::current() {
        Some(context) => Ok(Box::new(context)),
        None => found(),
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn found() -> Result<Box<dyn Context>, Missing> {
    found::current().map(|context| -> Box<dyn Context> { Box::new(context) })
}

#[cfg(any(not(target_os = "linux"), miri))]
fn found() -> Result<Box<dyn Context>, Missing> {
    Err(Missing::NotAsked(
        "the software device finds OpenGL on Linux alone, by EGL or GLX: elsewhere cuprum_emulator::opengl::StandIn stands in \
         for it",
    ))
}
