//! Addresses without memory.

use std::sync::{Arc, Mutex};

use cuprum_sys::{CUdeviceptr, CUmemGenericAllocationHandle, FnId, Library};

use super::claim::{Addresses, Space};
use super::mapping::{Chunks, Mapping, MulticastMapping, chunk};
use super::physical::same_driver;
use super::{Multicast, PhysicalMemory};
use crate::context::Current;
use crate::driver::Driver;
use crate::error::Error;
use crate::memory::{Buffer, DeviceData, MemoryError};
use crate::raw::call::driver_call;
use crate::raw::debug::debug;
use crate::raw::owned::Owned;

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

    /// Maps all of a multicast object at an offset in bytes, for the device of the current context,
    /// as [`map`](Reservation::map) does.
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

debug!(Reservation: |this| "{:#x}, {} bytes", this.as_raw(), this.bytes());
