//! What registered buffers and images have in common.

use std::marker::PhantomData;

use cuprum_sys::{CU_STREAM_PER_THREAD, CUgraphicsResource, CUresult, CUstream, FnId, Fns, GLuint, call};

use super::{MapUse, RegisterFlags};
use crate::context::{ContextRef, Current, captures};
use crate::error::{Error, is_refused_by_a_capture};
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};
use crate::raw::keep::Near;

/// A registered resource by its handle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registration {
    raw: CUgraphicsResource,
    /// True from before a call that maps it until one that unmaps it has succeeded.
    may_be_mapped: bool,
}

// SAFETY: the driver allows any thread to use and to unregister a resource; those who register vouch for OpenGL there.
unsafe impl Handle for Registration {
    const NAME: &'static str = "Registered";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free_on(CUstream::null(), fns) }
    }

    /// Nothing may be queued on the legacy default stream: when all work of the context is over, any will do.
    unsafe fn free_beside_captures(self, fns: &Fns) -> (CUresult, FnId) {
        if self.may_be_mapped {
            // SAFETY: guaranteed by the caller.
            let waited = unsafe { captures::wait_by_freeing(fns) };
            if waited.0 != CUresult::CUDA_SUCCESS {
                return waited;
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.free_on(CU_STREAM_PER_THREAD, fns) }
    }
}

impl Registration {
    /// # Safety
    /// As for [`Handle::free`].
    unsafe fn free_on(self, stream: CUstream, fns: &Fns) -> (CUresult, FnId) {
        let mut raw = self.raw;
        let unmapped = if self.may_be_mapped {
            // SAFETY: the caller guarantees that it is registered; one that is not mapped is an error and no more.
            unsafe { call!(fns, cuGraphicsUnmapResources(1, &raw mut raw, stream)) }
        } else {
            (CUresult::CUDA_SUCCESS, FnId::cuGraphicsUnmapResources)
        };
        if is_refused_by_a_capture(unmapped.0) {
            // With this answer nothing may be freed: this is called again.
            return unmapped;
        }
        // SAFETY: the caller guarantees that it is registered and not used again.
        let unregistered = unsafe { call!(fns, cuGraphicsUnregisterResource(raw)) };
        match unmapped.0 {
            CUresult::CUDA_SUCCESS | CUresult::CUDA_ERROR_NOT_MAPPED => unregistered,
            _ => unmapped,
        }
    }
}

/// What both kinds have.
pub(super) struct Registered<'ctx> {
    resource: Held<'ctx, Registration>,
    name: GLuint,
    flags: RegisterFlags,
    /// OpenGL's contexts belong to a thread.
    _this_thread: PhantomData<*mut ()>,
}

impl<'ctx> Registered<'ctx> {
    /// Registers what `register` registers under the name.
    pub(super) fn new(
        cx: &Current<'_, 'ctx>,
        name: GLuint,
        flags: RegisterFlags,
        register: impl FnOnce(&ContextRef, *mut CUgraphicsResource) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let (context, mut raw) = (cx.get()?, CUgraphicsResource::null());
        register(&context, &raw mut raw)?;
        let resource = Held::new(Registration { raw, may_be_mapped: false }, context);
        Ok(Self { resource, name, flags, _this_thread: PhantomData })
    }

    pub(super) const fn raw(&self) -> CUgraphicsResource {
        self.resource.raw().raw
    }

    pub(super) fn context(&self) -> &ContextRef {
        self.resource.context()
    }

    pub(super) fn near(&self) -> Near<'_, ContextRef> {
        self.resource.near()
    }

    pub(super) fn set_mapped(&mut self, may_be_mapped: bool) {
        self.resource.raw_mut().may_be_mapped = may_be_mapped;
    }

    /// Unmaps it if a guard of it was forgotten, or a call failed that may have mapped it or not unmapped it: behind the
    /// default stream, on which its slices were copied and filled.
    pub(super) fn settle(&mut self, context: &ContextRef) -> Result<(), Error> {
        if !self.resource.raw().may_be_mapped {
            return Ok(());
        }
        let (mut raw, stream) = (self.raw(), CUstream::null());
        // SAFETY: the resource is registered, its context current, and the default stream always there; one that is not mapped
        // is an error and no more.
        match unsafe { context_call!(context, cuGraphicsUnmapResources(1, &raw mut raw, stream)) } {
            Err(error) if error.code() != CUresult::CUDA_ERROR_NOT_MAPPED => return Err(error),
            _ => self.set_mapped(false),
        }
        Ok(())
    }

    pub(super) const fn name(&self) -> GLuint {
        self.name
    }

    pub(super) const fn flags(&self) -> RegisterFlags {
        self.flags
    }

    pub(super) fn close(self) -> Result<(), Error> {
        self.resource.close()
    }

    pub(super) fn set_use(&self, cx: &Current<'_, '_>, map_use: MapUse) -> Result<(), Error> {
        let context = cx.of(self.resource.context(), FnId::cuGraphicsResourceSetMapFlags_v2)?;
        // SAFETY: the resource is registered, and its context current.
        unsafe { context_call!(context, cuGraphicsResourceSetMapFlags_v2(self.raw(), map_use.as_raw())) }
    }
}

/// Common methods of both kinds, which make no calls.
macro_rules! registered {
    ($kind:ident) => {
        impl $kind<'_> {
            /// The driver's handle.
            pub const fn as_raw(&self) -> CUgraphicsResource {
                self.0.raw()
            }

            /// The name that OpenGL gave it.
            pub const fn name(&self) -> GLuint {
                self.0.name()
            }

            /// Flags with which it was registered.
            pub const fn flags(&self) -> RegisterFlags {
                self.0.flags()
            }

            /// The context with which it is registered.
            #[inline]
            pub fn context(&self) -> &ContextRef {
                self.0.context()
            }
        }

        impl fmt::Debug for $kind<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($kind), "({:?}, OpenGL's {})"), self.as_raw(), self.name())
            }
        }
    };
}

pub(super) use registered;
