//! Owned managed memory.

use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::ptr::{self, NonNull};

use cuprum_sys::{CUdevice_attribute, CUdeviceptr, CUmemAttach_flags, FnId, Version};

use super::range::{ManagedRange, ManagedRangeMut};
use crate::context::{Beside, ContextRef, Current, captures, context_call};
use crate::device::Device;
use crate::error::Error;
use crate::memory::buffer::Allocation;
use crate::memory::elements::elements;
use crate::memory::{DeviceData, MemoryError, Pattern, Slice, SliceMut, bytes_of, copy, resolve};
use crate::raw::held::{Held, activated};
use crate::raw::owner::close;

/// `len` elements of managed memory, freed on drop. The host and devices use one address.
///
/// On the device it is like other memory: it lends [slices](Slice), which are copied, filled, lent,
/// and passed to kernels. The host accesses it by [`host`](ManagedBuffer::host),
/// [`host_mut`](ManagedBuffer::host_mut) and [`on_host`](ManagedBuffer::on_host), each of which
/// first waits for all work of the context, so that earlier work no longer writes it. During the
/// access it is borrowed, so that no new work can write it.
///
/// # Devices without concurrent access
///
/// Some devices cannot run while the host accesses managed memory (the attribute
/// `CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS` is 0: Windows, some embedded devices, and
/// devices before Pascal). There the host must not access managed memory while *any* kernel of any
/// thread runs. No borrow can guarantee that, so [`host`](ManagedBuffer::host) fails with
/// [`MemoryError::NotConcurrent`], and [`on_host`](ManagedBuffer::on_host) attaches the memory to
/// the host during its closure, which all devices allow. Concurrent access requires that all
/// devices of the process support it.
///
/// # After a fault
///
/// All waits fail, so the host can no longer borrow the memory. An existing borrow stays readable
/// when other work faults, because no work uses the memory.
///
/// A buffer of zero bytes owns nothing and makes no driver calls.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::ManagedBuffer;
///
/// let mut numbers = ManagedBuffer::from_slice(&cx, &[1u32, 2, 3])?;
/// numbers.on_host(&cx, |numbers| numbers[1] = 20)?; // in place, without a copy
/// cx.fill(&mut numbers.slice_mut(..1).ok_or("outside")?, 10)?; // on the device
/// assert_eq!(numbers.on_host(&cx, |numbers| numbers.to_vec())?, [10, 20, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ManagedBuffer<'ctx, T: DeviceData> {
    memory: Held<'ctx, Allocation>,
    len: usize,
    /// True if the host may access it during work of any device.
    concurrent: bool,
    /// True if it could not be attached to the devices again.
    lost: bool,
    _elements: PhantomData<T>,
}

elements! {
    ManagedBuffer(this): this.memory.raw().0, of this.memory, this.reachable(), noting if this.lost { ", lost" } else { "" };
    as_raw: "Address of the first element, on the host and on devices; 0 for a buffer that owns nothing.",
    context: "The context in which the memory was allocated."
}

impl<'ctx, T: DeviceData> ManagedBuffer<'ctx, T> {
    /// Allocates `len` elements without initializing them.
    ///
    /// First queries whether the devices support concurrent access.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; [`MemoryError::Alignment`] for an alignment greater than the
    /// driver's; `CUDA_ERROR_OUT_OF_MEMORY`; `CUDA_ERROR_NOT_SUPPORTED` on a device without managed
    /// memory.
    ///
    /// Driver: `cuMemAllocManaged`, CUDA 6.0+, and `cuDeviceGetCount` and `cuDeviceGetAttribute`,
    /// CUDA 2.0+.
    #[doc(alias = "cuMemAllocManaged")]
    #[inline]
    pub fn alloc(cx: &Current<'_, 'ctx>, len: usize) -> Result<Self, MemoryError> {
        let bytes = bytes_of::<T>(len)?;
        let context = cx.get()?;
        let (mut address, mut concurrent) = (0, true);
        if bytes != 0 {
            concurrent = is_concurrent(&context)?;
            let flags = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
            // SAFETY: `address` outlives the call, and `cx` proves a current context.
            unsafe { context_call!(&context, cuMemAllocManaged(&raw mut address, bytes, flags)) }?;
        }
        let memory = Held::new(Allocation(address), context);
        if address % align_of::<T>() as CUdeviceptr != 0 {
            return Err(MemoryError::Alignment { align: align_of::<T>() });
        }
        Ok(Self { memory, len, concurrent, lost: false, _elements: PhantomData })
    }

