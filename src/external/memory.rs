//! Imported memory.

use std::fmt;

use cuprum_sys::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, CUexternalMemory, CUmipmappedArray, CUresult, FnId, Fns, call,
};

use super::ExternalBuffer;
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::{ArrayFlags, ArrayShape, DeviceData, MemoryError, MipmappedArray, Texel, bytes_of};
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};

// SAFETY: the driver allows any thread to use and to destroy imported memory.
unsafe impl Handle for CUexternalMemory {
    const NAME: &'static str = "ExternalMemory";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller guarantees that it is live and not used again.
        unsafe { call!(fns, cuDestroyExternalMemory(self)) }
    }
}

/// Memory of another API, imported into one context. It has no address before a part of it is mapped.
///
/// What is mapped borrows it, so that it goes last. Drop works on any thread, swallows errors and does nothing in a forked
/// child; [`close`](ExternalMemory::close) returns errors. The memory itself stays the other API's.
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// # let driver = cuprum::Driver::init(cuprum_emulator::library())?;
/// # let context = cuprum::context::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::context::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use std::os::fd::{FromRawFd, OwnedFd};
/// use cuprum::external::ExternalMemory;
///
/// // On a GPU, `vkGetMemoryFdKHR` gives the descriptor.
/// let other = cuprum_emulator::memory::ExternalMemory::new(4096).ok_or("no shared memory")?;
/// let descriptor = other.descriptor().ok_or("no descriptors left")?;
/// // SAFETY: a new descriptor, of memory of 4096 bytes that the other API keeps, and does not use meanwhile.
/// let memory = unsafe { ExternalMemory::from_opaque_fd(&cx, OwnedFd::from_raw_fd(descriptor), 4096) }?;
/// // SAFETY: nobody else uses these bytes meanwhile.
/// let mut bytes = unsafe { memory.map::<u8>(&cx, 1024, 16) }?;
/// cx.fill_bytes(&mut bytes, 7)?;
/// cx.synchronize()?;
/// assert_eq!(other.byte(1024), Some(7));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ExternalMemory<'ctx>(Held<'ctx, CUexternalMemory>);

