//! Queries about addresses, for logs and for code that gets addresses from elsewhere.

use std::ffi::c_void;

use cuprum_sys::{CUcontext, CUdeviceptr, CUmemorytype, CUpointer_attribute};

use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// The driver's description of an address. Empty for unknown memory.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Buffer;
///
/// let buffer = Buffer::<u32>::zeroed(&cx, 256)?;
/// let info = driver.pointer_info(buffer.as_raw() + 4)?;
/// assert_eq!((info.start, info.bytes), (buffer.as_raw(), 1024));
///
/// // Host memory that the driver does not know.
/// let here = 0u32;
/// assert_eq!(driver.pointer_info((&raw const here).addr() as u64)?.memory_type, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PointerInfo {
    /// Kind of memory; `None` if the driver does not know the address, as for ordinary host memory.
    pub memory_type: Option<CUmemorytype>,
    /// The device on which the memory was allocated or registered.
    pub device: Option<i32>,
    /// The context in which it was allocated or registered; null for memory of a pool.
    pub context: CUcontext,
    /// The address for access by a device; 0 for none.
    pub device_address: CUdeviceptr,
    /// The address for access by the host; 0 for none.
    pub host_address: u64,
    /// True for managed memory.
    pub is_managed: bool,
    /// The first address of the allocation.
    pub start: CUdeviceptr,
    /// Number of bytes of the allocation.
    pub bytes: usize,
    /// A number unique to the allocation within the process, never reused; 0 for an unknown
    /// address.
    pub id: u64,
}

impl PointerInfo {
    const UNKNOWN: Self = Self {
        memory_type: None,
        device: None,
        context: CUcontext::null(),
        device_address: 0,
        host_address: 0,
        is_managed: false,
        start: 0,
        bytes: 0,
        id: 0,
    };
}

impl Driver {
    /// Describes an `address` of a device or the host with one call that does not wait.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors); `CUDA_ERROR_INVALID_CONTEXT` on some drivers if no
    /// context was ever made.
    ///
    /// Driver: `cuPointerGetAttributes`, CUDA 7.0+.
    #[doc(alias = "cuPointerGetAttributes")]
    pub fn pointer_info(self, address: CUdeviceptr) -> Result<PointerInfo, Error> {
        type Attribute = CUpointer_attribute;
        let mut info = PointerInfo::UNKNOWN;
        let (mut memory_type, mut device, mut managed) = (0u32, -1i32, 0u32);
        let mut asked: [(Attribute, *mut c_void); 9] = [
            (Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (&raw mut memory_type).cast()),
            (Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (&raw mut device).cast()),
            (Attribute::CU_POINTER_ATTRIBUTE_CONTEXT, (&raw mut info.context).cast()),
            (Attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (&raw mut info.device_address).cast()),
            (Attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER, (&raw mut info.host_address).cast()),
            (Attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED, (&raw mut managed).cast()),
            (Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (&raw mut info.start).cast()),
            (Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE, (&raw mut info.bytes).cast()),
            (Attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID, (&raw mut info.id).cast()),
        ];
        // The last three attributes are newer than the call: CUDA 10.2 and 11.
        let count = if self.version() >= cuprum_sys::Version::new(11, 0) { asked.len() } else { 6 };
        let mut attributes = asked.map(|(attribute, _)| attribute);
        let mut places = asked.each_mut().map(|(_, place)| *place);
        let (attributes, places) = (attributes.as_mut_ptr(), places.as_mut_ptr());
        // SAFETY: there are `count` attributes and as many places, each of its attribute's size;
        // all outlive the call.
        unsafe {
            driver_call!(self.library(), cuPointerGetAttributes(count as u32, attributes, places, address))
        }?;
        info.memory_type = (memory_type != 0).then_some(CUmemorytype(memory_type));
        info.device = (device >= 0 && memory_type != 0).then_some(device);
        info.is_managed = managed != 0;
        Ok(info)
    }

    /// Reads an attribute that [`pointer_info`](Driver::pointer_info) does not return.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an address or an attribute that the driver does not know.
    ///
    /// # Safety
    /// 1. `T` is the type that the driver writes for the attribute, and all bytes that it writes
    ///    are valid for `T`.
    ///
    /// Driver: `cuPointerGetAttribute`, CUDA 4.0+.
    #[doc(alias = "cuPointerGetAttribute")]
    pub unsafe fn pointer_attribute<T: Copy + Default>(
        self,
        attribute: CUpointer_attribute,
        address: CUdeviceptr,
    ) -> Result<T, Error> {
        let mut value = T::default();
        let to = (&raw mut value).cast();
        // SAFETY: `value` outlives the call, and the caller guarantees its type.
        unsafe { driver_call!(self.library(), cuPointerGetAttribute(to, attribute, address)) }?;
        Ok(value)
    }

    /// Sets whether synchronous copies and fills of the allocation at `address` always wait until
    /// they are done; some of them otherwise return earlier.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an address that the driver does not know.
    ///
    /// Driver: `cuPointerSetAttribute`, CUDA 6.0+.
    #[doc(alias = "cuPointerSetAttribute")]
    #[inline]
    pub fn set_sync_memops(self, address: CUdeviceptr, on: bool) -> Result<(), Error> {
        let (value, attribute) = (u32::from(on), CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
        // SAFETY: the attribute is a number of four bytes, which outlives the call.
        unsafe {
            driver_call!(self.library(), cuPointerSetAttribute((&raw const value).cast(), attribute, address))
        }
    }
}
