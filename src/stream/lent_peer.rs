//! Memory of other contexts that is lent to a scope, and copies from and to it on the scope's stream.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::{CUdeviceptr, CUstream, FnId};

use super::{Lent, LentPitched, LentShared, Scope};
use crate::context::ContextRef;
use crate::error::Error;
use crate::memory::side;
use crate::memory::{
    ArrayPart, CopySource, DeviceData, MemoryError, Pitched, PitchedBuffer, Slice, SliceMut, Texel, bytes_of,
    copy, resolve, same_driver, same_length,
};
use crate::raw::this_thread::ThisThread;

/// Memory of another context lent to a scope, as one side of copies on the scope's stream, until the scope ends. Made by
/// [`Scope::lend_peer`].
///
/// Example: that of [`Lent`], `copy_from_peer`.
#[derive(Clone, Copy)]
pub struct LentPeer<'scope, M> {
    memory: M,
    stream: CUstream,
    /// Invariant, as in [`LentShared`]: what is lent stays borrowed until the end of the scope.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _this_thread: ThisThread,
}

/// Memory that can be lent to a scope of another context: a [`Slice`], rows and slices ([`Pitched`]) or elements of an array
/// ([`ArrayPart`]) to read, and a [`SliceMut`] to read and write.
///
/// Example: that of [`Lent`], `lend_peer`.
pub trait PeerMemory: sealed::Peer {}

impl<M: sealed::Peer> PeerMemory for M {}

mod sealed {
    pub trait Peer {
        /// The context that it is memory of.
        fn home(&self) -> &super::ContextRef;
    }
}

macro_rules! peer_memory {
    ($($memory:ty, of $element:ident;)*) => { $(
        impl<T: $element> sealed::Peer for $memory {
            fn home(&self) -> &ContextRef {
                self.context()
            }
        }
    )* };
}

peer_memory! {
    Slice<'_, T>, of DeviceData;
    SliceMut<'_, T>, of DeviceData;
    Pitched<'_, T>, of DeviceData;
    &PitchedBuffer<'_, T>, of DeviceData;
    ArrayPart<'_, T>, of Texel;
}

