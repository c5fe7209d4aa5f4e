//! OpenGL's current context.

use cuprum_sys::CUresult;

use crate::opengl::{self, Missing};

use crate::driver::answer::Answer;
use crate::driver::call::not_supported;

/// Returns the context of OpenGL that is current on the calling thread.
pub(super) fn gl() -> Answer<Box<dyn opengl::Context>> {
    opengl::current().map_err(|missing| match missing {
        Missing::NoContext => CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
        Missing::NotAsked(reason) => not_supported(reason),
    })
}
