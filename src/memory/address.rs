//! Memory for other devices of the machine, as descriptors.

use std::ptr;

use cuprum_sys::{CUmemRangeHandleType, CUresult, FnId};

use super::{DeviceData, Slice, bytes_of};
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::memory::MemoryError;

impl<T: DeviceData> Slice<'_, T> {
    /// Exports the memory as a Linux dma-buf, for access by other devices such as network cards.
    ///
    /// The address and the size must be multiples of the host's page size. All users of the
    /// descriptor must stop using it before the memory is freed or unmapped.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` unless the device has the attribute
    /// `CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED`; `CUDA_ERROR_INVALID_VALUE` for parts of pages;
    /// [`Error::WRONG_CONTEXT`].
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
pub(crate) fn owned_descriptor(descriptor: i32, call: FnId) -> Result<std::os::fd::OwnedFd, Error> {
    use std::os::fd::FromRawFd;

    if descriptor < 0 {
        return Err(Error::host(CUresult::CUDA_ERROR_UNKNOWN, call));
    }
    // SAFETY: the driver has opened it for the caller, who owns it.
    Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(descriptor) })
}