impl<'scope> Scope<'scope, '_> {
    /// Lends memory of another context, on the same device or another one, to be copied from and to any number of times in
    /// order.
    ///
    /// Copies on this scope's stream are in order with this stream alone. So the host first waits for the default stream of
    /// the other context, on which memory there is filled and copied, as it does for memory that is [lent](Scope::lend) to a
    /// non-blocking stream.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for memory of another driver; the sticky errors of earlier work.
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+, and `cuStreamSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    #[doc(alias = "cuStreamSynchronize")]
    pub fn lend_peer<M: PeerMemory + 'scope>(&self, memory: M) -> Result<LentPeer<'scope, M>, Error> {
        let (stream, token) = self.parts();
        same_driver(&*token.get()?, memory.home(), FnId::cuMemcpyPeerAsync)?;
        copy::wait_for_other(memory.home())?;
        Ok(LentPeer::new(memory, stream))
    }
}

impl<'scope, M> LentPeer<'scope, M> {
    const fn new(memory: M, stream: CUstream) -> Self {
        Self { memory, stream, _scope: PhantomData, _this_thread: ThisThread::MARK }
    }

    /// What is lent, for a copy on `stream`.
    fn on(&self, stream: CUstream) -> Result<&M, MemoryError> {
        if self.stream == stream { Ok(&self.memory) } else { Err(MemoryError::OtherStream) }
    }
}

impl<'scope, 'a, T: DeviceData> LentPeer<'scope, Slice<'a, T>> {
    /// Some of the elements; `None` if the range does not lie within.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Option<Self> {
        Some(Self::new(self.memory.slice(range)?, self.stream))
    }
}

impl<'scope, T: DeviceData> LentPeer<'scope, SliceMut<'_, T>> {
    /// The same memory, to read.
    #[inline]
    pub fn as_shared(&self) -> LentPeer<'scope, Slice<'_, T>> {
        LentPeer::new(self.memory.as_slice(), self.stream)
    }

    /// Some of the elements, also of those that other parts have: one stream uses them all, in order. `None` if the range
    /// does not lie in the loan.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<LentPeer<'scope, SliceMut<'_, T>>> {
        let (start, len) = resolve(&range, self.memory.len())?;
        let address = self.memory.as_raw() + (start * size_of::<T>()) as CUdeviceptr;
        Some(LentPeer::new(SliceMut::new(address, len, self.memory.near()), self.stream))
    }
}

impl<'scope, T: DeviceData> Lent<'scope, T> {
    /// Queues a copy from memory of another context that was lent to this scope. The host does not wait.
    ///
    /// The copy needs no [peer access](crate::Current::enable_peer_access); with it, the data does not pass through the host.
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
    /// let theirs = Buffer::from_slice(&cx.push(&there)?, &[1u32, 2, 3])?;
    /// let (stream, mut mine) = (Stream::new(&cx)?, Buffer::<u32>::zeroed(&cx, 3)?);
    /// cx.scope(&stream, |scope| {
    ///     let from = scope.lend_peer(theirs.as_slice())?;
    ///     scope.lend(mine.as_mut_slice())?.copy_from_peer(&from)
    /// })??;
    /// assert_eq!(mine.to_vec(&cx)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; [`MemoryError::OtherStream`]; the sticky errors of earlier
    /// work.
    ///
    /// Driver: `cuMemcpyPeerAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyPeerAsync")]
    #[inline]
    pub fn copy_from_peer(&self, source: &LentPeer<'scope, Slice<'_, T>>) -> Result<(), MemoryError> {
        let to = self.as_shared();
        let from = source.on(to.stream())?;
        same_length(self.len(), from.len())?;
        let bytes = bytes_of::<T>(self.len())?;
        let context = to.here()?;
        let (to_here, from) = ((&*context, self.as_raw()), (from.context(), from.as_raw()));
        // SAFETY: both sides have `bytes` bytes, are of one driver, and are lent to a scope that waits for this stream.
        unsafe { copy::between_on(&context, to.stream(), to_here, from, bytes) }?;
        Ok(())
    }
}

impl<'scope, T: DeviceData> LentShared<'scope, T> {
    /// Queues a copy to memory of another context that was lent to this scope. The host does not wait.
    ///
    /// # Errors
    /// Those of [`Lent::copy_from_peer`].
    ///
    /// Driver: `cuMemcpyPeerAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyPeerAsync")]
    #[inline]
    pub fn copy_to_peer(&self, destination: &LentPeer<'scope, SliceMut<'_, T>>) -> Result<(), MemoryError> {
        let to = destination.on(self.stream())?;
        same_length(to.len(), self.len())?;
        let bytes = bytes_of::<T>(self.len())?;
        let context = self.here()?;
        let (to, from) = ((to.context(), to.as_raw()), (&*context, self.as_raw()));
        // SAFETY: both sides have `bytes` bytes, are of one driver, and are lent to a scope that waits for this stream; any
        // bytes are a `T`.
        unsafe { copy::between_on(&context, self.stream(), to, from, bytes) }?;
        Ok(())
    }
}

impl<'scope, T: DeviceData> LentPitched<'scope, T> {
    /// Queues a copy from rows and slices of device memory, or from elements of an array, of another context that were lent
    /// to this scope. The host does not wait.
    ///
    /// # Errors
    /// [`MemoryError::Extent`] unless both have one extent; [`MemoryError::OtherStream`]; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemcpy3DPeerAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpy3DPeerAsync")]
    pub fn copy_from_peer<M: CopySource<T>>(&self, source: &LentPeer<'scope, M>) -> Result<(), MemoryError> {
        let (token, stream) = self.parts();
        let from = source.on(stream)?.side();
        let home = token.get()?;
        // SAFETY: both sides have room for their strides, and are lent to a scope that waits for this stream; the
        // destination is on the device.
        unsafe { side::copy_between_on(&home, stream, &self.as_side(&home), &from) }
    }
}

impl<M: fmt::Debug> fmt::Debug for LentPeer<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LentPeer").field(&self.memory).finish()
    }
}
