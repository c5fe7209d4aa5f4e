//! Addresses without memory.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::{CUdeviceptr, CUmemGenericAllocationHandle, CUresult, FnId, Fns, Library, call};

use super::mapping::{Chunks, Mapping, MulticastMapping, chunk};
use super::physical::same_driver;
use super::{Multicast, PhysicalMemory};
use crate::context::{Current, captures};
use crate::driver::Driver;
use crate::error::Error;
use crate::memory::{Buffer, DeviceData, MemoryError};
use crate::raw::call::{driver_call, forked};
use crate::raw::held::Handle;
use crate::raw::owned::Owned;

#[derive(Clone, Copy, Debug)]
struct Addresses {
    first: CUdeviceptr,
    bytes: usize,
}

// SAFETY: the driver allows any thread to use and to free addresses.
unsafe impl Handle for Addresses {
    const NAME: &'static str = "Reservation";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller guarantees that the range is reserved and not used again.
        unsafe { call!(fns, cuMemAddressFree(self.first, self.bytes)) }
    }
}

/// State shared by the handles of a reservation and its mappings.
#[derive(Debug)]
pub(super) struct Space {
    addresses: Owned<Addresses>,
    /// Offset and length of the parts that are or may be mapped, without overlaps.
    taken: Mutex<Vec<(usize, usize)>>,
}

impl Space {
    pub(super) const fn first(&self) -> CUdeviceptr {
        self.addresses.raw().first
    }

    pub(super) const fn library(&self) -> Library {
        self.addresses.library()
    }

    fn taken(&self) -> MutexGuard<'_, Vec<(usize, usize)>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of a reservation that is or may be mapped. Nothing else is mapped there.
///
/// Drop releases the part. If it cannot be unmapped, it is forgotten, and the reservation leaks.
#[derive(Debug)]
pub(super) struct Claim {
    space: Arc<Space>,
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

impl Claim {
    pub(super) fn new(space: &Arc<Space>, offset: usize, bytes: usize) -> Result<Self, MemoryError> {
        let reserved = space.addresses.raw().bytes;
        if offset.checked_add(bytes).is_none_or(|end| end > reserved) {
            return Err(MemoryError::Unreserved { offset, bytes, reserved });
        }
        // In a forked child, a thread that no longer exists may hold the lock.
        if space.library().forked() {
            return Err(forked(FnId::cuMemMap).into());
        }
        let mut taken = space.taken();
        if taken.iter().any(|&(start, len)| start < offset + bytes && offset < start + len) {
            return Err(MemoryError::Mapped { offset, bytes });
        }
        taken.push((offset, bytes));
        drop(taken);
        Ok(Self { space: Arc::clone(space), offset, bytes })
    }

    pub(super) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    pub(super) fn address(&self) -> CUdeviceptr {
        self.space.first() + self.offset as CUdeviceptr
    }

    /// Unmaps the range. Leaks the addresses if unmapping may have failed.
    ///
    /// # Safety
    /// No code uses the memory at these addresses any more.
    pub(super) unsafe fn unmap(self) -> Result<(), Error> {
        let (library, address, bytes) = (self.space.library(), self.address(), self.bytes);
        let unmapped = captures::free_beside(library, || {
            // SAFETY: the range was mapped as a whole, and the caller guarantees that it is unused.
            unsafe { driver_call!(library, cuMemUnmap(address, bytes)) }
        });
        if unmapped.is_err() {
            std::mem::forget(self);
        }
        unmapped
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.space.library().forked() {
            return;
        }
        let mut taken = self.space.taken();
        // With zero bytes, another part may have the same offset.
        if let Some(at) = taken.iter().position(|&part| part == (self.offset, self.bytes)) {
            taken.swap_remove(at);
        }
    }
}

/// A range of addresses without memory, to [map](Reservation::map) [`PhysicalMemory`] there.
/// Cloning returns another handle.
///
/// The addresses are freed when the last handle and the last mapping are dropped, on any thread. It
/// belongs to the process, not to a context.
///
/// ```
/// # cuprum::example!(driver);
/// let addresses = cuprum::memory::Reservation::new(driver, 2 << 20, 0)?;
/// assert!(addresses.as_raw() != 0 && addresses.bytes() == 2 << 20); // no memory so far
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Reservation(Arc<Space>);

impl Reservation {
    /// Reserves `bytes` addresses, a multiple of the [granularity](PhysicalMemory::granularity) of
    /// the memory to be mapped. The first is a multiple of `alignment`, a power of two; 0 suffices
    /// for mappings of any device.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an invalid size or alignment; `CUDA_ERROR_OUT_OF_MEMORY`;
    /// [`Error::UNRESOLVED`] before CUDA 10.2.
    ///
    /// Driver: `cuMemAddressReserve`, CUDA 10.2+; at the end `cuMemAddressFree`, CUDA 10.2+.
    #[doc(alias("cuMemAddressReserve", "cuMemAddressFree"))]
    #[inline]
    pub fn new(driver: Driver, bytes: usize, alignment: usize) -> Result<Self, Error> {
        Self::near(driver, bytes, alignment, 0)
    }

