//! OpenGL images: textures and renderbuffers.

use std::fmt;

use cuprum_sys::{CUgraphicsResource, GLuint};

use super::registered::{Registered, registered};
use super::{ImageTarget, MapUse, Mapped, RegisterFlags, map};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::stream::Stream;

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
/// # let driver = cuprum::Driver::init(cuprum_emulator::library())?;
/// # let context = cuprum::context::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::context::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Stream;
/// use cuprum::graphics::{ImageTarget, RegisterFlags, RegisteredImage};
/// use cuprum::texture::Surface;
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let name = gl.texture(0x8058, 2, 1, &[10, 20, 30, 255, 0, 0, 0, 255]);
/// // SAFETY: OpenGL neither deletes the texture nor uses it while it is mapped, and stays current on this thread.
/// let mut picture =
///     unsafe { RegisteredImage::new(&cx, name, ImageTarget::TEXTURE_2D, RegisterFlags::SURFACE) }?;
///
/// let stream = Stream::default_in(&cx);
/// let mut mapped = picture.map(&cx, &stream)?;
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
    /// Registers the image `name` with a target, of the OpenGL context current on this thread.
    ///
    /// This is slow: register once, and map for each frame.
    ///
    /// # Errors
    /// Same as [`RegisteredBuffer::new`](super::RegisteredBuffer::new); `CUDA_ERROR_INVALID_VALUE`
    /// also for an image without storage, for formats that CUDA does not share, and for targets
    /// that are not in [`ImageTarget`].
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
        target: ImageTarget,
        flags: RegisterFlags,
    ) -> Result<Self, Error> {
        Registered::new(cx, name, flags, |context, out| {
            // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the
            // caller guarantees OpenGL's state.
            unsafe { context_call!(context, cuGraphicsGLRegisterImage(out, name, target.0, flags.bits())) }
        })
        .map(Self)
    }

    /// Maps it: until the guard ends, CUDA owns it and OpenGL must not use it. Earlier OpenGL
    /// commands complete before any later work on `stream`. [`map`] maps several at once, and
    /// documents when the host waits.
    ///
    /// # Errors
    /// Same as [`map`].
    ///
    /// Driver: `cuGraphicsMapResources`, CUDA 3.0+; before it `cuGraphicsUnmapResources`,
    /// CUDA 3.0+, if it is still mapped; after it on a non-blocking stream `cuStreamSynchronize`,
    /// CUDA 2.0+.
    #[doc(alias("cuGraphicsMapResources", "cuGraphicsUnmapResources"))]
    #[inline]
    pub fn map<'r>(
        &'r mut self,
        cx: &Current<'_, '_>,
        stream: &'r Stream<'_>,
    ) -> Result<Mapped<'r, &'r mut Self>, Error> {
        map(cx, stream, self)
    }

    /// Sets the use that CUDA makes of it when it is next mapped.
    ///
    /// # Errors
    /// `CUDA_ERROR_ALREADY_MAPPED` if a guard was forgotten; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuGraphicsResourceSetMapFlags_v2`, CUDA 6.5+.
    #[doc(alias = "cuGraphicsResourceSetMapFlags_v2")]
    #[inline]
    pub fn set_use(&mut self, cx: &Current<'_, '_>, map_use: MapUse) -> Result<(), Error> {
        self.0.set_use(cx, map_use)
    }

    /// Unregisters it and returns the error that `Drop` would swallow. If a guard was forgotten or
    /// failed, it is unmapped first.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuGraphicsUnregisterResource`, CUDA 3.0+; before it `cuGraphicsUnmapResources`,
    /// CUDA 3.0+, if it is still mapped.
    #[doc(alias("cuGraphicsUnregisterResource", "cuGraphicsUnmapResources"))]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}
