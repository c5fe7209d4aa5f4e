//! OpenGL images: textures and renderbuffers.

use cuprum_sys::{CUgraphicsMapResourceFlags, CUgraphicsResource, GLenum, GLuint};

use super::RegisterFlags;
use super::registered::{Registered, registered};
use crate::context::{Current, context_call};
use crate::error::Error;

/// An OpenGL texture or renderbuffer, registered with a context, which it borrows or shares.
///
/// It stays on its thread, like OpenGL contexts: see the [module](super). Drop unregisters it,
/// swallows errors and does nothing in a forked child; [`close`](RegisteredImage::close) returns
/// errors. OpenGL still owns the image.
///
/// Its elements have one, two or four channels of 8, 16 or 32 bits: `GL_R8`, `GL_RG16F`,
/// `GL_RGBA32UI` and so on. The elements of an array of `GL_RGBA8` are `[u8; 4]`, regardless of
/// OpenGL's interpretation. Other formats depend on the driver: 580 accepts `GL_RGB8` as four
/// channels, and no depth, packed or compressed formats.
///
/// ```
/// # cuprum::example!(software driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::graphics::{self, RegisterFlags, RegisteredImage};
/// use cuprum::texture::Surface;
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let name = gl.texture(0x8058, 2, 1, &[10, 20, 30, 255, 0, 0, 0, 255]);
/// // SAFETY: OpenGL neither deletes the texture nor uses it while it is mapped, and stays current on this thread.
/// let mut picture =
///     unsafe { RegisteredImage::new(&cx, name, 0x0DE1, RegisterFlags::SURFACE) }?; // GL_TEXTURE_2D
///
/// let stream = Stream::default_in(&cx);
/// let mut mapped = graphics::map(&cx, &stream, &mut picture)?;
/// let view = mapped.views();
/// let array = view.array::<[u8; 4]>(&cx, 0, 0)?;
/// assert_eq!(array.all().to_vec(&cx)?, [[10, 20, 30, 255], [0, 0, 0, 255]]);
/// let surface = Surface::new(&cx, array)?; // for kernels to write
/// # drop(surface);
/// mapped.unmap(&cx)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keeping it in a struct
///
/// See [`RegisteredBuffer`](super::RegisteredBuffer).
pub struct RegisteredImage<'ctx>(pub(super) Registered<'ctx>);

registered!(RegisteredImage);

impl<'ctx> RegisteredImage<'ctx> {
    /// Registers the image `name` with a target, of the OpenGL context current on this thread. The
    /// target is OpenGL's number: `GL_TEXTURE_2D` (0x0DE1), `GL_TEXTURE_RECTANGLE` (0x84F5),
    /// `GL_TEXTURE_CUBE_MAP` (0x8513), `GL_TEXTURE_3D` (0x806F), `GL_TEXTURE_2D_ARRAY` (0x8C1A) or
    /// `GL_RENDERBUFFER` (0x8D41).
    ///
    /// This is slow: register once, and map for each frame.
    ///
    /// # Errors
    /// Same as [`RegisteredBuffer::new`](super::RegisteredBuffer::new); `CUDA_ERROR_INVALID_VALUE`
    /// also for an image without storage, for formats that CUDA does not share, and for other
    /// targets.
    ///
    /// # Safety
    /// 1. Same as [`RegisteredBuffer::new`](super::RegisteredBuffer::new), for an image, whose
    ///    storage is not reallocated by `glTexImage2D` and similar functions.
    /// 2. `target` is the image's target: drivers do not check it (580 accepts a plane as a cube).
    ///
    /// Driver: `cuGraphicsGLRegisterImage`, CUDA 3.0+.
    #[doc(alias = "cuGraphicsGLRegisterImage")]
    #[inline]
    pub unsafe fn new(
        cx: &Current<'_, 'ctx>,
        name: GLuint,
        target: GLenum,
        flags: RegisterFlags,
    ) -> Result<Self, Error> {
        Registered::new(cx, name, flags, |context, out| {
            // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the
            // caller guarantees OpenGL's state.
            unsafe { context_call!(context, cuGraphicsGLRegisterImage(out, name, target, flags.bits())) }
        })
        .map(Self)
    }
}
