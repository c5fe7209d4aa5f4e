//! Buffers and images of OpenGL: registered, mapped, unmapped.

mod contents;
mod mapping;
mod resource;

use crate::driver::answer::Answer;
use crate::driver::call::{Builder, not_supported};
use crate::opengl::{self, Missing};

use cuprum_sys::CUresult;

pub(crate) fn install(builder: &mut Builder) {
    mapping::install(builder);
    resource::install(builder);
}

/// Returns the context of OpenGL that is current on the calling thread.
fn gl() -> Answer<Box<dyn opengl::Context>> {
    opengl::current().map_err(|missing| match missing {
        Missing::NoContext => CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
        Missing::NotAsked(reason) => not_supported(reason),
    })
}
