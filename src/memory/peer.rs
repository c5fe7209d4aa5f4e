//! Memory of another context, on the same device or another one: access from kernels; [copies](super::Peer) need none.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUcontext, CUresult, FnId, Fns, call};

use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};

/// A handle of one driver is a wild pointer to another.
pub(crate) fn same_driver(context: &ContextRef, other: &ContextRef, call: FnId) -> Result<(), Error> {
    if context.driver() == other.driver() { Ok(()) } else { Err(Error::wrong_context(call)) }
}

/// The context whose memory can be reached.
#[derive(Clone, Copy)]
struct Reached(CUcontext);

// SAFETY: access belongs to the context in which it was enabled, not to a thread.
unsafe impl Handle for Reached {
    const NAME: &'static str = "PeerAccess";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the context that was given access is current; the peer is borrowed.
        unsafe { call!(fns, cuCtxDisablePeerAccess(self.0)) }
    }
}

/// Kernels of one context can read and write memory of another, until this is dropped: made by
/// [`Current::enable_peer_access`].
///
/// It borrows both contexts. Forgetting it leaves the access enabled, which is harmless: whoever launches a kernel
/// answers for the memory that it touches.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
///
/// let devices = driver.devices()?;
/// if let [first, second, ..] = devices[..] {
///     let (here, there) = (PrimaryContext::retain(first)?, PrimaryContext::retain(second)?);
///     if first.can_access_peer(second)? {
///         let access = here.enter(|cx| Ok(cx.enable_peer_access(&there)?))?;
///         // Kernels on the first device read memory of the second, until here.
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
    /// Lets kernels of the current context read and write memory of `peer`, a context on another device.
    ///
    /// One way only: the other way is enabled in the other context. See [`Device::can_access_peer`](crate::Device::can_access_peer).
    ///
    /// # Errors
    /// `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED` between devices that cannot; `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED` if somebody
    /// has enabled it, and will end it; `CUDA_ERROR_TOO_MANY_PEERS`; [`Error::is_wrong_context`] for a context of another
    /// driver.
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
    /// Ends the access and reports the error that `Drop` would swallow. Kernels that still use it are for the caller to
    /// wait for.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuCtxDisablePeerAccess`, CUDA 4.0+.
    #[doc(alias = "cuCtxDisablePeerAccess")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.access.close()
    }
}

impl fmt::Debug for PeerAccess<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerAccess")
            .field("of", self.access.context())
            .field("to", &self.access.raw().0)
            .finish()
    }
}
