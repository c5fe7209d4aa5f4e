//! Copies from and to memory of other contexts, on the stream of a scope.

use cuprum_sys::FnId;

use super::{Lent, LentPitched, LentShared};
use crate::memory::side;
use crate::memory::{
    CopySource, DeviceData, MemoryError, Slice, SliceMut, bytes_of, copy, same_driver, same_length,
};

impl<'scope, T: DeviceData> Lent<'scope, T> {
    /// Queues a copy from device memory of another context, on the same device or another one, which cannot be written before
    /// the scope ends. The host does not wait for the copy.
    ///
    /// The copy is in order with this stream alone. So the host first waits for the default stream of the other context, as
    /// memory that is [lent](super::Scope::lend) to a non-blocking stream is waited for. The copy needs no [peer
    /// access](crate::Current::enable_peer_access); with it, the data does not pass through the host.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let device = cuprum::Driver::init(library)?.device(0)?;
    /// use cuprum::{Buffer, Context, ContextFlags, ContextStack, Stream};
    ///
    /// let (here, there) =
    ///     (Context::create(device, ContextFlags::empty())?, Context::create(device, ContextFlags::empty())?);
    /// let mut stack = ContextStack::take()?;
    /// let mut cx = stack.push(&here)?;
    /// let theirs = {
    ///     let cx = cx.push(&there)?;
    ///     let theirs = Buffer::from_slice(&cx, &[1u32, 2, 3])?;
    ///     cx.synchronize()?;
    ///     theirs
    /// };
    /// let (stream, mut mine) = (Stream::new(&cx)?, Buffer::<u32>::zeroed(&cx, 3)?);
    /// cx.scope(&stream, |scope| scope.lend(mine.as_mut_slice())?.copy_from_peer(theirs.as_slice()))??;
    /// assert_eq!(mine.to_vec(&cx)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; [`Error::is_wrong_context`](crate::Error::is_wrong_context)
    /// for memory of another driver; the sticky errors of earlier work.
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+, `cuStreamSynchronize`, CUDA 2.0+, and
    /// `cuMemcpyPeerAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyPeerAsync")]
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    #[doc(alias = "cuStreamSynchronize")]
    pub fn copy_from_peer(&self, source: Slice<'scope, T>) -> Result<(), MemoryError> {
        same_length(self.len(), source.len())?;
        let bytes = bytes_of::<T>(self.len())?;
        let context = self.as_shared().here()?;
        same_driver(&context, source.context(), FnId::cuMemcpyPeerAsync)?;
        copy::wait_for_other(source.context())?;
        // It may have left the other context current.
        let context = self.as_shared().here()?;
        let (to, from) = ((&*context, self.as_raw()), (source.context(), source.as_raw()));
        // SAFETY: both sides have `bytes` bytes, and are lent to, or borrowed for, a scope that waits for this stream.
        unsafe { copy::between_on(&context, self.as_shared().stream(), to, from, bytes) }?;
        Ok(())
    }
}

impl<'scope, T: DeviceData> LentShared<'scope, T> {
    /// Queues a copy to device memory of another context, on the same device or another one, which nobody else can use before
    /// the scope ends. The host does not wait for the copy.
    ///
    /// In order with this stream alone, as [`Lent::copy_from_peer`] says.
    ///
    /// # Errors
    /// Those of [`Lent::copy_from_peer`].
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+, `cuStreamSynchronize`, CUDA 2.0+, and
    /// `cuMemcpyPeerAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyPeerAsync")]
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    #[doc(alias = "cuStreamSynchronize")]
    pub fn copy_to_peer(&self, destination: SliceMut<'scope, T>) -> Result<(), MemoryError> {
        same_length(destination.len(), self.len())?;
        let bytes = bytes_of::<T>(self.len())?;
        let context = self.here()?;
        same_driver(&context, destination.context(), FnId::cuMemcpyPeerAsync)?;
        copy::wait_for_other(destination.context())?;
        // As above.
        let context = self.here()?;
        let (to, from) = ((destination.context(), destination.as_raw()), (&*context, self.as_raw()));
        // SAFETY: both sides have `bytes` bytes, and are lent to, or borrowed for, a scope that waits for this stream; any
        // bytes are a `T`.
        unsafe { copy::between_on(&context, self.stream(), to, from, bytes) }?;
        Ok(())
    }
}

impl<'scope, T: DeviceData> LentPitched<'scope, T> {
    /// Queues a copy from rows and slices of device memory, or of an array, of another context, which cannot be freed before
    /// the scope ends. The host does not wait for the copy.
    ///
    /// In order with this stream alone, as [`Lent::copy_from_peer`] says.
    ///
    /// # Errors
    /// [`MemoryError::Extent`] unless both have one extent; [`Error::is_wrong_context`](crate::Error::is_wrong_context) for
    /// memory of another driver; the sticky errors of earlier work.
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+, `cuStreamSynchronize`, CUDA 2.0+, and
    /// `cuMemcpy3DPeerAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpy3DPeerAsync")]
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    #[doc(alias = "cuStreamSynchronize")]
    pub fn copy_from_peer(&self, source: impl CopySource<T> + 'scope) -> Result<(), MemoryError> {
        let (token, stream) = self.parts();
        let home = token.get()?;
        // SAFETY: both sides have room for their strides, and are lent to, or borrowed for, a scope that waits for this
        // stream; the destination is on the device.
        unsafe { side::copy_between_on(token, stream, &self.as_side(&home), &source.side()) }
    }
}