impl<'ctx> ExternalMemory<'ctx> {
    /// Imports memory by a description, whatever the kind of its handle.
    ///
    /// # Errors
    /// `CUDA_ERROR_UNKNOWN` if the handle is none of such memory; `CUDA_ERROR_NOT_SUPPORTED` for a kind of handle that the
    /// system does not have; `CUDA_ERROR_INVALID_VALUE`.
    ///
    /// # Safety
    /// 1. The description is as the driver's documentation demands it, its handle live, its size that of the memory.
    /// 2. A descriptor is the driver's after success, and stays the caller's after an error.
    /// 3. The other API keeps the memory as long as this value and what is mapped of it, with access in order by semaphores
    ///    or waits.
    ///
    /// Driver: `cuImportExternalMemory`, CUDA 10.0+.
    #[doc(alias = "cuImportExternalMemory")]
    #[inline]
    pub unsafe fn import(
        cx: &Current<'_, 'ctx>,
        described: &CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    ) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUexternalMemory::null();
        let (out, described) = (&raw mut raw, std::ptr::from_ref(described));
        // SAFETY: description and out-parameter outlive the call, and `cx` proves a current context; the caller vouches for
        // the handle.
        unsafe { context_call!(&context, cuImportExternalMemory(out, described)) }?;
        Ok(Self(Held::new(raw, context)))
    }

    /// Imports `bytes` bytes by an opaque descriptor, such as Vulkan exports. The descriptor is the driver's
    /// then. After an error it is left open, since the driver may have taken it all the same.
    ///
    /// # Errors
    /// Same as [`import`](ExternalMemory::import).
    ///
    /// # Safety
    /// 1. The descriptor is of memory of so many bytes that another API, or a driver of CUDA, has exported.
    /// 2. The other API keeps the memory as long as this value and what is mapped of it, with access in order by semaphores
    ///    or waits.
    ///
    /// Driver: `cuImportExternalMemory`, CUDA 10.0+.
    #[cfg(unix)]
    #[doc(alias = "cuImportExternalMemory")]
    #[inline]
    pub unsafe fn from_opaque_fd(
        cx: &Current<'_, 'ctx>,
        descriptor: std::os::fd::OwnedFd,
        bytes: u64,
    ) -> Result<Self, Error> {
        use std::os::fd::IntoRawFd;

        let mut described = CUDA_EXTERNAL_MEMORY_HANDLE_DESC::zeroed();
        described.type_ = cuprum_sys::CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
        described.handle.fd = descriptor.into_raw_fd();
        described.size = bytes;
        // SAFETY: the descriptor is open, and the caller vouches for what it is of.
        unsafe { Self::import(cx, &described) }
    }

    /// Gives `len` elements from byte `offset` on an address.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; `CUDA_ERROR_INVALID_VALUE` for a range that does not lie in the memory, and for no bytes;
    /// [`Error::is_wrong_context`].
    ///
    /// # Safety
    /// 1. `offset` is a multiple of `T`'s alignment.
    /// 2. While a [`SliceMut`](crate::memory::SliceMut) of it is in use, nobody else accesses the same bytes, through another mapping
    ///    or in the other API, and while a [`Slice`](crate::memory::Slice) is, nobody writes them, unless a semaphore or a wait puts
    ///    it in order or the result may be any.
    ///
    /// Driver: `cuExternalMemoryGetMappedBuffer`, CUDA 10.0+.
    #[doc(alias = "cuExternalMemoryGetMappedBuffer")]
    pub unsafe fn map<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        offset: u64,
        len: usize,
    ) -> Result<ExternalBuffer<'_, T>, MemoryError> {
        let mut described = CUDA_EXTERNAL_MEMORY_BUFFER_DESC::zeroed();
        described.offset = offset;
        described.size = bytes_of::<T>(len)? as u64;
        let context = cx.of(self.context(), FnId::cuExternalMemoryGetMappedBuffer)?;
        let mut address = 0;
        let (out, part) = (&raw mut address, &raw const described);
        // SAFETY: the memory is live; description and out-parameter outlive the call.
        unsafe { context_call!(context, cuExternalMemoryGetMappedBuffer(out, self.as_raw(), part)) }?;
        Ok(ExternalBuffer::new(address, len, self.0.near()))
    }

    /// Takes the memory from byte `offset` on as a mipmapped array, which the other API made as an image.
    ///
    /// # Errors
    /// Same as [`MipmappedArray::new`]; `CUDA_ERROR_INVALID_VALUE` if the array does not lie in the memory;
    /// [`Error::is_wrong_context`].
    ///
    /// # Safety
    /// 1. The image has this shape, these levels, elements of `T`, and lies there.
    /// 2. Copies, textures and surfaces of the array are in order with what the other API does, or the result may be any.
    ///
    /// Driver: `cuExternalMemoryGetMappedMipmappedArray`, CUDA 10.0+.
    #[doc(alias = "cuExternalMemoryGetMappedMipmappedArray")]
    pub unsafe fn mipmapped<T: Texel>(
        &self,
        cx: &Current<'_, '_>,
        offset: u64,
        shape: ArrayShape,
        flags: ArrayFlags,
        levels: u32,
    ) -> Result<MipmappedArray<'_, T>, MemoryError> {
        let context = cx.of(self.context(), FnId::cuExternalMemoryGetMappedMipmappedArray)?;
        MipmappedArray::made(shape, flags, levels, self.0.near(), |array, levels| {
            let mut described = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC::zeroed();
            described.offset = offset;
            described.arrayDesc = array;
            described.numLevels = levels;
            let mut raw = CUmipmappedArray::null();
            let (out, part) = (&raw mut raw, &raw const described);
            // SAFETY: the memory is live; description and out-parameter outlive the call.
            unsafe {
                context_call!(context, cuExternalMemoryGetMappedMipmappedArray(out, self.as_raw(), part))
            }?;
            Ok(raw)
        })
    }

    /// The driver's handle.
    pub const fn as_raw(&self) -> CUexternalMemory {
        self.0.raw()
    }

    /// The context that it was imported into.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.0.context()
    }

    /// Gives the memory up and returns the error that `Drop` would swallow. It is gone after an error too.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuDestroyExternalMemory`, CUDA 10.0+.
    #[doc(alias = "cuDestroyExternalMemory")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}

impl fmt::Debug for ExternalMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
