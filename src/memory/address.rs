//! The allocation that contains an address, and addresses for other devices of the machine.

use std::ops::Range;
use std::ptr;

use cuprum_sys::{CUdeviceptr, CUmemRangeHandleType, CUresult, FnId};

use super::{DeviceData, Slice, bytes_of};
use crate::context::Current;
use crate::error::Error;
use crate::memory::MemoryError;
use crate::raw::call::context_call;

impl Current<'_, '_> {
    /// Returns the addresses of the allocation that contains an address.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// let buffer = cuprum::Buffer::<u32>::alloc(&cx, 100)?;
    /// let range = cx.address_range(buffer.as_raw() + 40)?;
    /// assert_eq!(range, buffer.as_raw()..buffer.as_raw() + 400);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_FOUND` if no allocation contains the address.
    ///
    /// Driver: `cuMemGetAddressRange_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemGetAddressRange_v2")]
    #[inline]
    pub fn address_range(&self, address: CUdeviceptr) -> Result<Range<CUdeviceptr>, Error> {
        let context = &self.get()?;
        let (mut start, mut bytes) = (0, 0);
        // SAFETY: both out-parameters outlive the call, which accepts any address.
        unsafe { context_call!(context, cuMemGetAddressRange_v2(&raw mut start, &raw mut bytes, address)) }?;
        Ok(start..start.saturating_add(bytes as CUdeviceptr))
    }
}

#[cfg(unix)]
impl<T: DeviceData> Slice<'_, T> {
    /// Exports the memory as a Linux dma-buf, for access by other devices such as network cards.
    ///
    /// The address and the size must be multiples of the host's page size. All users of the
    /// descriptor must stop using it before the memory is freed or unmapped.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` unless the device has the attribute `CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED`;
    /// `CUDA_ERROR_INVALID_VALUE` for parts of pages; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuMemGetHandleForAddressRange`, CUDA 11.7+.
    #[doc(alias = "cuMemGetHandleForAddressRange")]
    #[inline]
    pub fn export_dma_buf(self, cx: &Current<'_, '_>) -> Result<std::os::fd::OwnedFd, MemoryError> {
        let call = FnId::cuMemGetHandleForAddressRange;
        let context = cx.of(self.context(), call)?;
        let (mut descriptor, bytes, address) = (-1, bytes_of::<T>(self.len())?, self.as_raw());
        let to = ptr::from_mut(&mut descriptor).cast();
        let kind = CUmemRangeHandleType::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
        // SAFETY: the memory is live; the out-parameter is an `int` for this kind, and outlives the
        // call.
        unsafe { context_call!(context, cuMemGetHandleForAddressRange(to, address, bytes, kind, 0)) }?;
        Ok(owned_descriptor(descriptor, call)?)
    }
}

/// A descriptor that the driver has opened for this call.
#[cfg(unix)]
pub(crate) fn owned_descriptor(descriptor: i32, call: FnId) -> Result<std::os::fd::OwnedFd, Error> {
    use std::os::fd::FromRawFd;

    if descriptor < 0 {
        return Err(Error::host(CUresult::CUDA_ERROR_UNKNOWN, call));
    }
    // SAFETY: the driver has opened it for the caller, who owns it.
    Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(descriptor) })
}
