//! Access of one context to the memory of another.
//!
//! All devices of the emulator share one address space, so copies always work. Kernels use memory
//! of a context on another device only while their own context has access to it.

use cuprum_sys::*;

use crate::driver::answer::{INVALID_VALUE, ensure};
use crate::driver::call::calls;

use super::object::Context;

calls! {
    fn cuCtxEnablePeerAccess(call, peerContext: CUcontext, Flags: u32) {
        ensure(Flags == 0, INVALID_VALUE)?;
        let context = call.context()?;
        let peer = Context::find(peerContext)?;
        ensure(
            peer.device != context.device,
            CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
        )?;
        let new = context.peers().insert(peer.handle as u64);
        ensure(new, CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
    }

    fn cuCtxDisablePeerAccess(call, peerContext: CUcontext) {
        let context = call.context()?;
        let peer = Context::find(peerContext)?;
        let known = context.peers().remove(&(peer.handle as u64));
        ensure(known, CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
    }
}
