//! The memory of a [`StreamBuffer`](super::StreamBuffer), and how it is freed.

use cuprum_sys::{CUdeviceptr, CUmemPool_attribute, CUmemoryPool, CUresult, CUstream, FnId, Fns, call};

use super::PoolPlace;
use super::lanes::Lease;
use crate::context::{ContextRef, captures};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::memory::caching::is_no_room;
use crate::raw::call::driver_call;
use crate::raw::held::{Handle, Held};
use crate::stream::{KeptStream, Stream};

/// An allocation in stream order, by its address; 0 for none.
#[derive(Clone, Copy)]
pub(super) struct Ordered {
    address: CUdeviceptr,
    stream: CUstream,
}

// SAFETY: the driver allows any thread to use memory and streams. The handle of a default stream
// means the same queue on every thread.
unsafe impl Handle for Ordered {
    const NAME: &'static str = "Ordered";

    #[inline]
    fn is_owned(self) -> bool {
        self.address != 0
    }

    #[inline]
    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller guarantees that the allocation is live and not used again; the owner
        // of this keeps the stream.
        unsafe { call!(fns, cuMemFreeAsync(self.address, self.stream)) }
    }

    /// Nothing may be queued on the legacy default stream during a capture, so this waits for all
    /// work of the context, then frees the allocation without a stream.
    #[cold]
    unsafe fn free_beside_captures(self, fns: &Fns) -> (CUresult, FnId) {
        if !captures::is_legacy(self.stream) {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.free(fns) };
        }
        // SAFETY: guaranteed by the caller.
        let waited = unsafe { captures::wait_by_freeing(fns) };
        if waited.0 != CUresult::CUDA_SUCCESS {
            return waited;
        }
        // SAFETY: the caller guarantees a live allocation without later uses; its work is complete.
        unsafe { call!(fns, cuMemFree_v2(self.address)) }
    }
}

pub(super) enum Block<'s> {
    /// From the driver's pools, with the stream that frees it.
    Ordered(Held<'s, Ordered>, KeptStream<'s>),
    Leased(Lease<'s>),
}

impl<'s> Block<'s> {
    /// Takes ownership of an allocation of the driver in the order of `stream`.
    #[inline]
    pub(super) fn ordered(address: CUdeviceptr, stream: KeptStream<'s>) -> Self {
        let ordered = Ordered { address, stream: stream.as_raw() };
        Self::Ordered(Held::kept(ordered, stream.context_kept()), stream)
    }

    #[inline]
    pub(super) const fn address(&self) -> CUdeviceptr {
        match self {
            Self::Ordered(memory, _) => memory.raw().address,
            Self::Leased(lease) => lease.address(),
        }
    }

    #[inline]
    pub(super) fn stream(&self) -> &Stream<'s> {
        match self {
            Self::Ordered(_, stream) => stream,
            Self::Leased(lease) => lease.stream(),
        }
    }

    /// Moves it to the order of another stream of the same context, after all work on it.
    pub(super) fn move_to(&mut self, stream: KeptStream<'s>) {
        match self {
            Self::Ordered(memory, place) => {
                memory.raw_mut().stream = stream.as_raw();
                *place = stream;
            }
            Self::Leased(lease) => lease.move_to(&stream),
        }
    }

    pub(super) fn close(self) -> Result<(), Error> {
        match self {
            Self::Ordered(memory, _kept_until_then) => memory.close(),
            Self::Leased(_goes_back) => Ok(()),
        }
    }
}

/// Adds the state of the pool to an out-of-memory error. Without a given pool, queries the device's
/// current one, unless it is not the default: then another thread may drop it at any time.
#[cold]
pub(super) fn refused(
    context: &ContextRef,
    pool: Option<CUmemoryPool>,
    bytes: usize,
    error: Error,
) -> MemoryError {
    if !is_no_room(error) {
        return error.into();
    }
    let counted = || {
        let (library, device) = (context.library(), context.device().as_raw());
        let pool = match pool {
            Some(pool) => pool,
            None => {
                let mut current = CUmemoryPool::null();
                // SAFETY: the out-parameter outlives the call.
                unsafe { driver_call!(library, cuDeviceGetMemPool(&raw mut current, device)) }?;
                if context.driver().default_pool(PoolPlace::Device(context.device()))?.as_raw() != current {
                    return Ok(None);
                }
                current
            }
        };
        let count = |which| {
            let mut count = 0u64;
            // SAFETY: the pool is live, as the caller's or the default one; the attribute has eight
            // bytes, and the out-parameter outlives the call.
            unsafe { driver_call!(library, cuMemPoolGetAttribute(pool, which, (&raw mut count).cast())) }?;
            Ok(count)
        };
        let used = count(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
        let reserved = count(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        Ok::<_, Error>(Some((used, reserved.saturating_sub(used))))
    };
    match counted() {
        Ok(Some((used, held))) => MemoryError::NoRoom { bytes, used, held, error },
        Ok(None) | Err(_) => error.into(),
    }
}