    /// Allocates `len` elements and sets all their bytes to zero. The host does not wait.
    ///
    /// # Errors
    /// Same as [`alloc`](ManagedBuffer::alloc).
    ///
    /// Driver: `cuMemAllocManaged`, CUDA 6.0+, `cuMemsetD8_v2`, CUDA 3.2+, and `cuDeviceGetCount`
    /// and `cuDeviceGetAttribute`, CUDA 2.0+.
    #[doc(alias = "cuMemAllocManaged")]
    #[inline]
    pub fn zeroed(cx: &Current<'_, 'ctx>, len: usize) -> Result<Self, MemoryError> {
        let buffer = Self::alloc(cx, len)?;
        let context = cx.of(buffer.context(), FnId::cuMemsetD8_v2)?;
        let bytes = bytes_of::<T>(len)?;
        // SAFETY: the bytes were just allocated and have no other users, and any bytes are a `T`.
        unsafe { copy::fill(context, buffer.as_raw(), Pattern::Byte(0), bytes) }?;
        Ok(buffer)
    }

    /// Allocates a buffer of the length of `host` and copies `host` there.
    ///
    /// # Errors
    /// Same as [`alloc`](ManagedBuffer::alloc).
    ///
    /// Driver: `cuMemAllocManaged`, CUDA 6.0+, `cuMemcpyHtoD_v2`, CUDA 3.2+, and `cuDeviceGetCount`
    /// and `cuDeviceGetAttribute`, CUDA 2.0+.
    #[doc(alias = "cuMemAllocManaged")]
    #[inline]
    pub fn from_slice(cx: &Current<'_, 'ctx>, host: &[T]) -> Result<Self, MemoryError> {
        let mut buffer = Self::alloc(cx, host.len())?;
        cx.copy(&mut buffer, host)?;
        Ok(buffer)
    }

    /// True if the host may read it while devices work, by [`host`](ManagedBuffer::host).
    pub const fn is_concurrent(&self) -> bool {
        self.concurrent
    }

    /// True if the memory could not be attached to the devices again after
    /// [`on_host`](ManagedBuffer::on_host). Then its slices are empty.
    pub const fn is_lost(&self) -> bool {
        self.lost
    }

    /// Number of elements that devices may access.
    const fn reachable(&self) -> usize {
        if self.lost { 0 } else { self.len }
    }

