//! Memory of sparse arrays, mapped in stream order.

use cuprum_sys::{CUarrayMapInfo, FnId};

use super::Stream;
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::memory::TileMap;

impl Stream<'_> {
    /// Maps memory to parts of [sparse](crate::memory::ArrayFlags::SPARSE) arrays, or to whole
    /// arrays [without memory](crate::memory::Array::without_memory), or unmaps it, in the order of
    /// this stream. The host does not wait. Makes no call for an empty list.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for parts that are not whole tiles, memory that is too small or
    /// not a [tile pool](crate::memory::PhysicalFlags::TILE_POOL), and other arrays;
    /// `CUDA_ERROR_NOT_SUPPORTED` without sparse arrays; [`Error::WRONG_CONTEXT`].
    ///
    /// # Safety
    /// 1. The physical memory is kept until the part has other memory or none, or the array is
    ///    freed, and that was waited for. (Drivers keep the memory themselves, as measured on an
    ///    H100, but do not promise it.)
    /// 2. Other work uses the part only in order with this stream.
    ///
    /// Driver: `cuMemMapArrayAsync`, CUDA 11.1+.
    #[doc(alias = "cuMemMapArrayAsync")]
    #[inline]
    pub unsafe fn map_tiles(&self, cx: &Current<'_, '_>, maps: &[TileMap<'_>]) -> Result<(), Error> {
        let call = FnId::cuMemMapArrayAsync;
        let context = cx.of(self.context(), call)?;
        for map in maps {
            cx.of(map.context(), call)?;
            if map.memory().is_some_and(|memory| !memory.library().is_same_driver(context.library())) {
                return Err(Error::wrong_context(call));
            }
        }
        if maps.is_empty() {
            return Ok(());
        }
        let mut maps: Vec<CUarrayMapInfo> = maps.iter().map(TileMap::as_raw).collect();
        let (count, maps) = (maps.len() as u32, maps.as_mut_ptr());
        // SAFETY: descriptions of live arrays and memory outlive the call; the rest is the caller's
        // duty.
        unsafe { context_call!(context, cuMemMapArrayAsync(maps, count, self.as_raw())) }
    }
}
