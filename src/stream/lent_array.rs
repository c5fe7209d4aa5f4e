//! Arrays that are lent to a scope.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::CUstream;

use super::Scope;
use super::lent_pitched::{LentSide, LentSource};
use crate::context::{ContextRef, Token};
use crate::error::Error;
use crate::memory::side::{self, Side};
use crate::memory::{ArrayPart, ArrayView, Extent, HostBlockMut, MemoryError, Texel, same_length};
use crate::raw::call::context_call;
use crate::raw::this_thread::ThisThread;

/// Elements of an array lent to a scope, to be copied on its stream in the order of the calls. `Copy`.
///
/// The array cannot be freed before the scope has ended. Others may use it meanwhile, also through textures and surfaces:
/// their accesses are not in order with this stream.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Stream;
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape, HostBlock, MemoryError};
///
/// let stream = Stream::new(&cx)?;
/// let array = Array::<u8>::new(&cx, ArrayShape::OneD { width: 3 }, ArrayFlags::empty())?;
/// let (input, mut output) = ([1, 2, 3], [0; 3]);
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend_array(array.view().all())?;
///     lent.copy_from(HostBlock::new(&input, 3)?)?;
///     lent.copy_to_host(&mut output)
/// })??;
/// assert_eq!(output, input);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct LentArray<'scope, T: Texel> {
    part: ArrayPart<'scope, T>,
    stream: CUstream,
    token: Token<'scope>,
    /// Invariant: with a shorter `'scope`, host memory could be borrowed for less than the scope.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _this_thread: ThisThread,
}

impl<'scope> Scope<'scope, '_> {
    /// Lends elements of an array to this scope. As with [`lend_shared`](Scope::lend_shared), it may be lent to other
    /// streams too.
    ///
    /// # Errors
    /// Those of [`lend`](Scope::lend).
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, on a non-blocking stream, otherwise none.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn lend_array<T: Texel>(&self, part: ArrayPart<'scope, T>) -> Result<LentArray<'scope, T>, Error> {
        let (stream, token) = self.take_in(part.array().context())?;
        Ok(LentArray { part, stream, token, _scope: PhantomData, _this_thread: ThisThread::MARK })
    }
}

impl<'scope, T: Texel> LentArray<'scope, T> {
    /// Number of elements along each dimension.
    pub const fn extent(&self) -> Extent {
        self.part.extent()
    }

    /// The array that was lent.
    pub const fn array(&self) -> ArrayView<'scope, T> {
        self.part.array()
    }

    pub(super) const fn parts(&self) -> (Token<'scope>, CUstream) {
        (self.token, self.stream)
    }

    pub(super) fn as_side(&self) -> Side<'_> {
        self.part.as_side()
    }

    /// Queues a copy to these elements from rows of the host, which cannot be written before the scope ends, or from
    /// memory lent to this scope.
    ///
    /// The host may wait all the same: the driver copies pageable memory in its own time.
    ///
    /// # Errors
    /// [`MemoryError::Extent`] unless both have one extent; [`MemoryError::OtherStream`]; [`MemoryError::Overlap`] if
    /// both are parts of one array with elements in common; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemcpy2DAsync_v2`, or `cuMemcpy3DAsync_v2` for slices, layers and faces, CUDA 3.2+.
    #[doc(alias = "cuMemcpy2DAsync_v2")]
    #[doc(alias = "cuMemcpy3DAsync_v2")]
    pub fn copy_from(&self, source: impl LentSource<'scope, T>) -> Result<(), MemoryError> {
        let home = self.token.get()?;
        if source.stream().is_some_and(|stream| stream != self.stream) {
            return Err(MemoryError::OtherStream);
        }
        // SAFETY: both sides have room for their extents, and are lent to, or borrowed for, a scope that waits for this
        // stream.
        unsafe { side::copy_on(self.token, self.stream, &self.part.as_side(), &source.lent_side(&home)) }
    }

    /// Waits for the stream and copies these elements to `host`: row by row, slice by slice. Blocks until they are
    /// there.
    ///
    /// It is no asynchronous copy, as [`LentShared::copy_to_host`](crate::LentShared::copy_to_host) says.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have as many elements; the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, and `cuMemcpy2D_v2`, or `cuMemcpy3D_v2` for slices, layers and faces,
    /// CUDA 3.2+.
    #[doc(alias = "cuStreamSynchronize")]
    #[doc(alias = "cuMemcpy2D_v2")]
    #[doc(alias = "cuMemcpy3D_v2")]
    #[inline]
    pub fn copy_to_host(&self, host: &mut [T]) -> Result<(), MemoryError> {
        same_length(host.len(), self.extent().len().unwrap_or(usize::MAX))?;
        let host = HostBlockMut::new(host, self.extent())?;
        let home = self.token.get()?;
        // SAFETY: the stream outlives the scope, which borrows it, and its context is current.
        unsafe { context_call!(&home, cuStreamSynchronize(self.stream)) }?;
        // SAFETY: both sides have room for their extents, the host side is ours alone, and any bytes are a `T`.
        unsafe { side::copy_here(&home, &host.side(), &self.part.as_side()) }
    }
}

impl<T: Texel> LentSide<T> for LentArray<'_, T> {
    fn lent_side<'a>(&'a self, _home: &'a ContextRef) -> Side<'a> {
        self.part.as_side()
    }

    fn stream(&self) -> Option<CUstream> {
        Some(self.stream)
    }
}

impl<T: Texel> fmt::Debug for LentArray<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LentArray").field(&self.part).finish()
    }
}
