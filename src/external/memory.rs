//! Imported memory.

use cuprum_sys::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, CUexternalMemory, CUmipmappedArray, FnId,
};

use crate::context::{Current, captures, context_call};
use crate::error::Error;
use crate::memory::{
    ArrayFlags, ArrayShape, DeviceData, ForeignBuffer, MemoryError, MipmappedArray, Texel, bytes_of,
};
use crate::raw::debug::debug;
use crate::raw::held::{Held, handle};
use crate::raw::owner::{as_raw, close, context};

// SAFETY: the driver allows any thread to use and to destroy imported memory.
handle!(unsafe CUexternalMemory: "ExternalMemory", |raw| cuDestroyExternalMemory(raw));

/// Memory of another API, imported into one context. Only mapped parts have an address.
///
/// Mappings borrow it, so it is dropped last. The other API still owns the memory.
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// # cuprum::example!(software driver, context, cx);
/// use std::os::fd::{FromRawFd, OwnedFd};
/// use cuprum::external::ExternalMemory;
///
/// // On a GPU, `vkGetMemoryFdKHR` returns the descriptor.
/// let other = cuprum_emulator::memory::ExternalMemory::new(4096).ok_or("no shared memory")?;
/// let descriptor = other.descriptor().ok_or("no descriptors left")?;
/// // SAFETY: a new descriptor of 4096 bytes, which the other API keeps, and does not use meanwhile.
/// let memory = unsafe { ExternalMemory::from_opaque_fd(&cx, OwnedFd::from_raw_fd(descriptor), 4096) }?;
/// // SAFETY: these bytes have no other users meanwhile.
/// let mut bytes = unsafe { memory.map::<u8>(&cx, 1024, 16) }?;
/// cx.fill_bytes(&mut bytes, 7)?;
/// cx.synchronize()?;
/// assert_eq!(other.byte(1024), Some(7));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ExternalMemory<'ctx>(Held<'ctx, CUexternalMemory>);

impl<'ctx> ExternalMemory<'ctx> {
    /// Imports memory by a description, with any kind of handle.
    ///
    /// # Errors
    /// `CUDA_ERROR_UNKNOWN` if the handle is not of such memory; `CUDA_ERROR_NOT_SUPPORTED` for a
    /// kind of handle that the system does not support; `CUDA_ERROR_INVALID_VALUE`.
    ///
    /// # Safety
    /// 1. The description follows the driver's documentation, its handle is live, and its size is
    ///    the size of the memory.
    /// 2. The driver owns a descriptor after success; the caller keeps it after an error.
    /// 3. The other API keeps the memory as long as this value and its mappings. Semaphores or
    ///    waits order accesses.
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
        // SAFETY: description and out-parameter outlive the call, and `cx` proves a current
        // context; the caller guarantees the handle.
        unsafe { context_call!(&context, cuImportExternalMemory(out, described)) }?;
        Ok(Self(Held::new(raw, context)))
    }

    /// Imports `bytes` bytes by an opaque descriptor, such as one exported by Vulkan. The driver
    /// then owns the descriptor. After an error it stays open, because the driver may have taken
    /// it.
    ///
    /// # Errors
    /// Same as [`import`](ExternalMemory::import).
    ///
    /// # Safety
    /// 1. Another API, or a CUDA driver, has exported the descriptor, of memory of this many bytes.
    /// 2. The other API keeps the memory as long as this value and its mappings. Semaphores or
    ///    waits order accesses.
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
        // SAFETY: the descriptor is open, and the caller guarantees its memory.
        unsafe { Self::import(cx, &described) }
    }

    /// Maps `len` elements from byte `offset` on at an address. Drop unmaps them; the memory
    /// remains.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; `CUDA_ERROR_INVALID_VALUE` for a range out of bounds, and for
    /// zero bytes; [`Error::WRONG_CONTEXT`].
    ///
    /// # Safety
    /// 1. `offset` is a multiple of `T`'s alignment.
    /// 2. While a [`SliceMut`](crate::memory::SliceMut) of it is in use, no other code accesses the
    ///    same bytes, through another mapping or in the other API; while a
    ///    [`Slice`](crate::memory::Slice) is, no code writes them. Exceptions are accesses ordered
    ///    by a semaphore or a wait, and results that may have any value.
    ///
    /// Driver: `cuExternalMemoryGetMappedBuffer`, CUDA 10.0+; at its end `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias("cuExternalMemoryGetMappedBuffer", "cuMemFree_v2"))]
    pub unsafe fn map<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        offset: u64,
        len: usize,
    ) -> Result<ForeignBuffer<'_, T>, MemoryError> {
        let mut described = CUDA_EXTERNAL_MEMORY_BUFFER_DESC::zeroed();
        described.offset = offset;
        described.size = bytes_of::<T>(len)? as u64;
        let context = cx.of(self.context(), FnId::cuExternalMemoryGetMappedBuffer)?;
        let mut address = 0;
        let (out, part) = (&raw mut address, &raw const described);
        // SAFETY: the memory is live; description and out-parameter outlive the call.
        unsafe { context_call!(context, cuExternalMemoryGetMappedBuffer(out, self.as_raw(), part)) }?;
        Ok(ForeignBuffer::owning(self.0.near(), address, len, |context, address| {
            captures::free_beside(context.library(), || {
                // SAFETY: the mapping is live, and not used again.
                unsafe { context_call!(context, cuMemFree_v2(address)) }
            })
        }))
    }

    /// Maps the memory from byte `offset` on as a mipmapped array, an image of the other API.
    ///
    /// # Errors
    /// Same as [`MipmappedArray::new`]; `CUDA_ERROR_INVALID_VALUE` if the array exceeds the memory;
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// # Safety
    /// 1. The image has this shape, these levels, and elements of `T`, at that offset.
    /// 2. Copies, textures and surfaces of the array are ordered with accesses of the other API, or
    ///    their results may have any value.
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

    as_raw!(CUexternalMemory, |this| this.0.raw());
    context!(|this| this.0.context());
    close!("Releases the memory", "cuDestroyExternalMemory", "10.0", |this| this.0.close());
}

debug!(ExternalMemory<'_>: |this, f| this.0.fmt(f));
