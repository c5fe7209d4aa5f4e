//! Memory mapped at addresses.

use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::ptr;
use std::sync::Arc;

use cuprum_sys::{
    CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemGenericAllocationHandle, CUresult, FnId,
};

use super::PhysicalMemory;
use super::claim::{Claim, Space};
use super::physical::same_driver;
use crate::context::{ContextRef, Current, KeptContext, captures, context_call};
use crate::error::Error;
use crate::memory::elements::elements;
use crate::memory::{Buffer, DeviceData, MemoryError, MemoryLocation, Slice, SliceMut};
use crate::raw::call::driver_call;
use crate::raw::debug::debug;
use crate::raw::held::activated;

/// Access of a place to mapped memory.
pub type MemoryAccess = CUmemAccess_flags;

/// Consecutive parts of a reservation, each mapped as a whole. Dropping them waits and unmaps.
pub(super) struct Chunks<'ctx> {
    parts: Vec<Claim>,
    context: KeptContext<'ctx>,
    /// True if it lends slices, which other contexts may be copying.
    is_lent: bool,
    /// Only with `is_lent`: a byte whose free waits for all contexts.
    anchor: Option<Buffer<'ctx, u8>>,
}

/// Maps all of a memory, and lets the context's device access it.
pub(super) fn chunk(
    space: &Arc<Space>,
    context: &ContextRef,
    offset: usize,
    (memory, bytes): (CUmemGenericAllocationHandle, usize),
) -> Result<Claim, MemoryError> {
    let (library, claim) = (space.library(), Claim::new(space, offset, bytes)?);
    let (address, place) = (claim.address(), MemoryLocation::Device(context.device()));
    let access = describe(place, MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    // SAFETY: the addresses are reserved and not mapped; the handle is live.
    let mapped = unsafe { driver_call!(library, cuMemMap(address, bytes, 0, memory, 0)) };
    let mapped = mapped.and_then(|()| {
        // SAFETY: the range was just mapped as a whole, and the description outlives the call.
        unsafe { driver_call!(library, cuMemSetAccess(address, bytes, &raw const access, 1)) }
    });
    match mapped {
        Ok(()) => Ok(claim),
        Err(error) => {
            undo(claim, context);
            Err(error.into())
        }
    }
}

/// Unmaps a new mapping, which may exist even if the call failed. It has no users.
#[cold]
fn undo(claim: Claim, context: &ContextRef) {
    let (library, address, bytes) = (claim.space().library(), claim.address(), claim.bytes);
    // SAFETY: no code has the addresses; if nothing is mapped there, the driver returns an error.
    let unmapped = unsafe { driver_call!(library, cuMemUnmap(address, bytes)) };
    match unmapped {
        Err(error) if error.code() != CUresult::CUDA_ERROR_INVALID_VALUE => {
            std::mem::forget(claim);
            context.swallow(error);
        }
        _ => {}
    }
}

fn describe(place: MemoryLocation, access: MemoryAccess) -> CUmemAccessDesc {
    CUmemAccessDesc { location: place.as_raw(), flags: access }
}

impl<'ctx> Chunks<'ctx> {
    pub(super) fn none(context: KeptContext<'ctx>, anchor: Option<Buffer<'ctx, u8>>) -> Self {
        Self { parts: Vec::new(), context, is_lent: anchor.is_some(), anchor }
    }

    pub(super) fn push(&mut self, part: Claim) {
        self.parts.push(part);
    }

    fn first(&self) -> CUdeviceptr {
        self.parts.first().map_or(0, Claim::address)
    }

    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Waits for all work that may use the memory.
    ///
    /// A copy that another context has queued is not work of this one: on an H100, no wait in this
    /// context waits for it, but freeing any memory does. So a byte is kept for that. Freeing it
    /// also waits for the work of this context, and is the only wait during a capture, which a wait
    /// for its context would invalidate.
    fn wait(&mut self) -> Result<(), Error> {
        self.context.check_kept(FnId::cuMemUnmap)?;
        captures::beside(self.context.library(), |beside| {
            if !beside.is_exempted() {
                // SAFETY: no arguments; it waits in the current context.
                activated(&self.context, || unsafe { context_call!(&self.context, cuCtxSynchronize()) })?;
            }
            match self.anchor.take() {
                Some(byte) => byte.close(),
                None if self.is_lent || beside.is_exempted() => self.new_anchor()?.close(),
                None => Ok(()),
            }
        })
    }

    fn new_anchor(&self) -> Result<Buffer<'ctx, u8>, Error> {
        self.context.enter_as(|cx| Buffer::alloc(cx, 1)).map_err(|error| match error {
            MemoryError::Driver(error) => error,
            _ => Error::host(CUresult::CUDA_ERROR_OUT_OF_MEMORY, FnId::cuMemAlloc_v2),
        })
    }

    /// Waits and unmaps. Leaks mappings that cannot be unmapped.
    fn end(&mut self) -> Result<(), Error> {
        let parts = std::mem::take(&mut self.parts);
        if parts.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.wait() {
            // The memory may still be in use.
            std::mem::forget(parts);
            return if error.is_deinitialized() { Ok(()) } else { Err(error) };
        }
        let mut first = Ok(());
        for part in parts {
            // SAFETY: no slices exist, because of the mutable borrow, and their work is complete.
            let unmapped = unsafe { part.unmap() };
            first = first.and(unmapped.map_err(|error| self.context.record(error)));
        }
        first
    }
}