    /// Borrows some elements for advice and prefetching, or returns `None` if out of bounds.
    pub fn range(&self, range: impl RangeBounds<usize>) -> Option<ManagedRange<'_>> {
        let (start, len) = resolve(&range, self.reachable())?;
        let address = self.as_raw() + (start * size_of::<T>()) as CUdeviceptr;
        Some(ManagedRange::new(address, len * size_of::<T>(), self.memory.near()))
    }

    /// Borrows some elements to discard them too. Returns `None` if the range is out of bounds.
    pub fn range_mut(&mut self, range: impl RangeBounds<usize>) -> Option<ManagedRangeMut<'_>> {
        self.range(range).map(ManagedRangeMut::new)
    }

    /// Waits for all work of the context, and borrows the elements to read. Devices may read too.
    ///
    /// # Errors
    /// [`MemoryError::NotConcurrent`] without [concurrent
    /// access](#devices-without-concurrent-access); [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuCtxSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuCtxSynchronize")]
    #[inline]
    pub fn host(&self, cx: &Current<'_, '_>) -> Result<&[T], MemoryError> {
        self.quiet(cx)?;
        // SAFETY: the elements are valid for all bytes, aligned, and alive while this is borrowed.
        // Nothing writes them: earlier work is complete, and writes need a mutable borrow of this.
        Ok(unsafe { std::slice::from_raw_parts(self.start().as_ptr(), self.len) })
    }

    /// Waits for all work of the context, and borrows the elements on the host to write.
    ///
    /// # Errors
    /// Same as [`host`](ManagedBuffer::host).
    ///
    /// Driver: `cuCtxSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuCtxSynchronize")]
    #[inline]
    pub fn host_mut(&mut self, cx: &Current<'_, '_>) -> Result<&mut [T], MemoryError> {
        self.quiet(cx)?;
        // SAFETY: as in `host`; nothing reads them either, because this is borrowed mutably.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start().as_ptr(), self.len) })
    }

    /// Waits for all work of the context and runs `body` with the elements. Works on every device.
    ///
    /// Without [concurrent access](#devices-without-concurrent-access), the memory is attached to
    /// the host before `body`, and to all streams afterwards, even if `body` panics. If it cannot
    /// be attached again, it is [lost](ManagedBuffer::is_lost) for the devices.
    ///
    /// # Errors
    /// [`MemoryError::Lost`]; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuCtxSynchronize`, CUDA 2.0+; without concurrent access also
    /// `cuStreamAttachMemAsync`, CUDA 6.0+; during a capture that begins meanwhile,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+, and to wait `cuMemAlloc_v2` and
    /// `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias("cuCtxSynchronize", "cuStreamAttachMemAsync"))]
    pub fn on_host<R>(
        &mut self,
        cx: &Current<'_, '_>,
        body: impl FnOnce(&mut [T]) -> R,
    ) -> Result<R, MemoryError> {
        if self.concurrent {
            return self.host_mut(cx).map(body);
        }
        if self.lost {
            return Err(MemoryError::Lost);
        }
        self.context().check_kept(FnId::cuCtxSynchronize)?;
        wait(cx.of(self.context(), FnId::cuCtxSynchronize)?)?;
        let (start, len, address) = (self.start(), self.len, self.as_raw());
        let away = Away { context: self.memory.context(), address, lost: &mut self.lost };
        away.attach(CUmemAttach_flags::CU_MEM_ATTACH_HOST)?;
        // SAFETY: the elements are valid for all bytes, aligned, and alive while this is borrowed.
        // The memory is attached to the host, so the host may access it and no device does.
        let result = body(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) });
        away.end()?;
        Ok(result)
    }

    close!("Frees the memory", "cuMemFree_v2", "3.2", |this| this.memory.close());

    /// Waits until nothing writes the memory. Fails if the host may not access it then.
    fn quiet(&self, cx: &Current<'_, '_>) -> Result<(), MemoryError> {
        if !self.concurrent {
            return Err(MemoryError::NotConcurrent);
        }
        if self.as_raw() == 0 {
            return Ok(());
        }
        self.context().check_kept(FnId::cuCtxSynchronize)?;
        Ok(wait(cx.of(self.context(), FnId::cuCtxSynchronize)?)?)
    }

    fn start(&self) -> NonNull<T> {
        let start = ptr::with_exposed_provenance_mut(self.as_raw() as usize);
        NonNull::new(start).unwrap_or(NonNull::dangling())
    }
}

fn is_concurrent(context: &ContextRef) -> Result<bool, Error> {
    let driver = context.driver();
    // CUDA 8.0 introduced the attribute, and the first devices with concurrent access.
    if driver.version() < Version::new(8, 0) {
        return Ok(false);
    }
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    for ordinal in 0..driver.device_count()? {
        if Device::new(driver, ordinal as i32).attribute(attribute)? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Waits for all work of a context, which is current.
fn wait(context: &ContextRef) -> Result<(), Error> {
    // SAFETY: no arguments; it waits in the current context.
    unsafe { context_call!(context, cuCtxSynchronize()) }
}

/// Managed memory that may be attached to the host. Attached to the devices again on every path.
struct Away<'a> {
    context: &'a ContextRef,
    address: CUdeviceptr,
    lost: &'a mut bool,
}

impl Away<'_> {
    /// Attaches the memory and waits until it is attached, also during captures of other threads.
    fn attach(&self, to: CUmemAttach_flags) -> Result<(), Error> {
        let attach = |beside: &Beside| {
            let (stream, address) = (beside.default_stream(), self.address);
            // SAFETY: the allocation is live, 0 means all of it, and default streams always exist.
            unsafe { context_call!(self.context, cuStreamAttachMemAsync(stream, address, 0, to.0)) }?;
            beside.wait_for(self.context)
        };
        activated(self.context, || captures::beside(self.context.library(), attach))
    }

    fn give_back(&mut self) -> Result<(), Error> {
        // A refused call may have taken effect. If the memory is attached again, that is fine.
        *self.lost = true;
        self.attach(CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL)?;
        *self.lost = false;
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        std::mem::ManuallyDrop::new(self).give_back()
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.give_back() {
            self.context.swallow(error);
        }
    }
}
