//! Memory of another context, on the same device or another one: copies, and access from kernels.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUcontext, CUresult, FnId, Fns, call};

use super::{
    CopySource, DeviceData, MemoryError, PitchedMut, Slice, SliceMut, bytes_of, copy, same_length, side,
};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};

impl<T: DeviceData> SliceMut<'_, T> {
    /// Copies from device memory of another context, on the same device or another one. The host does not wait.
    ///
    /// The copy comes after all work of both contexts so far, and before all that is queued in them later. It needs no
    /// [peer access](Current::enable_peer_access); with it, the data does not pass through the host.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let device = cuprum::Driver::init(library)?.device(0)?;
    /// use cuprum::{Buffer, Context, ContextFlags, ContextStack};
    ///
    /// let (here, there) =
    ///     (Context::create(device, ContextFlags::empty())?, Context::create(device, ContextFlags::empty())?);
    /// let mut stack = ContextStack::take()?;
    /// let mut cx = stack.push(&here)?;
    /// let mut mine = Buffer::<u32>::zeroed(&cx, 3)?;
    /// let theirs = Buffer::from_slice(&cx.push(&there)?, &[1u32, 2, 3])?;
    /// mine.as_mut_slice().copy_from_peer(&cx, theirs.as_slice())?;
    /// assert_eq!(mine.to_vec(&cx)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; [`Error::is_wrong_context`] unless this side is of the
    /// current context, and the other of the same driver; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemcpyPeer`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyPeer")]
    #[inline]
    pub fn copy_from_peer(&mut self, cx: &Current<'_, '_>, source: Slice<'_, T>) -> Result<(), MemoryError> {
        same_length(self.len(), source.len())?;
        let bytes = bytes_of::<T>(self.len())?;
        let context = cx.of(self.context(), FnId::cuMemcpyPeer)?;
        same_driver(context, source.context(), FnId::cuMemcpyPeer)?;
        let (to, from) = ((context, self.as_raw()), (source.context(), source.as_raw()));
        // SAFETY: both sides have `bytes` bytes in live allocations of their contexts; this side is ours.
        unsafe { copy::between(context, to, from, bytes) }?;
        Ok(())
    }
}

impl<T: DeviceData> PitchedMut<'_, T> {
    /// Copies from rows and slices of device memory, or of an array, of another context, on the same device or another one.
    /// The host does not wait.
    ///
    /// Like [`SliceMut::copy_from_peer`], with which it shares the order.
    ///
    /// # Errors
    /// [`MemoryError::Extent`] unless both have one extent; [`Error::is_wrong_context`] unless this side is of the current
    /// context, and the other of the same driver; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemcpy3DPeer`, CUDA 4.0+.
    #[doc(alias = "cuMemcpy3DPeer")]
    pub fn copy_from_peer(
        &mut self,
        cx: &Current<'_, '_>,
        source: impl CopySource<T>,
    ) -> Result<(), MemoryError> {
        // SAFETY: both are borrowed and have room for their strides; this side is ours, and on the device.
        unsafe { side::copy_between(cx, &self.as_side(), &source.side()) }
    }
}

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
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::PrimaryContext;
///
/// let devices = driver.devices()?;
/// if let [first, second, ..] = devices[..] {
///     let (here, there) = (PrimaryContext::retain(first)?, PrimaryContext::retain(second)?);
///     if first.can_access_peer(second)? {
///         let access = here.enter(|cx| cx.enable_peer_access(&there))??;
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
    /// Whatever the driver reports.
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