impl Drop for Chunks<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            self.context.swallow(error);
        }
    }
}

/// Physical memory mapped at addresses of a [`Reservation`](super::Reservation), as elements of
/// `T`: made by [`Reservation::map`](super::Reservation::map).
///
/// It lends [slices](Slice), like every kind of memory, for the context in which it was mapped.
/// Dropping it, on any thread, [waits](super::Mapping#unmapping-waits) for that context and unmaps;
/// [`close`](Mapping::close) returns errors. It can grow by more memory after the first.
///
/// # Unmapping waits
///
/// The driver's `cuMemUnmap` does not wait for work that uses the memory: on an H100, such a kernel
/// faults. So unmapping first waits by `cuCtxSynchronize`, and by freeing a byte allocated for this
/// purpose, because only `cuMemFree` waits for copies from the memory that other contexts have
/// queued. If the wait fails, the memory and the addresses are leaked. While this crate captures a
/// stream, only the byte is freed, so that the capture continues.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{
///     Granularity, MemoryAccess, MemoryLocation, PhysicalFlags, PhysicalMemory, Reservation,
/// };
///
/// let at = MemoryLocation::Device(driver.device(0)?);
/// let none = PhysicalFlags::empty();
/// let bytes = PhysicalMemory::granularity(driver, at, none, Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM)?;
/// let memory = PhysicalMemory::new(driver, at, bytes, none)?;
/// let addresses = Reservation::new(driver, bytes, 0)?;
///
/// let mut numbers = addresses.map::<u32>(&cx, 0, &memory)?;
/// assert_eq!(numbers.access(at)?, MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
/// cx.fill(&mut numbers, 7)?;
/// assert_eq!(numbers.slice(..2).ok_or("outside")?.to_vec(&cx)?, [7, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mapping<'ctx, T: DeviceData> {
    chunks: Chunks<'ctx>,
    /// The address of the first chunk, or 0.
    address: CUdeviceptr,
    /// Number of elements that fit in the chunks.
    len: usize,
    _elements: PhantomData<T>,
}

elements! {
    Mapping(this): this.address, of this.chunks.context, this.len;
    as_raw: "Address of the first element in device memory; 0 if all was unmapped.",
    context: "The context in which it was mapped."
}

impl<'ctx, T: DeviceData> Mapping<'ctx, T> {
    pub(super) fn new(chunks: Chunks<'ctx>) -> Self {
        let mut mapping = Self { chunks, address: 0, len: 0, _elements: PhantomData };
        mapping.measure();
        mapping
    }

