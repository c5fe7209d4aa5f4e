//! Options for registering and mapping a resource.

use cuprum_sys::{CUGLDeviceList, CUgraphicsMapResourceFlags, CUgraphicsRegisterFlags, GLenum};

use crate::memory::ArrayFlags;
use crate::raw::flags::flags;

flags! {
    /// Uses that CUDA makes of a registered resource; with none, it can be read and written. Images
    /// accept all, buffers the first two.
    ///
    /// Example: see [`RegisteredImage`](super::RegisteredImage).
    pub struct RegisterFlags: u32 {
        /// CUDA only reads it. Writes may be lost.
        const READ_ONLY = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY.0;
        /// CUDA overwrites all of it and reads nothing: earlier contents are lost.
        const WRITE_DISCARD = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD.0;
        /// Kernels can access an image through a [`Surface`](crate::texture::Surface).
        const SURFACE = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST.0;
        /// Kernels can gather four texels of an image at once.
        const TEXTURE_GATHER = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER.0;
    }
}

impl RegisterFlags {
    pub(super) fn of_arrays(self) -> ArrayFlags {
        let (mut flags, surface, gather) = (ArrayFlags::empty(), Self::SURFACE, Self::TEXTURE_GATHER);
        flags.set(ArrayFlags::SURFACE, self.contains(surface));
        flags.set(ArrayFlags::TEXTURE_GATHER, self.contains(gather));
        flags
    }
}

/// Use that CUDA makes of a resource when it is next mapped.
///
/// Example: see [`RegisteredBuffer`](super::RegisteredBuffer), `set_use`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MapUse {
    /// It is read and written.
    #[default]
    ReadWrite,
    /// It is only read. Writes may be lost.
    ReadOnly,
    /// All of it is overwritten, and nothing is read: earlier contents are lost.
    WriteDiscard,
}

impl MapUse {
    pub(super) const fn as_raw(self) -> u32 {
        match self {
            Self::ReadWrite => CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE.0,
            Self::ReadOnly => CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY.0,
            Self::WriteDiscard => CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD.0,
        }
    }
}

/// Kind of an image: OpenGL's number.
///
/// Example: see [`RegisteredImage`](super::RegisteredImage).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ImageTarget(pub GLenum);

impl ImageTarget {
    /// `GL_TEXTURE_2D`.
    pub const TEXTURE_2D: Self = Self(0x0DE1);
    /// `GL_TEXTURE_RECTANGLE`.
    pub const TEXTURE_RECTANGLE: Self = Self(0x84F5);
    /// `GL_TEXTURE_CUBE_MAP`.
    pub const TEXTURE_CUBE_MAP: Self = Self(0x8513);
    /// `GL_TEXTURE_3D`.
    pub const TEXTURE_3D: Self = Self(0x806F);
    /// `GL_TEXTURE_2D_ARRAY`.
    pub const TEXTURE_2D_ARRAY: Self = Self(0x8C1A);
    /// `GL_RENDERBUFFER`.
    pub const RENDERBUFFER: Self = Self(0x8D41);
}

/// Devices of an OpenGL context, which may alternate between several.
///
/// Example: see [`devices`](super::devices).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum GlDevices {
    /// All of them.
    #[default]
    All,
    /// The devices that render the current frame.
    CurrentFrame,
    /// The devices that will render the next frame.
    NextFrame,
}

impl GlDevices {
    pub(super) const fn as_raw(self) -> CUGLDeviceList {
        match self {
            Self::All => CUGLDeviceList::CU_GL_DEVICE_LIST_ALL,
            Self::CurrentFrame => CUGLDeviceList::CU_GL_DEVICE_LIST_CURRENT_FRAME,
            Self::NextFrame => CUGLDeviceList::CU_GL_DEVICE_LIST_NEXT_FRAME,
        }
    }
}
