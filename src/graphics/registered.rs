//! Buffers and images of OpenGL that are registered with a context.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUgraphicsResource, CUresult, FnId, Fns, GLuint, call};

use super::{ImageTarget, MapUse, Mapped, RegisterFlags, map};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};
use crate::stream::Stream;

// SAFETY: the driver allows any thread to use and to unregister a resource; those who register vouch for OpenGL there.
unsafe impl Handle for CUgraphicsResource {
    const NAME: &'static str = "Registered";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that it is registered and not used again.
        unsafe { call!(fns, cuGraphicsUnregisterResource(self)) }
    }
}

/// What both kinds have.
pub(super) struct Registered<'ctx> {
    resource: Held<'ctx, CUgraphicsResource>,
    name: GLuint,
    flags: RegisterFlags,
    /// OpenGL's contexts belong to a thread.
    _this_thread: PhantomData<*mut ()>,
}

impl<'ctx> Registered<'ctx> {
    /// Registers what `register` registers under the name.
    fn new(
        cx: &Current<'_, 'ctx>,
        name: GLuint,
        flags: RegisterFlags,
        register: impl FnOnce(&ContextRef, *mut CUgraphicsResource) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let (context, mut raw) = (cx.get()?, CUgraphicsResource::null());
        register(&context, &raw mut raw)?;
        Ok(Self { resource: Held::new(raw, context), name, flags, _this_thread: PhantomData })
    }

    pub(super) const fn raw(&self) -> CUgraphicsResource {
        self.resource.raw()
    }

    pub(super) const fn held(&self) -> &Held<'ctx, CUgraphicsResource> {
        &self.resource
    }

    pub(super) const fn flags(&self) -> RegisterFlags {
        self.flags
    }

    fn set_use(&self, cx: &Current<'_, '_>, map_use: MapUse) -> Result<(), Error> {
        let context = cx.of(self.resource.context(), FnId::cuGraphicsResourceSetMapFlags_v2)?;
        // SAFETY: the resource is registered, and its context current.
        unsafe { context_call!(context, cuGraphicsResourceSetMapFlags_v2(self.raw(), map_use.as_raw())) }
    }
}

/// Common methods of both kinds.
macro_rules! registered {
    ($kind:ident) => {
        impl $kind<'_> {
            /// Maps it: until the guard ends, CUDA has it and OpenGL must not use it. What OpenGL was told before is done
            /// before what `stream` is given from now on; the host does not wait. To map several at once: [`map`].
            ///
            /// # Errors
            /// Those of [`map`].
            ///
            /// Driver: `cuGraphicsMapResources`, CUDA 3.0+.
            #[doc(alias = "cuGraphicsMapResources")]
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
            pub fn set_use(&mut self, cx: &Current<'_, '_>, map_use: MapUse) -> Result<(), Error> {
                self.0.set_use(cx, map_use)
            }

            /// The driver's handle.
            pub const fn as_raw(&self) -> CUgraphicsResource {
                self.0.raw()
            }

            /// The name that OpenGL gave it.
            pub const fn name(&self) -> GLuint {
                self.0.name
            }

            /// Flags with which it was registered.
            pub const fn flags(&self) -> RegisterFlags {
                self.0.flags
            }

            /// The context with which it is registered.
            pub fn context(&self) -> &ContextRef {
                self.0.resource.context()
            }

            /// Unregisters it and reports what `Drop` would swallow. It is not unregistered again after an error.
            ///
            /// # Errors
            /// Whatever the driver reports.
            ///
            /// Driver: `cuGraphicsUnregisterResource`, CUDA 3.0+.
            #[doc(alias = "cuGraphicsUnregisterResource")]
            pub fn close(self) -> Result<(), Error> {
                self.0.resource.close()
            }
        }

        impl fmt::Debug for $kind<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($kind), "({:?}, OpenGL's {})"), self.as_raw(), self.name())
            }
        }
    };
}