    /// Number of bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.chunks.bytes()
    }

    /// Records the address and the length after a change of the chunks.
    fn measure(&mut self) {
        self.address = self.chunks.first();
        self.len = self.chunks.bytes().checked_div(size_of::<T>()).unwrap_or(0);
    }

    /// Maps all of `memory` directly after the mapped memory, which keeps its address and contents.
    ///
    /// After an error the mapping is unchanged.
    ///
    /// # Errors
    /// Same as [`Reservation::map`](super::Reservation::map); [`MemoryError::Unreserved`] also if
    /// empty.
    ///
    /// Driver: `cuMemMap` and `cuMemSetAccess`, CUDA 10.2+; if one fails, `cuMemUnmap`, CUDA 10.2+.
    #[doc(alias("cuMemMap", "cuMemSetAccess", "cuMemUnmap"))]
    #[inline]
    pub fn extend(&mut self, cx: &Current<'_, '_>, memory: &PhysicalMemory) -> Result<(), MemoryError> {
        let context = cx.of(self.context(), FnId::cuMemMap)?;
        same_driver(memory.library(), context.driver(), FnId::cuMemMap)?;
        let bytes = memory.bytes();
        let Some(last) = self.chunks.parts.last() else {
            return Err(MemoryError::Unreserved { offset: 0, bytes, reserved: 0 });
        };
        let part = chunk(last.space(), context, last.offset + last.bytes, (memory.as_raw(), bytes))?;
        self.chunks.push(part);
        self.measure();
        Ok(())
    }

    /// Unmaps the memory that was mapped last, after all work of the context. Returns false if
    /// nothing is left. Earlier memory stays.
    ///
    /// # Errors
    /// Sticky errors of earlier work: then nothing was unmapped. Errors of unmapping: then that
    /// part is leaked. `CUDA_ERROR_OUT_OF_MEMORY` for the byte of the next wait: then the part was
    /// unmapped.
    ///
    /// Driver: `cuCtxSynchronize`, CUDA 2.0+, `cuMemFree_v2`, CUDA 3.2+, and `cuMemUnmap`,
    /// CUDA 10.2+; then `cuMemAlloc_v2`, CUDA 3.2+, and `cuCtxGetCurrent`, `cuCtxPushCurrent_v2`
    /// and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxSynchronize", "cuMemUnmap"))]
    #[inline]
    pub fn unmap_last(&mut self) -> Result<bool, Error> {
        if self.chunks.parts.is_empty() {
            return Ok(false);
        }
        self.chunks.wait()?;
        let Some(last) = self.chunks.parts.pop() else { return Ok(false) };
        self.measure();
        // SAFETY: no slices exist, because this is borrowed mutably, and work on them is complete.
        unsafe { last.unmap() }?;
        self.chunks.anchor = Some(self.chunks.new_anchor()?);
        Ok(true)
    }

    /// Number of consecutive pieces of memory in the mapping.
    #[inline]
    pub fn chunks(&self) -> usize {
        self.chunks.parts.len()
    }

    /// Returns the physical memory of a [piece](Mapping::chunks), as an additional handle.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the piece does not exist.
    ///
    /// Driver: `cuMemRetainAllocationHandle`, CUDA 11.0+.
    #[doc(alias = "cuMemRetainAllocationHandle")]
    #[inline]
    pub fn physical(&self, chunk: usize) -> Result<PhysicalMemory, Error> {
        let call = FnId::cuMemRetainAllocationHandle;
        let none = Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call);
        let part = self.chunks.parts.get(chunk).ok_or(none)?;
        let (mut raw, library) = (0, part.space().library());
        let at = ptr::without_provenance_mut(part.address() as usize);
        // SAFETY: memory is mapped at that address, and the out-parameter outlives the call.
        unsafe { driver_call!(library, cuMemRetainAllocationHandle(&raw mut raw, at)) }?;
        Ok(PhysicalMemory::owning(library, raw, part.bytes))
    }

    /// Returns the access of a location to the memory; with several pieces, to the first.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an unknown location, and if all was unmapped;
    /// [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuMemGetAccess`, CUDA 10.2+.
    #[doc(alias = "cuMemGetAccess")]
    #[inline]
    pub fn access(&self, of: MemoryLocation) -> Result<MemoryAccess, Error> {
        let (mut flags, address, library) = (0, self.as_raw(), self.context().library());
        of.check_driver(self.context().driver(), FnId::cuMemGetAccess)?;
        let place = of.as_raw();
        // SAFETY: location and out-parameter outlive the call; the driver checks the address.
        unsafe { driver_call!(library, cuMemGetAccess(&raw mut flags, &raw const place, address)) }?;
        Ok(CUmemAccess_flags(flags as u32))
    }

    /// Sets the access of another device to all of the memory. The device of the mapping's own
    /// context always reads and writes. Memory that is mapped later is not affected.
    ///
    /// Work of that device on the memory must be complete before access is removed. Only kernels,
    /// whose launch is responsible for their accesses, and copies can be such work.
    ///
    /// # Errors
    /// [`MemoryError::OwnAccess`] for the mapping's own device; `CUDA_ERROR_INVALID_DEVICE` for one
    /// that cannot access the memory; `CUDA_ERROR_INVALID_VALUE` if all was unmapped;
    /// [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuMemSetAccess`, CUDA 10.2+.
    #[doc(alias = "cuMemSetAccess")]
    #[inline]
    pub fn set_access(&mut self, of: MemoryLocation, access: MemoryAccess) -> Result<(), MemoryError> {
        if of == MemoryLocation::Device(self.context().device()) {
            return Err(MemoryError::OwnAccess);
        }
        of.check_driver(self.context().driver(), FnId::cuMemSetAccess)?;
        let (address, bytes, library) = (self.as_raw(), self.bytes(), self.context().library());
        let access = describe(of, access);
        // SAFETY: the range, if any, is mapped as a whole, and the description outlives the call.
        unsafe { driver_call!(library, cuMemSetAccess(address, bytes, &raw const access, 1)) }?;
        Ok(())
    }

    /// Waits for the context, unmaps and returns the error that `Drop` would swallow. Leaks memory
    /// that could not be unmapped.
    ///
    /// Driver: `cuCtxSynchronize`, CUDA 2.0+, `cuMemFree_v2`, CUDA 3.2+, and `cuMemUnmap`,
    /// CUDA 10.2+.
    #[doc(alias("cuCtxSynchronize", "cuMemUnmap"))]
    #[inline]
    pub fn close(mut self) -> Result<(), Error> {
        self.chunks.end()
    }
}

