//! Decompression on the stream of a scope.

use std::marker::PhantomData;

use cuprum_sys::{CUmemDecompressAlgorithm, CUmemDecompressParams, CUstream};

use super::batch::same_stream;
use super::queue::meet;
use super::{Lent, Scope};
use crate::memory::{MemoryError, Slice, SliceMut, copy, same_length};
use crate::raw::debug::debug;

impl<'scope> Scope<'scope, '_> {
    /// Queues decompressions without an order, by at most one call. The host does not wait.
    ///
    /// # Errors
    /// [`MemoryError::OtherStream`]; `CUDA_ERROR_NOT_SUPPORTED` on devices that lack the engine or
    /// the algorithm; [`Error::UNRESOLVED`](crate::Error::UNRESOLVED) on drivers before CUDA
    /// 12.6.
    ///
    /// # Safety
    /// The engine trusts the compressed bytes, which may come from anywhere.
    /// 1. No source decompresses to more bytes than its destination has.
    ///
    /// Driver: `cuMemBatchDecompressAsync`, CUDA 12.6+.
    #[doc(alias = "cuMemBatchDecompressAsync")]
    #[inline]
    pub unsafe fn decompress(&self, list: &mut [Decompression<'scope>]) -> Result<(), MemoryError> {
        let (context, stream) = (self.token().get()?, self.stream());
        if list.iter().any(|one| one.stream != stream) {
            return Err(MemoryError::OtherStream);
        }
        let mut raw: Vec<_> = list.iter().map(|one| one.raw).collect();
        // SAFETY: all memory is lent to a scope that waits; the caller guarantees the sizes.
        unsafe { copy::decompress_on(&context, stream, &mut raw) }.map_err(|(error, _)| error)?;
        Ok(())
    }
}

/// One decompression for [`Scope::decompress`].
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::Decompression;
/// use cuprum::sys::CUmemDecompressAlgorithm;
/// use cuprum::{Buffer, MemoryError, Stream};
///
/// # let compressed = [0u8; 64];
/// let stream = Stream::new(&cx)?;
/// let source = Buffer::from_slice(&cx, &compressed)?;
/// let (mut plain, mut bytes) = (Buffer::<u8>::zeroed(&cx, 4096)?, Buffer::<u32>::zeroed(&cx, 1)?);
/// let result = cx.scope(&stream, |scope| {
///     let algorithm = CUmemDecompressAlgorithm::CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE;
///     let (to, count) = (scope.lend(&mut plain)?, scope.lend(&mut bytes)?);
///     let one = Decompression::new(algorithm, &scope.lend(&source)?, &to, &count)?;
///     // SAFETY: the source decompresses to at most 4096 bytes.
///     Ok(unsafe { scope.decompress(&mut [one]) })
/// })?;
/// // Only for devices with the engine.
/// if let Err(MemoryError::Driver(error)) = result {
///     println!("decompressed on the host instead: {error}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decompression<'scope> {
    raw: CUmemDecompressParams,
    stream: CUstream,
    _scope: PhantomData<&'scope mut &'scope ()>,
}

impl<'scope> Decompression<'scope> {
    /// Decompresses `source` to `destination`, and writes the decompressed size to `bytes`.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless `bytes` is one element; [`MemoryError::OtherStream`];
    /// [`MemoryError::Overlap`] if a destination shares bytes with another operand.
    #[inline]
    pub fn new(
        algorithm: CUmemDecompressAlgorithm,
        source: &Lent<'scope, Slice<'_, u8>>,
        destination: &Lent<'scope, SliceMut<'_, u8>>,
        bytes: &Lent<'scope, SliceMut<'_, u32>>,
    ) -> Result<Self, MemoryError> {
        same_length(bytes.len(), 1)?;
        let (to, count) = (destination, bytes);
        same_stream([source.stream(), to.stream()])?;
        same_stream([source.stream(), count.stream()])?;
        let places =
            [(source.as_raw(), source.len()), (to.as_raw(), to.len()), (count.as_raw(), size_of::<u32>())];
        if meet(places[0], places[1]) || meet(places[0], places[2]) || meet(places[1], places[2]) {
            return Err(MemoryError::Overlap);
        }
        let raw = CUmemDecompressParams {
            srcNumBytes: source.len(),
            dstNumBytes: to.len(),
            dstActBytes: std::ptr::without_provenance_mut(count.as_raw() as usize),
            src: std::ptr::without_provenance(source.as_raw() as usize),
            dst: std::ptr::without_provenance_mut(to.as_raw() as usize),
            algo: algorithm,
            ..CUmemDecompressParams::zeroed()
        };
        Ok(Self { raw, stream: source.stream(), _scope: PhantomData })
    }
}

debug! {
    Decompression<'_>: |this, f|
    f.debug_struct("Decompression").field("raw", &this.raw).finish_non_exhaustive()
}
