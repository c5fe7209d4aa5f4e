//! Pools and their memory in other processes.

#[cfg(unix)]
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

#[cfg(unix)]
use cuprum_sys::{CUmemAllocationHandleType, CUmemoryPool};
use cuprum_sys::{CUmemPoolPtrExportData, FnId};

#[cfg(unix)]
use super::PoolRef;
use super::block::Block;
use super::{MemoryPool, StreamBuffer};
use crate::context::{Current, context_call};
#[cfg(unix)]
use crate::driver::Driver;
use crate::error::Error;
#[cfg(unix)]
use crate::memory::owned_descriptor;
use crate::memory::{DeviceData, MemoryError, bytes_of};
#[cfg(unix)]
use crate::raw::call::driver_call;
use crate::stream::StreamSource;

#[cfg(unix)]
const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

#[cfg(unix)]
impl PoolRef {
    /// Exports the pool as a file descriptor, to be sent to another process, which
    /// [imports](MemoryPool::import) it.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` unless the pool was made [for
    /// that](super::PoolOptions::shareable); `CUDA_ERROR_NOT_SUPPORTED`.
    ///
    /// Driver: `cuMemPoolExportToShareableHandle`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolExportToShareableHandle")]
    #[inline]
    pub fn export(&self) -> Result<OwnedFd, Error> {
        let (library, pool, mut descriptor) = (self.driver().library(), self.as_raw(), -1i32);
        let to = (&raw mut descriptor).cast();
        // SAFETY: the pool is live; a descriptor is an `int`, and its place outlives the call.
        unsafe { driver_call!(library, cuMemPoolExportToShareableHandle(to, pool, DESCRIPTOR, 0)) }?;
        owned_descriptor(descriptor, FnId::cuMemPoolExportToShareableHandle)
    }
}

#[cfg(unix)]
impl MemoryPool {
    /// Imports a pool of another process, by its [exported](PoolRef::export) descriptor, which the
    /// caller keeps. It cannot allocate here; [`StreamBuffer::import`] imports allocations of the
    /// other process.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for another kind of descriptor; `CUDA_ERROR_NOT_SUPPORTED`.
    ///
    /// Driver: `cuMemPoolImportFromShareableHandle`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolImportFromShareableHandle")]
    #[inline]
    pub fn import(driver: Driver, descriptor: BorrowedFd<'_>) -> Result<Self, Error> {
        let mut raw = CUmemoryPool::null();
        let (to, from) = (&raw mut raw, std::ptr::without_provenance_mut(descriptor.as_raw_fd() as usize));
        // SAFETY: the out-parameter outlives the call; for a descriptor the pointer is its number.
        unsafe {
            driver_call!(driver.library(), cuMemPoolImportFromShareableHandle(to, from, DESCRIPTOR, 0))
        }?;
        Ok(Self::owned(raw, driver))
    }
}

impl<'s, T: DeviceData> StreamBuffer<'s, T> {
    /// Returns the name of the memory, 64 bytes, with which processes that have imported its
    /// [exported](super::PoolRef::export) pool [import](StreamBuffer::import) it.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for memory that is not of an exported pool;
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuMemPoolExportPointer`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolExportPointer")]
    #[inline]
    pub fn export(&self, cx: &Current<'_, '_>) -> Result<[u8; 64], Error> {
        let context = cx.of(self.context(), FnId::cuMemPoolExportPointer)?;
        let mut data = CUmemPoolPtrExportData::zeroed();
        // SAFETY: the out-parameter outlives the call; the address is of live memory, or 0.
        unsafe { context_call!(context, cuMemPoolExportPointer(&raw mut data, self.as_raw())) }?;
        Ok(data.reserved)
    }

    /// Imports memory that another process has allocated from an imported pool, by its name. Drop
    /// frees it here, in the order of `stream`, but not in the other process.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; `CUDA_ERROR_INVALID_VALUE` for memory of another pool;
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// # Safety
    /// 1. The memory has at least `len` elements of `T`, and its bytes are valid values.
    /// 2. The other process's stream has reached the allocation, and accesses of that process are
    ///    ordered with accesses here.
    /// 3. The other process frees the memory after it was freed here.
    /// 4. It was not imported before, unless that import was freed.
    ///
    /// Driver: `cuMemPoolImportPointer`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolImportPointer")]
    pub unsafe fn import(
        cx: &Current<'_, '_>,
        stream: impl StreamSource<'s>,
        pool: &MemoryPool,
        pointer: [u8; 64],
        len: usize,
    ) -> Result<Self, MemoryError> {
        bytes_of::<T>(len)?;
        let stream = stream.kept();
        let context = cx.of(stream.context(), FnId::cuMemPoolImportPointer)?;
        pool.check_driver(context, FnId::cuMemPoolImportPointer)?;
        let mut data = CUmemPoolPtrExportData { reserved: pointer };
        let (mut address, pool, from) = (0, pool.as_raw(), &raw mut data);
        // SAFETY: the pool is live; the data and the out-parameter outlive the call.
        unsafe { context_call!(context, cuMemPoolImportPointer(&raw mut address, pool, from)) }?;
        Ok(Self::new(Block::ordered(address, stream), len))
    }
}
