//! The C types of handles, as numbers.

use core::ffi::c_void;

use cuprum_sys::*;

pub(crate) trait Handle: Copy {
    fn addr(self) -> usize;
    fn from_addr(addr: usize) -> Self;
}

macro_rules! handles {
    ($($name:ident),* $(,)?) => { $(
        impl Handle for $name {
            fn addr(self) -> usize {
                self.0.addr()
            }

            fn from_addr(addr: usize) -> Self {
                Self(core::ptr::without_provenance_mut::<c_void>(addr))
            }
        }
    )* };
}

handles!(
    CUarray,
    CUcontext,
    CUdevResourceDesc,
    CUevent,
    CUexternalMemory,
    CUexternalSemaphore,
    CUfunction,
    CUgraph,
    CUgraphExec,
    CUgraphNode,
    CUgraphicsResource,
    CUgreenCtx,
    CUkernel,
    CUlibrary,
    CUlinkState,
    CUlogsCallbackHandle,
    CUmemoryPool,
    CUmipmappedArray,
    CUmodule,
    CUstream,
    CUtexref,
    CUsurfref,
    CUuserObject,
);
