//! Images of OpenGL: textures and renderbuffers.

use std::fmt;

use cuprum_sys::{CUgraphicsResource, GLuint};

use super::registered::{Registered, registered};
use super::{ImageTarget, MapUse, Mapped, RegisterFlags, map};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::stream::Stream;

/// A texture or renderbuffer of OpenGL, registered with a context, which it borrows or shares.
///
/// It stays on its thread, as contexts of OpenGL do: see the [module](super). Drop unregisters it, swallows errors and does
/// nothing in a forked child; [`close`](RegisteredImage::close) returns errors. The image stays OpenGL's.
///
/// Its elements have one, two or four channels of 8, 16 or 32 bits: `GL_R8`, `GL_RG16F`, `GL_RGBA32UI` and so on. As an
/// array those of `GL_RGBA8` are `[u8; 4]`, whatever OpenGL makes of the numbers. What else a driver takes is its own choice:
/// 580 takes `GL_RGB8` as four channels, and no formats of depth, of packed bits or of compressed blocks.
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
/// As a [`RegisteredBuffer`](super::RegisteredBuffer).
pub struct RegisteredImage<'ctx>(pub(super) Registered<'ctx>);

registered!(RegisteredImage);

impl<'ctx> RegisteredImage<'ctx> {
    /// Registers the image `name`, of this target, of the context of OpenGL that is current on this thread.
    ///
    /// This is slow: register once, and map for each frame.
    ///
    /// # Errors
    /// Same as [`RegisteredBuffer::new`](super::RegisteredBuffer::new); `CUDA_ERROR_INVALID_VALUE` also for an image without
    /// storage, for formats that CUDA does not share, and for other targets than those of [`ImageTarget`].
    ///
    /// # Safety
    /// 1. Same as [`RegisteredBuffer::new`](super::RegisteredBuffer::new), of an image, whose storage is not made anew by
    ///    `glTexImage2D` and its like.
    /// 2. `target` is the image's: drivers do not compare (580 takes a plane for a cube).
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
            // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the caller vouches for OpenGL.
            unsafe { context_call!(context, cuGraphicsGLRegisterImage(out, name, target.0, flags.bits())) }
        })
        .map(Self)
    }

    /// Maps it: until the guard ends, CUDA has it and OpenGL must not use it. OpenGL commands
    /// issued before complete before any work queued on `stream` from now on. To map several at once: [`map`], which also
    /// says when the host waits.
    ///
    /// # Errors
    /// Same as [`map`].
    ///
    /// Driver: `cuGraphicsMapResources`, CUDA 3.0+; before it `cuGraphicsUnmapResources`, CUDA 3.0+, if it is mapped still; after
    /// it on a non-blocking stream `cuStreamSynchronize`, CUDA 2.0+.
    #[doc(alias("cuGraphicsMapResources", "cuGraphicsUnmapResources"))]
    #[inline]
    pub fn map<'r>(
        &'r mut self,
        cx: &Current<'_, '_>,
        stream: &'r Stream<'_>,
    ) -> Result<Mapped<'r, &'r mut Self>, Error> {
        map(cx, stream, self)
    }

    /// Says what CUDA will do with it the next times that it is mapped.
    ///
    /// # Errors
    /// `CUDA_ERROR_ALREADY_MAPPED` if a guard was forgotten; [`Error::is_wrong_context`].
    ///
    /// Driver: `cuGraphicsResourceSetMapFlags_v2`, CUDA 6.5+.
    #[doc(alias = "cuGraphicsResourceSetMapFlags_v2")]
    #[inline]
    pub fn set_use(&mut self, cx: &Current<'_, '_>, map_use: MapUse) -> Result<(), Error> {
        self.0.set_use(cx, map_use)
    }

    /// Unregisters it and returns the error that `Drop` would swallow. It is unmapped before if a guard was forgotten or did not succeed,
    /// and it is not unregistered again after an error.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuGraphicsUnregisterResource`, CUDA 3.0+; before it `cuGraphicsUnmapResources`, CUDA 3.0+, if it is mapped still.
    #[doc(alias("cuGraphicsUnregisterResource", "cuGraphicsUnmapResources"))]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}
