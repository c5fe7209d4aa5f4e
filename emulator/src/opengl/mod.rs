//! The OpenGL context of the calling thread.
//!
//! On a machine with a GPU, OpenGL and CUDA share memory. The software device cannot access
//! OpenGL's memory: it reads the contents of a buffer or image when it is mapped, and writes them
//! back when it is unmapped. It works with any OpenGL from 3.1 on that is current through EGL or
//! GLX on Linux, such as Mesa's, or with a [`StandIn`].

mod context;
mod current;
mod format;
#[cfg(all(target_os = "linux", not(miri)))]
mod found;
mod stand_in;

pub(crate) use self::context::{
    Context, Image, Kind, RENDERBUFFER, TEXTURE_2D, TEXTURE_2D_ARRAY, TEXTURE_3D, TEXTURE_CUBE_MAP,
    TEXTURE_RECTANGLE,
};
pub(crate) use self::current::current;
pub(crate) use format::{BYTE, Format, HALF_FLOAT, INT, SHORT, UNSIGNED_BYTE, UNSIGNED_INT, UNSIGNED_SHORT};
pub use stand_in::StandIn;
