//! Access of kernels to memory of another context, on the same device or another one.
//! [Copies](super::Peer) do not need it.

use std::marker::PhantomData;

use cuprum_sys::{CUcontext, FnId};

use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::held::{Held, handle};

/// Fails for a context of another driver, for which the handle is a wild pointer.
pub(crate) fn same_driver(context: &ContextRef, other: &ContextRef, call: FnId) -> Result<(), Error> {
    if context.driver() == other.driver() { Ok(()) } else { Err(Error::wrong_context(call)) }
}

#[derive(Clone, Copy)]
struct Reached(CUcontext);

// SAFETY: access belongs to the context that enabled it, not to a thread.
handle!(unsafe Reached: "PeerAccess", |raw| cuCtxDisablePeerAccess(raw.0));

/// Allows kernels of one context to access memory of another, until it is dropped: made by
/// [`Current::enable_peer_access`].
///
/// It borrows both contexts. Forgetting it leaves the access enabled, which is harmless: the launch
/// of a kernel is responsible for the memory that it accesses.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
///
/// let devices = driver.devices()?;
/// if let [first, second, ..] = devices[..] {
///     let (here, there) = (PrimaryContext::retain(first)?, PrimaryContext::retain(second)?);
///     if first.can_access_peer(second)? {
///         let access = here.enter(|cx| Ok(cx.enable_peer_access(&there)?))?;
///         // Until here, kernels on the first device can access memory of the second.
///         access.close()?;
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PeerAccess<'ctx, 'peer> {
    access: Held<'ctx, Reached>,
    _peer: PhantomData<&'peer ContextRef>,
}

impl<'ctx> Current<'_, 'ctx> {
    /// Allows kernels of the current context to access memory of `peer`, on another device.
    ///
    /// This enables one direction; enable the other in the other context. See
    /// [`Device::can_access_peer`](crate::Device::can_access_peer).
    ///
    /// # Errors
    /// `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED` if the devices do not support it;
    /// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED` if other code has enabled it, and will disable it;
    /// `CUDA_ERROR_TOO_MANY_PEERS`; [`Error::WRONG_CONTEXT`] for a context of another driver.
    ///
    /// Driver: `cuCtxEnablePeerAccess`, CUDA 4.0+; at its end `cuCtxDisablePeerAccess`, CUDA 4.0+.
    #[doc(alias = "cuCtxEnablePeerAccess")]
    #[inline]
    pub fn enable_peer_access<'peer>(
        &self,
        peer: &'peer ContextRef,
    ) -> Result<PeerAccess<'ctx, 'peer>, Error> {
        let context = self.get()?;
        same_driver(&context, peer, FnId::cuCtxEnablePeerAccess)?;
        // SAFETY: both contexts are live; flags must be 0.
        unsafe { context_call!(&context, cuCtxEnablePeerAccess(peer.as_raw(), 0)) }?;
        Ok(PeerAccess { access: Held::new(Reached(peer.as_raw()), context), _peer: PhantomData })
    }
}

impl PeerAccess<'_, '_> {
    /// Disables the access and returns the error that `Drop` would swallow. The caller must wait
    /// for kernels that still use it.
    ///
    /// Driver: `cuCtxDisablePeerAccess`, CUDA 4.0+.
    #[doc(alias = "cuCtxDisablePeerAccess")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.access.close()
    }
}

debug! {
    PeerAccess<'_, '_>: |this, f|
    f.debug_struct("PeerAccess").field("of", this.access.context()).field("to", &this.access.raw().0).finish()
}
