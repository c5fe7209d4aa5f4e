//! What registered buffers and images have in common.

use std::marker::PhantomData;

use cuprum_sys::{CUgraphicsResource, CUresult, FnId, Fns, GLuint, call};

use super::{MapUse, RegisterFlags};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};

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
    pub(super) fn new(
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
            pub fn context(&self) -> &ContextRef {
                self.0.held().context()
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
