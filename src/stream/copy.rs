//! Copies and fills on the stream of a scope.

use cuprum_sys::CUstream;

use super::batch::same_stream;
use super::place::LentTarget;
use super::queue::{Fills, On, Queues, Reads, read_into};
use super::{Lent, Scope};
use crate::context::{ContextRef, context_call};
use crate::memory::data::sealed::Fill as _;
use crate::memory::place::kind::{Host, Kind};
use crate::memory::side::HostRows;
use crate::memory::{
    DeviceData, Fill, HostBlock, HostOwner, MemoryError, Pattern, PinnedBuffer, PinnedMut, Registered,
    SliceMut, Source, Target, bytes_of, copy,
};
use crate::raw::keep::Near;
use crate::raw::seal::{Key, Sealed};

/// The source of a copy on a scope's stream: a loan, or host memory borrowed for the scope, such as
/// `&host[..]` or a [`HostBlock`].
#[diagnostic::on_unimplemented(
    message = "a scope cannot copy elements of `{T}` from `{Self}`",
    label = "not lent to this scope, or of other elements than the destination",
    note = "lend device memory by `scope.lend(&buffer)?` and give `&lent`; of the host, give `&[T]` that outlives the scope"
)]
pub trait LentSource<'scope, T: DeviceData>: Sealed {
    #[doc(hidden)]
    type Kind: Kind;

    #[doc(hidden)]
    fn place(&self, key: Key) -> <Self::Kind as Kind>::View<'_, T>;

    #[doc(hidden)]
    fn stream(&self, _: Key) -> Option<CUstream> {
        None
    }
}

impl<M> Sealed for Lent<'_, M> {}

impl<'scope, T: DeviceData, M: Source<T>> LentSource<'scope, T> for &Lent<'scope, M> {
    type Kind = M::Kind;

    #[inline]
    fn place(&self, key: Key) -> <M::Kind as Kind>::View<'_, T> {
        self.view().as_source(key)
    }

    #[inline]
    fn stream(&self, _: Key) -> Option<CUstream> {
        Some(Lent::stream(self))
    }
}

impl<'scope, T: DeviceData> LentSource<'scope, T> for &HostBlock<'scope, T> {
    type Kind = HostRows;

    fn place(&self, key: Key) -> <HostRows as Kind>::View<'_, T> {
        self.as_source(key)
    }
}

macro_rules! hosts {
    ($([$($generic:tt)*] $host:ty;)*) => { $(
        impl<'scope, T: DeviceData $($generic)*> LentSource<'scope, T> for &'scope $host {
            type Kind = Host;

            #[inline]
            fn place(&self, key: Key) -> &[T] {
                self.as_source(key)
            }
        }
    )* };
}

hosts! {
    [] [T];
    [, const N: usize] [T; N];
    [] Vec<T>;
    [] Box<[T]>;
    [] PinnedBuffer<'_, T>;
    [, O: HostOwner<Element = T>] Registered<'_, O>;
}

