//! The driver calls that allocate and free the memory of a pool.

use cuprum_sys::FnId;

use crate::context::{ContextRef, Current, captures, context_call};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::memory::caching::SizeClass;

pub(super) fn class_of(bytes: usize) -> Result<SizeClass, MemoryError> {
    SizeClass::of(bytes).ok_or(MemoryError::TooLarge { len: bytes, element_bytes: 1 })
}

pub(super) fn alloc_device(cx: &Current<'_, '_>, class: SizeClass) -> Result<u64, Error> {
    let context = cx.get()?;
    let mut address = 0;
    // SAFETY: the place outlives the call, and `cx` proves a current context.
    unsafe { context_call!(&context, cuMemAlloc_v2(&raw mut address, class.bytes())) }?;
    Ok(address)
}

/// Allocates a block of page-locked memory. Its contents are unspecified, but not uninitialized for
/// the compiler, because the system makes the pages in an opaque call.
pub(super) fn alloc_host(cx: &Current<'_, '_>, class: SizeClass) -> Result<u64, Error> {
    let context = cx.get()?;
    let mut start = std::ptr::null_mut();
    // SAFETY: the place outlives the call, and `cx` proves a current context.
    unsafe { context_call!(&context, cuMemHostAlloc(&raw mut start, class.bytes(), 0)) }?;
    if start.is_null() {
        return Err(Error::host(cuprum_sys::CUresult::CUDA_ERROR_UNKNOWN, FnId::cuMemHostAlloc));
    }
    Ok(start.expose_provenance() as u64)
}

pub(super) fn free_device(context: &ContextRef, block: u64) -> Result<(), Error> {
    context.check_kept(FnId::cuMemFree_v2)?;
    captures::free_beside(context.library(), || {
        // SAFETY: a block without users; the call waits for earlier work of the context.
        unsafe { context_call!(context, cuMemFree_v2(block)) }
    })
}

pub(super) fn free_host(context: &ContextRef, block: u64) -> Result<(), Error> {
    context.check_kept(FnId::cuMemFreeHost)?;
    let start = std::ptr::with_exposed_provenance_mut(block as usize);
    captures::free_beside(context.library(), || {
        // SAFETY: a block that neither the host nor any work uses.
        unsafe { context_call!(context, cuMemFreeHost(start)) }
    })
}