/// A [`Multicast`](super::Multicast) object mapped at addresses: writes of a kernel there reach the
/// bound memory of all devices. Made by
/// [`Reservation::map_multicast`](super::Reservation::map_multicast).
///
/// Only multicast instructions of kernels may use it, so it has an address and no slices. Dropping
/// it waits and unmaps as [`Mapping`] does.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Multicast, Reservation};
///
/// if let Ok(object) = Multicast::new(driver, 1, 2 << 20, false) {
///     object.add_device(driver.device(0)?)?;
///     let mapping = Reservation::new(driver, object.bytes(), 0)?.map_multicast(&cx, 0, &object)?;
///     println!("writes of kernels to {:#x} reach all devices", mapping.as_raw());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MulticastMapping<'ctx>(Chunks<'ctx>);

impl<'ctx> MulticastMapping<'ctx> {
    pub(super) const fn new(chunks: Chunks<'ctx>) -> Self {
        Self(chunks)
    }

    /// Returns the first address.
    #[inline]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.0.first()
    }

    /// Unmaps it and returns the error that `Drop` would swallow, as [`Mapping::close`] does.
    ///
    /// # Errors
    /// Same as [`Mapping::close`].
    ///
    /// Driver: `cuCtxSynchronize`, CUDA 2.0+, and `cuMemUnmap`, CUDA 10.2+.
    #[doc(alias("cuCtxSynchronize", "cuMemUnmap"))]
    #[inline]
    pub fn close(mut self) -> Result<(), Error> {
        self.0.end()
    }
}

debug!(MulticastMapping<'_>: |this| "{:#x}, {} bytes", this.as_raw(), this.0.bytes());