impl<'scope> Scope<'scope, '_> {
    /// Returns the stream and its context if these loans are its own.
    #[inline]
    pub(super) fn on<'a>(
        &self,
        context: &'a ContextRef,
        lent: CUstream,
        other: Option<CUstream>,
    ) -> Result<On<'a>, MemoryError> {
        let stream = self.stream();
        same_stream([stream, lent])?;
        same_stream([stream, other.unwrap_or(stream)])?;
        Ok(On { context, stream })
    }

    /// Queues a copy to a loan from another loan, or from host memory borrowed for the scope. The
    /// call does not wait for the stream, but may wait for a copy from pageable memory, depending
    /// on the driver. A copy from a loan to itself does nothing.
    ///
    /// To copy to a host slice, which may be pageable, use [`read`](Scope::read).
    ///
    /// | destination; source | the driver's function |
    /// |---|---|
    /// | loan of linear memory; slice of the host, loan of page-locked memory | `cuMemcpyHtoDAsync_v2` |
    /// | loan of page-locked memory; loan of linear memory | `cuMemcpyDtoHAsync_v2` |
    /// | loan of linear memory; loan of linear memory | `cuMemcpyDtoDAsync_v2` |
    /// | one of them lent as a [`Peer`](crate::memory::Peer) | `cuMemcpyPeerAsync` |
    /// | loan of rows or of an array; either of these, [`HostBlock`], slice of the host | `cuMemcpy2DAsync_v2`, or `cuMemcpy3DAsync_v2` for slices, layers and faces |
    /// | loan of rows or of an array; either of these lent as a [`Peer`](crate::memory::Peer) | `cuMemcpy3DPeerAsync` |
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::memory::{HostBlock, PitchedBuffer};
    /// use cuprum::Stream;
    ///
    /// let stream = Stream::new(&cx)?;
    /// let mut picture = PitchedBuffer::<u16>::alloc(&cx, (4, 2))?;
    /// let (input, mut output) = ([7; 8], [0; 8]);
    /// cx.scope(&stream, |scope| {
    ///     let lent = scope.lend(&mut picture)?;
    ///     scope.copy(&lent, &HostBlock::new(&input, (4, 2))?)?;
    ///     Ok(scope.read(&mut output, &lent)?)
    /// })?;
    /// assert_eq!(output, input);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A copy between contexts needs no [peer access](crate::Current::enable_peer_access); with it,
    /// the data does not pass through the host.
    ///
    /// # Errors
    /// [`MemoryError::Length`] or [`MemoryError::Extent`] if the sizes differ;
    /// [`MemoryError::Overlap`] if the sides overlap in part, also if one is page-locked memory and
    /// the other is its [device view](Scope::as_device); [`MemoryError::OtherStream`] for loans of
    /// another stream.
    ///
    /// Driver: `cuMemcpyHtoDAsync_v2`, `cuMemcpyDtoHAsync_v2`, `cuMemcpyDtoDAsync_v2`,
    /// `cuMemcpy2DAsync_v2` or `cuMemcpy3DAsync_v2`, CUDA 3.2+, `cuMemcpyPeerAsync` or
    /// `cuMemcpy3DPeerAsync`, CUDA 4.0+.
    #[doc(alias("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2"))]
    #[doc(alias("cuMemcpy2DAsync_v2", "cuMemcpy3DAsync_v2", "cuMemcpyPeerAsync", "cuMemcpy3DPeerAsync"))]
    #[inline]
    pub fn copy<D, S>(&self, dst: &Lent<'scope, D>, src: S) -> Result<(), MemoryError>
    where
        D: LentTarget,
        S: LentSource<'scope, D::Element>,
        D::Kind: Queues<S::Kind>,
    {
        let (context, key) = (self.token().get()?, Key::new());
        let on = self.on(&context, dst.stream(), src.stream(Key::new()))?;
        let (to, from) = (dst.view().as_source(Key::new()), src.place(Key::new()));
        // SAFETY: the destination is lent to be written, and the source is lent or borrowed for the
        // scope; both are on this stream.
        unsafe { <D::Kind as Queues<S::Kind>>::queue::<D::Element>(on, to, from, key) }
    }

    /// Waits for the stream and copies a loan to host memory: linear memory to a slice, rows and
    /// elements of an array to a slice without gaps or to a
    /// [`HostBlockMut`](crate::memory::HostBlockMut). Blocks until the copy is complete.
    ///
    /// This is not an asynchronous copy: after a fault of any kernel, the device could continue to
    /// write page-locked memory after the scope has ended, and no call would report it. Copies of
    /// pageable memory never run in parallel with the host anyway. For a parallel copy,
    /// [lend](Scope::lend) a [`PinnedBuffer`] and [`copy`](Scope::copy) to it.
    ///
    /// Example: see [`copy`](Scope::copy).
    ///
    /// # Errors
    /// [`MemoryError::Length`] or [`MemoryError::Extent`] unless both sides are of one size;
    /// [`MemoryError::OtherStream`].
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, and `cuMemcpyDtoH_v2`, `cuMemcpy2D_v2` or
    /// `cuMemcpy3D_v2`, CUDA 3.2+.
    #[doc(alias("cuStreamSynchronize", "cuMemcpyDtoH_v2", "cuMemcpy2D_v2", "cuMemcpy3D_v2"))]
    #[inline]
    pub fn read<D, M>(&self, dst: &mut D, src: &Lent<'scope, M>) -> Result<(), MemoryError>
    where
        D: Target + ?Sized,
        M: Source<D::Element>,
        D::Kind: Reads<M::Kind>,
    {
        let context = self.token().get()?;
        let on = self.on(&context, src.stream(), None)?;
        let (to, from) = (dst.as_target(Key::new()), src.view().as_source(Key::new()));
        // SAFETY: the source is lent to the scope on this stream.
        unsafe { <D::Kind as Reads<M::Kind>>::read::<D::Element>(on, to, from, Key::new()) }
    }

    /// Queues a fill of every element of a loan with `value`, without row padding. Does not wait.
    ///
    /// # Errors
    /// [`MemoryError::OtherStream`].
    ///
    /// Driver: `cuMemsetD8Async`, `cuMemsetD16Async` or `cuMemsetD32Async`, CUDA 3.2+; for rows
    /// `cuMemsetD2D8Async`, `cuMemsetD2D16Async` or `cuMemsetD2D32Async`, CUDA 3.2+, once, or for
    /// each slice if there are rows between the slices.
    #[doc(alias("cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async", "cuMemsetD2D8Async"))]
    #[doc(alias("cuMemsetD2D16Async", "cuMemsetD2D32Async"))]
    #[inline]
    pub fn fill<D>(&self, dst: &Lent<'scope, D>, value: D::Element) -> Result<(), MemoryError>
    where
        D: LentTarget,
        D::Element: Fill,
        D::Kind: Fills,
    {
        self.fill_each(dst, value.pattern(), 1)
    }

    /// Queues a fill of every byte of a loan's elements with `value`, without the padding of rows.
    /// Does not wait for the stream.
    ///
    /// # Errors
    /// Same as [`fill`](Scope::fill).
    ///
    /// Driver: `cuMemsetD8Async`, CUDA 3.2+; for rows `cuMemsetD2D8Async`, CUDA 3.2+, once, or for
    /// each slice if there are rows between the slices.
    #[doc(alias("cuMemsetD8Async", "cuMemsetD2D8Async"))]
    #[inline]
    pub fn fill_bytes<D>(&self, dst: &Lent<'scope, D>, value: u8) -> Result<(), MemoryError>
    where
        D: LentTarget,
        D::Kind: Fills,
    {
        self.fill_each(dst, Pattern::Byte(value), size_of::<D::Element>())
    }

    #[inline]
    fn fill_each<D>(
        &self,
        dst: &Lent<'scope, D>,
        pattern: Pattern,
        per_element: usize,
    ) -> Result<(), MemoryError>
    where
        D: LentTarget,
        D::Kind: Fills,
    {
        let context = self.token().get()?;
        let on = self.on(&context, dst.stream(), None)?;
        let to = dst.view().as_source(Key::new());
        // SAFETY: the memory is lent to be written, on this stream.
        unsafe { <D::Kind as Fills>::fill::<D::Element>(on, to, pattern, per_element, Key::new()) }
    }

    /// Returns the device's view of page-locked memory, for kernels, fills and copies.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the memory is not mapped, on a device without unified
    /// addressing; [`MemoryError::OtherStream`].
    ///
    /// Driver: `cuMemHostGetDevicePointer_v2`, CUDA 3.2+, unless there are no bytes.
    #[doc(alias = "cuMemHostGetDevicePointer_v2")]
    #[inline]
    pub fn as_device<T: DeviceData>(
        &self,
        lent: &Lent<'scope, PinnedMut<'_, T>>,
    ) -> Result<Lent<'scope, SliceMut<'scope, T>>, MemoryError> {
        let context: Near<'scope, ContextRef> = self.token().get()?;
        same_stream([self.stream(), lent.stream()])?;
        let mut address = 0;
        if lent.len() * size_of::<T>() != 0 {
            let host = lent.as_raw().cast();
            // SAFETY: lent memory stays page-locked, and the out-parameter outlives the call.
            unsafe { context_call!(&context, cuMemHostGetDevicePointer_v2(&raw mut address, host, 0)) }?;
        }
        Ok(lent.with(SliceMut::new(address, lent.len(), context)))
    }

    /// Same as [`read`](Scope::read), to an address.
    ///
    /// # Safety
    /// `host` is valid for writes of as many elements, and has no other users after the wait.
    pub(crate) unsafe fn read_to<T: DeviceData>(
        &self,
        host: *mut T,
        src: &Lent<'scope, SliceMut<'_, T>>,
    ) -> Result<(), MemoryError> {
        let context = self.token().get()?;
        let on = self.on(&context, src.stream(), None)?;
        // SAFETY: the source is lent to the scope on this stream; the caller guarantees `host`.
        unsafe { read_into(on, host, src.view().as_slice()) }
    }

    /// Same as [`copy`](Scope::copy), from an address.
    ///
    /// # Safety
    /// `host` has as many elements as were lent. They live and are not written until this stream
    /// was waited for or its context is lost.
    pub(crate) unsafe fn copy_from<T: DeviceData>(
        &self,
        dst: &Lent<'scope, SliceMut<'_, T>>,
        host: *const T,
    ) -> Result<(), MemoryError> {
        let bytes = bytes_of::<T>(dst.len())?;
        let context = self.token().get()?;
        let on = self.on(&context, dst.stream(), None)?;
        // SAFETY: both sides have `bytes` bytes; the rest is guaranteed by the caller.
        unsafe { copy::from_host_on(on.context, on.stream, dst.as_raw(), host.cast(), bytes) }?;
        Ok(())
    }
}
