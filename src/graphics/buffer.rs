//! Buffers of OpenGL.

use std::fmt;

use cuprum_sys::{CUgraphicsResource, GLuint};

use super::registered::{Registered, registered};
use super::{MapUse, Mapped, RegisterFlags, map};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::stream::Stream;

/// A buffer object of OpenGL, registered with a context, which it borrows or shares.
///
/// It stays on its thread, as contexts of OpenGL do: see the [module](super). Drop unregisters it, swallows errors and does
/// nothing in a forked child; [`close`](RegisteredBuffer::close) returns errors. The buffer object stays OpenGL's.
///
/// ```
/// # let driver = cuprum::Driver::init(cuprum_emulator::library())?;
/// # let context = cuprum::context::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::context::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Stream;
/// use cuprum::graphics::{MapUse, RegisterFlags, RegisteredBuffer};
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let name = gl.buffer(&[1, 0, 0, 0, 2, 0, 0, 0]);
/// // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
/// let mut indices = unsafe { RegisteredBuffer::new(&cx, name, RegisterFlags::empty()) }?;
/// indices.set_use(&cx, MapUse::ReadOnly)?;
///
/// let stream = Stream::default_in(&cx);
/// let mut mapped = indices.map(&cx, &stream)?;
/// assert_eq!(mapped.views().as_slice::<u32>(&cx)?.to_vec(&cx)?, [1, 2]);
/// mapped.unmap(&cx)?;
/// indices.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keeping it in a struct
///
/// In a struct it is a `RegisteredBuffer<'static>`, registered with a [shared context](crate::Shared). The struct
/// stays on its thread.
pub struct RegisteredBuffer<'ctx>(pub(super) Registered<'ctx>);

registered!(RegisteredBuffer);

impl<'ctx> RegisteredBuffer<'ctx> {
    /// Registers the buffer object `name` of the context of OpenGL that is current on this thread.
    ///
    /// This is slow: register once, and map for each frame.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT` if there is no such context, or it is not on the device of `cx` (see
    /// [`devices`](super::devices)); `CUDA_ERROR_INVALID_HANDLE` if it has no such buffer; `CUDA_ERROR_INVALID_VALUE` for the
    /// name 0 and for flags of images; `CUDA_ERROR_OUT_OF_MEMORY`, also for a buffer without storage.
    ///
    /// # Safety
    /// 1. As long as the result is registered, the context of OpenGL lives, the buffer is not deleted, and its storage is not
    ///    made anew (`glBufferData`).
    /// 2. Whenever the result is mapped, unmapped or unregistered, by a method or a drop, a context of OpenGL is current that
    ///    has the buffer.
    /// 3. While it is mapped, OpenGL does not use the buffer. That lasts after a guard that was forgotten, or that failed to
    ///    unmap.
    /// 4. CUDA's work with the mapped memory on other streams than that of the mapping is done, or in order before that
    ///    stream, when the guard ends, or the result may be any. (On an H100 with driver 580, unregistering waits for it.)
    /// 5. If the same buffer is registered twice, what CUDA does with both is in order, or the result may be any.
    ///
    /// Driver: `cuGraphicsGLRegisterBuffer`, CUDA 3.0+.
    #[doc(alias = "cuGraphicsGLRegisterBuffer")]
    #[inline]
    pub unsafe fn new(cx: &Current<'_, 'ctx>, name: GLuint, flags: RegisterFlags) -> Result<Self, Error> {
        Registered::new(cx, name, flags, |context, out| {
            // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the caller vouches for OpenGL.
            unsafe { context_call!(context, cuGraphicsGLRegisterBuffer(out, name, flags.bits())) }
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
