//! OpenGL buffers.

use cuprum_sys::{CUgraphicsMapResourceFlags, CUgraphicsResource, GLuint};

use super::RegisterFlags;
use super::registered::{Registered, registered};
use crate::context::{Current, context_call};
use crate::error::Error;

/// An OpenGL buffer object, registered with a context, which it borrows or shares.
///
/// It stays on its thread, like OpenGL contexts: see the [module](super). Drop unregisters it,
/// swallows errors and does nothing in a forked child; [`close`](RegisteredBuffer::close) returns
/// errors. OpenGL still owns the buffer object.
///
/// ```
/// # cuprum::example!(software driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer};
/// use cuprum::sys::CUgraphicsMapResourceFlags;
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let name = gl.buffer(&[1, 0, 0, 0, 2, 0, 0, 0]);
/// // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
/// let mut indices = unsafe { RegisteredBuffer::new(&cx, name, RegisterFlags::empty()) }?;
/// indices.set_use(&cx, CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY)?;
///
/// let stream = Stream::default_in(&cx);
/// let mut mapped = graphics::map(&cx, &stream, &mut indices)?;
/// assert_eq!(mapped.views().as_slice::<u32>(&cx)?.to_vec(&cx)?, [1, 2]);
/// mapped.unmap(&cx)?;
/// indices.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keeping it in a struct
///
/// In a struct it is a `RegisteredBuffer<'static>`, registered with a [shared
/// context](crate::Shared). The struct stays on its thread.
pub struct RegisteredBuffer<'ctx>(pub(super) Registered<'ctx>);

registered!(RegisteredBuffer);

impl<'ctx> RegisteredBuffer<'ctx> {
    /// Registers the buffer object `name` of the OpenGL context that is current on this thread.
    ///
    /// This is slow: register once, and map for each frame.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT` if there is no such context, or if it is not on the
    /// device of `cx` (see [`devices`](super::devices)); `CUDA_ERROR_INVALID_HANDLE` if it has no
    /// such buffer; `CUDA_ERROR_INVALID_VALUE` for the name 0 and for flags of images;
    /// `CUDA_ERROR_OUT_OF_MEMORY`, also for a buffer without storage.
    ///
    /// # Safety
    /// 1. While the result is registered, the OpenGL context lives, the buffer is not deleted, and
    ///    its storage is not reallocated (`glBufferData`).
    /// 2. Whenever the result is mapped, unmapped or unregistered, by a method or a drop, an OpenGL
    ///    context with the buffer is current.
    /// 3. While it is mapped, OpenGL does not use the buffer. A guard that was forgotten, or that
    ///    failed to unmap, leaves it mapped.
    /// 4. When the guard ends, CUDA work on the mapped memory on other streams than the mapping's
    ///    is complete, or ordered before that stream, or its results may have any value. (On an
    ///    H100 with driver 580, unregistering waits for it.)
    /// 5. If the same buffer is registered twice, CUDA accesses through both are ordered, or their
    ///    results may have any value.
    ///
    /// Driver: `cuGraphicsGLRegisterBuffer`, CUDA 3.0+.
    #[doc(alias = "cuGraphicsGLRegisterBuffer")]
    #[inline]
    pub unsafe fn new(cx: &Current<'_, 'ctx>, name: GLuint, flags: RegisterFlags) -> Result<Self, Error> {
        Registered::new(cx, name, flags, |context, out| {
            // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the
            // caller guarantees OpenGL's state.
            unsafe { context_call!(context, cuGraphicsGLRegisterBuffer(out, name, flags.bits())) }
        })
        .map(Self)
    }
}
