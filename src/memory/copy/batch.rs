//! Copies with attributes, and several copies in one call.

use cuprum_sys::{CUDA_MEMCPY3D_BATCH_OP, CUdeviceptr, CUmemDecompressParams, CUmemcpyAttributes, CUstream};

use crate::context::{ContextRef, context_call};
use crate::error::Error;

/// Queues a copy of `bytes` bytes with attributes.
///
/// # Safety
/// `context` is current. Both sides have `bytes` bytes that the context can access, and live until
/// `stream` was waited for; for a side on the host, same as [`super::from_host_on`] and
/// [`super::to_host_on`].
pub(crate) unsafe fn with_attributes_on(
    context: &ContextRef,
    stream: CUstream,
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    mut attributes: CUmemcpyAttributes,
) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    let attributes = &raw mut attributes;
    // SAFETY: guaranteed by the caller; the attributes outlive the call.
    unsafe { context_call!(context, cuMemcpyWithAttributesAsync(to, from, bytes, attributes, stream)) }
}

/// Queues copies without an order. Each set of attributes applies to the copies from an index on.
///
/// # Safety
/// Same as [`with_attributes_on`]; corresponding lists have equal lengths.
pub(crate) unsafe fn several_on(
    context: &ContextRef,
    stream: CUstream,
    [to, from]: [&mut [CUdeviceptr]; 2],
    bytes: &mut [usize],
    (attributes, first): (&mut [CUmemcpyAttributes], &mut [usize]),
) -> Result<(), Error> {
    if bytes.is_empty() {
        return Ok(());
    }
    let (sets, count) = (attributes.len(), bytes.len());
    let (attributes, first) = (attributes.as_mut_ptr(), first.as_mut_ptr());
    let (to, from, bytes) = (to.as_mut_ptr(), from.as_mut_ptr(), bytes.as_mut_ptr());
    // SAFETY: guaranteed by the caller; lists and attributes outlive the call.
    unsafe {
        context_call!(context, cuMemcpyBatchAsync_v2(to, from, bytes, count, attributes, first, sets, stream))
    }
}

/// Queues a copy of a block of rows and slices with attributes.
///
/// # Safety
/// Same as [`super::block_on`].
pub(crate) unsafe fn block_with_attributes_on(
    context: &ContextRef,
    stream: CUstream,
    mut block: CUDA_MEMCPY3D_BATCH_OP,
) -> Result<(), Error> {
    // SAFETY: guaranteed by the caller; the block outlives the call.
    unsafe { context_call!(context, cuMemcpy3DWithAttributesAsync(&raw mut block, 0, stream)) }
}

/// Queues several copies of blocks of rows and slices, without an order.
///
/// # Safety
/// Same as [`super::block_on`] for each copy.
pub(crate) unsafe fn blocks_on(
    context: &ContextRef,
    stream: CUstream,
    blocks: &mut [CUDA_MEMCPY3D_BATCH_OP],
) -> Result<(), Error> {
    if blocks.is_empty() {
        return Ok(());
    }
    let (first, count) = (blocks.as_mut_ptr(), blocks.len());
    // SAFETY: guaranteed by the caller; the list outlives the call.
    unsafe { context_call!(context, cuMemcpy3DBatchAsync_v2(count, first, 0, stream)) }
}

/// Queues decompressions without an order. An error has the index of the failed one, if known.
///
/// # Safety
/// `context` is current. The memory of each entry is live until `stream` was waited for, and has
/// room for the decompressed bytes.
pub(crate) unsafe fn decompress_on(
    context: &ContextRef,
    stream: CUstream,
    list: &mut [CUmemDecompressParams],
) -> Result<(), (Error, Option<usize>)> {
    if list.is_empty() {
        return Ok(());
    }
    let mut index = usize::MAX;
    let (first, count, failed) = (list.as_mut_ptr(), list.len(), &raw mut index);
    // SAFETY: guaranteed by the caller; list and out-parameter outlive the call.
    let answer =
        unsafe { context_call!(context, cuMemBatchDecompressAsync(first, count, 0, failed, stream)) };
    answer.map_err(|error| (error, (index < count).then_some(index)))
}
