//! Memory of sparse arrays, given in the order of a stream.

use cuprum_sys::{CUarrayMapInfo, FnId};

use super::Stream;
use crate::context::Current;
use crate::error::Error;
use crate::memory::TileMap;
use crate::raw::call::context_call;

impl Stream<'_> {
    /// Gives parts of [sparse](crate::memory::ArrayFlags::SPARSE) arrays, or whole arrays
    /// [without](crate::memory::Array::without_memory) any, memory or takes it away, in the order of this stream. The
    /// host does not wait. Without any, nothing is called.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for parts that are no whole tiles, memory that is no
    /// [pool of tiles](crate::memory::PhysicalFlags::TILE_POOL) or too small, and other arrays; `CUDA_ERROR_NOT_SUPPORTED`
    /// without sparse arrays; [`Error::is_wrong_context`].
    ///
    /// # Safety
    /// 1. The physical memory is kept until the part is given other memory, or none, or the array is freed, and that was
    ///    waited for. (Drivers keep it by themselves, as measured on an H100, but do not promise it.)
    /// 2. No work uses the part meanwhile but what is in order with this stream.
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
        // SAFETY: so many descriptions, which outlive the call, of live arrays and memory; the caller vouches for the rest.
        unsafe { context_call!(context, cuMemMapArrayAsync(maps, count, self.as_raw())) }
    }
}
