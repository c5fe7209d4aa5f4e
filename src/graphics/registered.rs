//! Common part of registered buffers and images.

use std::marker::PhantomData;

use cuprum_sys::{
    CU_STREAM_PER_THREAD, CUgraphicsMapResourceFlags, CUgraphicsResource, CUresult, CUstream, FnId, Fns,
    GLuint, call,
};

use super::RegisterFlags;
use crate::context::{ContextRef, Current, captures, context_call};
use crate::error::{Error, is_refused_by_a_capture};
use crate::raw::held::{Handle, Held};
use crate::raw::keep::Near;

#[derive(Clone, Copy, Debug)]
pub(super) struct Registration {
    raw: CUgraphicsResource,
    /// True from before a call that maps it until a call that unmaps it has succeeded.
    may_be_mapped: bool,
}

// SAFETY: the driver allows any thread to use and to unregister a resource; the caller of the
// registration guarantees OpenGL's state.
unsafe impl Handle for Registration {
    const NAME: &'static str = "Registered";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free_on(CUstream::null(), fns) }
    }

    /// Nothing may be queued on the legacy default stream during a capture. After a wait for all
    /// work of the context, any stream is suitable.
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
    /// Same as [`Handle::free`].
    unsafe fn free_on(self, stream: CUstream, fns: &Fns) -> (CUresult, FnId) {
        let mut raw = self.raw;
        let unmapped = if self.may_be_mapped {
            // SAFETY: it is registered (caller); if it is not mapped, the call only returns an
            // error.
            unsafe { call!(fns, cuGraphicsUnmapResources(1, &raw mut raw, stream)) }
        } else {
            (CUresult::CUDA_SUCCESS, FnId::cuGraphicsUnmapResources)
        };
        if is_refused_by_a_capture(unmapped.0) {
            // After this error nothing may be freed, and this is called again.
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

pub(super) struct Registered<'ctx> {
    resource: Held<'ctx, Registration>,
    name: GLuint,
    flags: RegisterFlags,
    /// OpenGL contexts belong to a thread.
    _this_thread: PhantomData<*mut ()>,
}

impl<'ctx> Registered<'ctx> {
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

    /// Unmaps it if a guard was forgotten, or if a failed call may have left it mapped, after work
    /// on the default stream, on which its slices were copied and filled.
    pub(super) fn settle(&mut self, context: &ContextRef) -> Result<(), Error> {
        if !self.resource.raw().may_be_mapped {
            return Ok(());
        }
        let (mut raw, stream) = (self.raw(), CUstream::null());
        // SAFETY: the resource is registered, its context is current, and the default stream always
        // exists; if it is not mapped, the call only returns an error.
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

    pub(super) fn set_use(
        &self,
        cx: &Current<'_, '_>,
        uses: CUgraphicsMapResourceFlags,
    ) -> Result<(), Error> {
        let context = cx.of(self.resource.context(), FnId::cuGraphicsResourceSetMapFlags_v2)?;
        // SAFETY: the resource is registered, and its context current.
        unsafe { context_call!(context, cuGraphicsResourceSetMapFlags_v2(self.raw(), uses.0)) }
    }
}

/// Common methods of both kinds that make no calls.
macro_rules! registered {
    ($kind:ident) => {
        impl $kind<'_> {
            $crate::raw::owner::as_raw!(CUgraphicsResource, |this| this.0.raw());
            $crate::raw::owner::context!(|this| this.0.context());

            /// Sets the use that CUDA makes of it when it is next mapped.
            ///
            /// # Errors
            /// `CUDA_ERROR_ALREADY_MAPPED` if a guard was forgotten; `CUDA_ERROR_INVALID_VALUE` for
            /// a use that the driver does not know; [`Error::WRONG_CONTEXT`].
            ///
            /// Driver: `cuGraphicsResourceSetMapFlags_v2`, CUDA 6.5+.
            #[doc(alias = "cuGraphicsResourceSetMapFlags_v2")]
            #[inline]
            pub fn set_use(
                &mut self,
                cx: &Current<'_, '_>,
                uses: CUgraphicsMapResourceFlags,
            ) -> Result<(), Error> {
                self.0.set_use(cx, uses)
            }

            /// Unregisters it and returns the error that `Drop` would swallow. If a guard was
            /// forgotten or failed, it is unmapped first.
            ///
            /// Driver: `cuGraphicsUnregisterResource`, CUDA 3.0+; before it
            /// `cuGraphicsUnmapResources`, CUDA 3.0+, if it is still mapped.
            #[doc(alias("cuGraphicsUnregisterResource", "cuGraphicsUnmapResources"))]
            #[inline]
            pub fn close(self) -> Result<(), Error> {
                self.0.close()
            }
        }

        $crate::raw::debug::debug!($kind<'_>: |this| "{:?}, OpenGL's {}", this.as_raw(), this.0.name());
    };
}

pub(super) use registered;