/// A buffer object of OpenGL, registered with a context, which it borrows or shares.
///
/// It stays on its thread, as contexts of OpenGL do: see the [module](super). Drop unregisters it, swallows errors and does
/// nothing in a forked child; [`close`](RegisteredBuffer::close) reports. The buffer object stays OpenGL's.
///
/// ```
/// # let driver = cuprum::Driver::init(cuprum_emulator::library())?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
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
/// In a struct it is a `RegisteredBuffer<'static>`, registered with a [`SharedContext`](crate::SharedContext). The struct
/// stays on its thread.
pub struct RegisteredBuffer<'ctx>(pub(super) Registered<'ctx>);

/// A texture or renderbuffer of OpenGL, registered with a context, which it borrows or shares.
///
/// It stays on its thread, as contexts of OpenGL do: see the [module](super). Drop unregisters it, swallows errors and does
/// nothing in a forked child; [`close`](RegisteredImage::close) reports. The image stays OpenGL's.
///
/// Its elements have one, two or four channels of 8, 16 or 32 bits: `GL_R8`, `GL_RG16F`, `GL_RGBA32UI` and so on. As an
/// array those of `GL_RGBA8` are `[u8; 4]`, whatever OpenGL makes of the numbers.
///
/// ```
/// # let driver = cuprum::Driver::init(cuprum_emulator::library())?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
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
/// As a [`RegisteredBuffer`].
pub struct RegisteredImage<'ctx>(pub(super) Registered<'ctx>);

registered!(RegisteredBuffer);
registered!(RegisteredImage);

impl<'ctx> RegisteredBuffer<'ctx> {
    /// Registers the buffer object `name` of the context of OpenGL that is current on this thread.
    ///
    /// This is slow: register once, and map for each frame.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT` or `CUDA_ERROR_OPERATING_SYSTEM` if there is no such context, or it is not on
    /// the device of `cx` (see [`devices`](super::devices)); `CUDA_ERROR_INVALID_VALUE` if it has no such buffer, the buffer
    /// has no storage, or for flags of images; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// # Safety
    /// 1. As long as the result is registered, the context of OpenGL lives, the buffer is not deleted, and its storage is not
    ///    made anew (`glBufferData`).
    /// 2. Whenever the result is mapped, unmapped or unregistered, by a method or a drop, a context of OpenGL is current that
    ///    has the buffer.
    /// 3. While it is mapped, OpenGL does not use the buffer. That lasts after a guard that was forgotten, or that failed to
    ///    unmap.
    /// 4. CUDA's work with the mapped memory on other streams than that of the mapping is done, or in order before that
    ///    stream, when the guard ends.
    ///
    /// Driver: `cuGraphicsGLRegisterBuffer`, CUDA 3.0+.
    #[doc(alias = "cuGraphicsGLRegisterBuffer")]
    pub unsafe fn new(cx: &Current<'_, 'ctx>, name: GLuint, flags: RegisterFlags) -> Result<Self, Error> {
        Registered::new(cx, name, flags, |context, out| {
            // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the caller vouches for OpenGL.
            unsafe { context_call!(context, cuGraphicsGLRegisterBuffer(out, name, flags.bits())) }
        })
        .map(Self)
    }
}

impl<'ctx> RegisteredImage<'ctx> {
    /// Registers the image `name`, of this target, of the context of OpenGL that is current on this thread.
    ///
    /// This is slow: register once, and map for each frame.
    ///
    /// # Errors
    /// Those of [`RegisteredBuffer::new`]; `CUDA_ERROR_INVALID_VALUE` also for another target than the image's, for formats
    /// of three channels, of depth, and compressed ones.
    ///
    /// # Safety
    /// Those of [`RegisteredBuffer::new`], of an image, whose storage is not made anew by `glTexImage2D` and its like.
    ///
    /// Driver: `cuGraphicsGLRegisterImage`, CUDA 3.0+.
    #[doc(alias = "cuGraphicsGLRegisterImage")]
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
}