    /// Reserves addresses at `wanted` if possible, otherwise elsewhere. See
    /// [`new`](Reservation::new).
    ///
    /// # Errors
    /// Same as [`new`](Reservation::new).
    ///
    /// Driver: `cuMemAddressReserve`, CUDA 10.2+; at the end `cuMemAddressFree`, CUDA 10.2+.
    #[doc(alias("cuMemAddressReserve", "cuMemAddressFree"))]
    #[inline]
    pub fn near(driver: Driver, bytes: usize, alignment: usize, wanted: CUdeviceptr) -> Result<Self, Error> {
        let (library, mut first) = (driver.library(), 0);
        let to = &raw mut first;
        // SAFETY: the out-parameter outlives the call; flags must be 0.
        unsafe { driver_call!(library, cuMemAddressReserve(to, bytes, alignment, wanted, 0)) }?;
        let addresses = Owned::new(Addresses { first, bytes }, library);
        Ok(Self(Arc::new(Space { addresses, taken: Mutex::default() })))
    }

    /// Returns the first address.
    #[inline]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.0.first()
    }

    /// Number of addresses.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.0.addresses.raw().bytes
    }

    /// Maps all of `memory` at an offset in bytes, for access by the device of the current context.
    ///
    /// If a later call fails, the memory is unmapped.
    ///
    /// # Errors
    /// [`MemoryError::Unreserved`] and [`MemoryError::Mapped`], without a call;
    /// `CUDA_ERROR_INVALID_VALUE` for an offset that is not a multiple of the granularity;
    /// `CUDA_ERROR_INVALID_DEVICE` and others for memory that the device cannot access;
    /// [`Error::WRONG_CONTEXT`] for memory or a context of another driver.
    ///
    /// Driver: `cuMemMap` and `cuMemSetAccess`, CUDA 10.2+, and `cuMemAlloc_v2`, CUDA 3.2+; if one
    /// fails, `cuMemUnmap`, CUDA 10.2+, and `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias("cuMemMap", "cuMemSetAccess", "cuMemUnmap"))]
    pub fn map<'ctx, T: DeviceData>(
        &self,
        cx: &Current<'_, 'ctx>,
        offset: usize,
        memory: &PhysicalMemory,
    ) -> Result<Mapping<'ctx, T>, MemoryError> {
        let raw = (memory.as_raw(), memory.bytes());
        Ok(Mapping::new(self.chunks(cx, offset, memory.library(), raw, Some(Buffer::alloc(cx, 1)?))?))
    }

    /// Maps all of a multicast object at an offset in bytes, for the device of the current context, as
    /// [`map`](Reservation::map) does.
    ///
    /// # Errors
    /// Same as [`map`](Reservation::map).
    ///
    /// Driver: `cuMemMap` and `cuMemSetAccess`, CUDA 10.2+; if one fails, `cuMemUnmap`, CUDA 10.2+.
    #[doc(alias("cuMemMap", "cuMemSetAccess", "cuMemUnmap"))]
    #[inline]
    pub fn map_multicast<'ctx>(
        &self,
        cx: &Current<'_, 'ctx>,
        offset: usize,
        object: &Multicast,
    ) -> Result<MulticastMapping<'ctx>, MemoryError> {
        let raw = (object.as_raw(), object.bytes());
        Ok(MulticastMapping::new(self.chunks(cx, offset, object.library(), raw, None)?))
    }

    fn chunks<'ctx>(
        &self,
        cx: &Current<'_, 'ctx>,
        offset: usize,
        library: Library,
        memory: (CUmemGenericAllocationHandle, usize),
        anchor: Option<Buffer<'ctx, u8>>,
    ) -> Result<Chunks<'ctx>, MemoryError> {
        let driver = cx.context().driver();
        same_driver(library, driver, FnId::cuMemMap)?;
        same_driver(self.0.library(), driver, FnId::cuMemMap)?;
        let mut chunks = Chunks::none(cx.keep(), anchor);
        chunks.push(chunk(&self.0, cx.context(), offset, memory)?);
        Ok(chunks)
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reservation({:#x}, {} bytes)", self.as_raw(), self.bytes())
    }
}
