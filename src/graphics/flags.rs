//! Options for registering a resource.

use cuprum_sys::CUgraphicsRegisterFlags;

use crate::memory::ArrayFlags;
use crate::raw::flags::flags;

flags! {
    /// Uses that CUDA makes of a registered resource; with none, it can be read and written. Images
    /// accept all, buffers the first two.
    ///
    /// ```
    /// # cuprum::example!(software driver, context, cx);
    /// use cuprum::graphics::{RegisterFlags, RegisteredBuffer};
    ///
    /// # let gl = cuprum_emulator::opengl::StandIn::make_current();
    /// # let name = gl.buffer(&[0; 8]);
    /// // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
    /// let buffer = unsafe { RegisteredBuffer::new(&cx, name, RegisterFlags::READ_ONLY) }?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct RegisterFlags: u32 {
        /// CUDA only reads it. Writes may be lost.
        const READ_ONLY = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY.0;
        /// CUDA overwrites all of it and reads nothing: earlier contents are lost.
        const WRITE_DISCARD = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD.0;
        /// Kernels can access an image through a [`Surface`](crate::texture::Surface).
        const SURFACE = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST.0;
        /// Kernels can gather four texels of an image at once.
        const TEXTURE_GATHER = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER.0;
    }
}

impl RegisterFlags {
    pub(super) fn of_arrays(self) -> ArrayFlags {
        let (mut flags, surface, gather) = (ArrayFlags::empty(), Self::SURFACE, Self::TEXTURE_GATHER);
        flags.set(ArrayFlags::SURFACE, self.contains(surface));
        flags.set(ArrayFlags::TEXTURE_GATHER, self.contains(gather));
        flags
    }
}
