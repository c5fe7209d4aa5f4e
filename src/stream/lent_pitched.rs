//! Rows of device memory that are lent to a scope.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUdeviceptr, CUstream};

use super::{LentArray, Scope};
use crate::context::{ContextRef, Token};
use crate::error::Error;
use crate::launch::addresses;
use crate::memory::side::{self, Side, SidePlace};
use crate::memory::{
    DeviceData, Extent, Fill, HostBlock, HostBlockMut, MemoryError, Pattern, PitchedMut, Strides, copy,
    filled_rows, same_length,
};
use crate::raw::call::context_call;
use crate::raw::this_thread::ThisThread;

/// Rows of device memory lent to a scope: used by its stream alone, in the order of the calls, until the scope ends.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Stream;
/// use cuprum::memory::{HostBlock, PitchedBuffer};
///
/// let stream = Stream::new(&cx)?;
/// let mut picture = PitchedBuffer::<u16>::alloc(&cx, (4, 2))?;
/// let (input, mut output) = ([7; 8], [0; 8]);
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend_pitched(picture.as_pitched_mut())?;
///     lent.copy_from(HostBlock::new(&input, (4, 2))?)?;
///     lent.copy_to_host(&mut output)
/// })??;
/// assert_eq!(output, input);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LentPitched<'scope, T: DeviceData> {
    address: CUdeviceptr,
    strides: Strides,
    aligned: bool,
    stream: CUstream,
    token: Token<'scope>,
    _elements: PhantomData<&'scope mut [T]>,
    /// Invariant: with a shorter `'scope`, host memory could be borrowed for less than the scope.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _this_thread: ThisThread,
}

/// Source of a copy on a scope's stream: a [`HostBlock`] that is borrowed for the scope, or memory that was lent to it.
///
/// Example: that of [`LentPitched`], `copy_from`.
pub trait LentSource<'scope, T: DeviceData>: sealed::Lent<T> {}

mod sealed {
    pub trait Lent<T> {
        /// This as a side of a copy, with the context that it was lent in.
        fn lent_side<'a>(&'a self, home: &'a super::ContextRef) -> super::Side<'a>;
        /// The stream that it was lent to; none for the host.
        fn stream(&self) -> Option<super::CUstream>;
    }
}

pub(crate) use sealed::Lent as LentSide;

impl<'scope, T: DeviceData> LentSource<'scope, T> for HostBlock<'scope, T> {}
impl<'scope, T: DeviceData> LentSource<'scope, T> for &LentPitched<'scope, T> {}
impl<'scope, T: crate::memory::Texel> LentSource<'scope, T> for LentArray<'scope, T> {}

impl<T: DeviceData> LentSide<T> for HostBlock<'_, T> {
    fn lent_side<'a>(&'a self, _home: &'a ContextRef) -> Side<'a> {
        side::sealed::Source::side(self)
    }

    fn stream(&self) -> Option<CUstream> {
        None
    }
}

impl<T: DeviceData> LentSide<T> for &LentPitched<'_, T> {
    fn lent_side<'a>(&'a self, home: &'a ContextRef) -> Side<'a> {
        Side::device::<T>(self.address, self.aligned, self.strides, home)
    }

    fn stream(&self) -> Option<CUstream> {
        Some(self.stream)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Lends rows of device memory to this scope, to be used any number of times in order, like [`lend`](Scope::lend).
    ///
    /// # Errors
    /// Those of [`lend`](Scope::lend).
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, on a non-blocking stream, otherwise none.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn lend_pitched<T: DeviceData>(
        &self,
        memory: PitchedMut<'scope, T>,
    ) -> Result<LentPitched<'scope, T>, Error> {
        let (stream, token) = self.take_in(memory.context())?;
        let (address, strides, aligned) = (memory.as_raw(), memory.strides(), memory.is_aligned());
        let (_elements, _scope, _this_thread) = (PhantomData, PhantomData, ThisThread::MARK);
        Ok(LentPitched { address, strides, aligned, stream, token, _elements, _scope, _this_thread })
    }
}

impl<'scope, T: DeviceData> LentPitched<'scope, T> {
    /// Number of elements along each dimension.
    pub const fn extent(&self) -> Extent {
        self.strides.extent
    }

    /// Bytes from one row to the next.
    pub const fn pitch_bytes(&self) -> usize {
        self.strides.pitch
    }

    /// Address of the first element in device memory.
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    pub(super) const fn parts(&self) -> (Token<'scope>, CUstream) {
        (self.token, self.stream)
    }

