//! OpenGL's current context.

use cuprum_sys::CUresult;

use crate::opengl;

use crate::driver::answer::Answer;
use crate::driver::call::not_supported;

/// Returns the context of OpenGL that is current on the calling thread.
pub(super) fn gl() -> Answer<Box<dyn opengl::Context>> {
    let current = opengl::current().map_err(not_supported)?;
    current.ok_or(CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT)
}