    /// The side of a copy that this is, with the context that it was lent in.
    pub(super) fn as_side<'a>(&self, home: &'a ContextRef) -> Side<'a> {
        Side::device::<T>(self.address, self.aligned, self.strides, home)
    }

    /// Queues a copy from rows of the host, which cannot be written before the scope ends, or from what was lent to this
    /// scope. From itself there is nothing to copy.
    ///
    /// The host may wait all the same: the driver copies pageable memory in its own time.
    ///
    /// # Errors
    /// [`MemoryError::Extent`] unless both have one extent; [`MemoryError::OtherStream`]; the sticky errors of earlier
    /// work.
    ///
    /// Driver: `cuMemcpy2DAsync_v2`, or `cuMemcpy3DAsync_v2` for slices, CUDA 3.2+.
    #[doc(alias = "cuMemcpy2DAsync_v2")]
    #[doc(alias = "cuMemcpy3DAsync_v2")]
    pub fn copy_from(&self, source: impl LentSource<'scope, T>) -> Result<(), MemoryError> {
        let home = self.token.get()?;
        let from = source.lent_side(&home);
        if source.stream().is_some_and(|stream| stream != self.stream) {
            return Err(MemoryError::OtherStream);
        }
        if matches!(from.place, SidePlace::Device { address, .. } if address == self.address) {
            // Loans of rows do not overlap, so this is the same one.
            return Extent::same(self.strides.extent, from.strides.extent);
        }
        let to = Side::device::<T>(self.address, self.aligned, self.strides, &home);
        // SAFETY: both sides have room for their strides, and are lent to, or borrowed for, a scope that waits for this
        // stream.
        unsafe { side::copy_on(self.token, self.stream, &to, &from) }
    }

    /// Waits for the stream and copies the rows to `host`, where no gaps are between them. Blocks until they are there.
    ///
    /// It is no asynchronous copy, as [`LentShared::copy_to_host`](crate::LentShared::copy_to_host) says.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have as many elements; the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, and `cuMemcpy2D_v2`, or `cuMemcpy3D_v2` for several slices, CUDA 3.2+.
    #[doc(alias = "cuStreamSynchronize")]
    #[doc(alias = "cuMemcpy2D_v2")]
    #[doc(alias = "cuMemcpy3D_v2")]
    #[inline]
    pub fn copy_to_host(&self, host: &mut [T]) -> Result<(), MemoryError> {
        same_length(host.len(), self.strides.extent.len().unwrap_or(usize::MAX))?;
        let host = HostBlockMut::new(host, self.strides.extent)?;
        let home = self.token.get()?;
        // SAFETY: the stream outlives the scope, which borrows it, and its context is current.
        unsafe { context_call!(&home, cuStreamSynchronize(self.stream)) }?;
        let from = Side::device::<T>(self.address, self.aligned, self.strides, &home);
        // SAFETY: both sides have room for their strides, the host side is ours alone, and any bytes are a `T`.
        unsafe { side::copy_here(&home, &host.side(), &from) }
    }

    /// Queues a fill of every element with `value`; nothing between the rows is written.
    ///
    /// # Errors
    /// The sticky errors of earlier work.
    ///
    /// Driver: `cuMemsetD2D8Async`, `cuMemsetD2D16Async` or `cuMemsetD2D32Async`, CUDA 3.2+, once, or for each slice if
    /// there are rows between the slices.
    #[doc(alias = "cuMemsetD2D8Async")]
    #[doc(alias = "cuMemsetD2D16Async")]
    #[doc(alias = "cuMemsetD2D32Async")]
    #[inline]
    pub fn fill(&self, value: T) -> Result<(), MemoryError>
    where
        T: Fill,
    {
        self.fill_each(value.pattern(), self.strides.extent.width)
    }

    /// Queues a fill of every byte of the elements with `value`; nothing between the rows is written.
    ///
    /// # Errors
    /// The sticky errors of earlier work.
    ///
    /// Driver: `cuMemsetD2D8Async`, CUDA 3.2+, once, or for each slice if there are rows between the slices.
    #[doc(alias = "cuMemsetD2D8Async")]
    #[inline]
    pub fn set_bytes(&self, value: u8) -> Result<(), MemoryError> {
        self.fill_each(Pattern::Byte(value), self.strides.extent.width * size_of::<T>())
    }

    fn fill_each(&self, pattern: Pattern, width: usize) -> Result<(), MemoryError> {
        let context = self.token.get()?;
        for rows in filled_rows(self.address, &self.strides, width) {
            // SAFETY: the rows are lent to a scope that waits for this stream; rows begin where elements may, and any
            // bytes are a `T`.
            unsafe { copy::fill_rows_on(&context, self.stream, rows, pattern) }?;
        }
        Ok(())
    }
}

addresses! {
    In <- &LentPitched<'_, T>;
    InOut <- &LentPitched<'_, T>;
}

impl<T: DeviceData> fmt::Debug for LentPitched<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LentPitched({:#x}, {})", self.address, self.strides.extent)
    }
}
