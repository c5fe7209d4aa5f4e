//! Parts of managed memory, for advice and prefetching, and queries about them.

use std::ffi::c_void;

use cuprum_sys::{
    CU_DEVICE_INVALID, CUdeviceptr, CUmem_advise, CUmem_range_attribute, CUmemLocation, CUmemLocationType,
    CUresult, FnId, Version,
};

use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::memory::MemoryLocation;
use crate::raw::call::either_call;
use crate::raw::debug::debug;
use crate::raw::keep::Near;

/// A part of a [`ManagedBuffer`](super::ManagedBuffer), for advice and prefetching. `Copy`.
///
/// The driver works with pages: advice for a part of a page affects the whole page.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::memory::{Advice, ManagedBuffer, MemoryLocation};
///
/// let (numbers, stream) = (ManagedBuffer::from_slice(&cx, &[1u32; 4096])?, Stream::new(&cx)?);
/// let range = numbers.range(..).ok_or("outside")?;
/// let here = MemoryLocation::Device(driver.device(0)?);
/// // Hints, which a device without concurrent access refuses.
/// match range.advise(&cx, Advice::ReadMostly).and_then(|()| stream.prefetch(&cx, range, here)) {
///     Ok(()) => assert!(range.info(&cx)?.is_read_mostly),
///     Err(error) => println!("left where it is: {error}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct ManagedRange<'a> {
    address: CUdeviceptr,
    bytes: usize,
    context: Near<'a, ContextRef>,
}

/// An exclusive part of a [`ManagedBuffer`](super::ManagedBuffer), which can be discarded.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::memory::ManagedBuffer;
///
/// let (mut scratch, stream) = (ManagedBuffer::<u32>::zeroed(&cx, 4096)?, Stream::new(&cx)?);
/// let range = scratch.range_mut(..).ok_or("outside")?;
/// // The contents are no longer needed, and need not be copied when it moves (CUDA 12.8+).
/// if let Err(error) = stream.discard(&cx, &mut [range]) {
///     println!("kept: {error}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ManagedRangeMut<'a>(ManagedRange<'a>);

/// The intended use of managed memory. Advice never changes its contents.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Advice, ManagedBuffer};
///
/// let table = ManagedBuffer::from_slice(&cx, &[1u32; 4096])?;
/// if let Err(error) = table.range(..).ok_or("outside")?.advise(&cx, Advice::ReadMostly) {
///     println!("this device takes no advice: {error}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Mostly read: the driver may keep copies in several locations.
    ReadMostly,
    /// Not mostly read (the default).
    NotReadMostly,
    /// Should stay in this location.
    Preferred(MemoryLocation),
    /// May be anywhere (the default).
    NoPreferred,
    /// The location accesses the memory: keep it mapped there.
    AccessedBy(MemoryLocation),
    /// The location does not need a mapping (the default).
    NotAccessedBy(MemoryLocation),
}

/// The driver's knowledge of a range of managed memory, as far as it applies to all of the range.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// let numbers = cuprum::memory::ManagedBuffer::from_slice(&cx, &[1u32; 4096])?;
/// let info = numbers.range(..).ok_or("outside")?.info(&cx)?;
/// assert_eq!((info.is_read_mostly, info.preferred), (false, None)); // no advice so far
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManagedInfo {
    /// True if all of it was advised as mostly read.
    pub is_read_mostly: bool,
    /// The preferred location of all of it.
    pub preferred: Option<MemoryLocation>,
    /// The location to which all of it was last prefetched.
    pub last_prefetch: Option<MemoryLocation>,
}

const ACCESSORS: usize = 128;

impl<'a> ManagedRange<'a> {
    pub(super) const fn new(address: CUdeviceptr, bytes: usize, context: Near<'a, ContextRef>) -> Self {
        Self { address, bytes, context }
    }

    /// Address of the first byte.
    pub(crate) const fn as_raw(self) -> CUdeviceptr {
        self.address
    }

    /// Number of bytes.
    pub(crate) const fn bytes(self) -> usize {
        self.bytes
    }

    /// The context of the memory.
    #[inline]
    pub(crate) fn context(&self) -> &ContextRef {
        &self.context
    }

    /// Advises the driver how the memory will be used. Does nothing for an empty range.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_DEVICE` for a device without concurrent managed access;
    /// [`Error::UNRESOLVED`] for a NUMA node before CUDA 12.2; [`Error::WRONG_CONTEXT`], also
    /// for a device of another driver.
    ///
    /// Driver: `cuMemAdvise_v2`, CUDA 12.2+; before that `cuMemAdvise`, CUDA 8.0+.
    #[doc(alias("cuMemAdvise_v2", "cuMemAdvise"))]
    #[inline]
    pub fn advise(self, cx: &Current<'_, '_>, advice: Advice) -> Result<(), Error> {
        let context = cx.of(&self.context, FnId::cuMemAdvise_v2)?;
        if self.bytes == 0 {
            return Ok(());
        }
        let (library, (advice, place)) = (context.library(), advice.as_raw(context));
        place.check_driver(context.driver(), FnId::cuMemAdvise_v2)?;
        let (address, bytes, location) = (self.address, self.bytes, place.as_raw());
        let told = match place.as_device() {
            // SAFETY: the range is in a live allocation; advice changes no contents.
            Some(device) => unsafe {
                either_call!(library, cuMemAdvise_v2(address, bytes, advice, location)
                    or cuMemAdvise(address, bytes, advice, device))
            },
            // SAFETY: as above.
            None => unsafe { context_call!(context, cuMemAdvise_v2(address, bytes, advice, location)) },
        };
        told.map_err(|error| context.record(error))
    }

    /// Returns the advice that applies to all of the range, and the location to which it was
    /// prefetched. Returns nothing for an empty range.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuMemRangeGetAttributes`, CUDA 8.0+.
    #[doc(alias = "cuMemRangeGetAttributes")]
    pub fn info(self, cx: &Current<'_, '_>) -> Result<ManagedInfo, Error> {
        use CUmem_range_attribute as A;

        let context = cx.of(&self.context, FnId::cuMemRangeGetAttributes)?;
        let driver = context.driver();
        if self.bytes == 0 {
            return Ok(ManagedInfo { is_read_mostly: false, preferred: None, last_prefetch: None });
        }
        let read_mostly = A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
        if driver.version() < Version::new(12, 2) {
            let preferred = A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
            let last = A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
            let [read_mostly, preferred, last] = self.attributes(context, [read_mostly, preferred, last])?;
            return Ok(ManagedInfo {
                is_read_mostly: read_mostly != 0,
                preferred: MemoryLocation::from_device(driver, preferred),
                last_prefetch: MemoryLocation::from_device(driver, last),
            });
        }
        let asked = [
            read_mostly,
            A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
            A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
            A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
            A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
        ];
        let [read_mostly, preferred, preferred_id, last, last_id] = self.attributes(context, asked)?;
        let place = |type_: i32, id| {
            let raw = CUmemLocation { type_: CUmemLocationType(type_ as u32), id };
            MemoryLocation::from_raw(driver, raw)
        };
        Ok(ManagedInfo {
            is_read_mostly: read_mostly != 0,
            preferred: place(preferred, preferred_id),
            last_prefetch: place(last, last_id),
        })
    }

    /// Queries attributes of four bytes each, of a range that is not empty.
    fn attributes<const COUNT: usize>(
        self,
        context: &ContextRef,
        mut asked: [CUmem_range_attribute; COUNT],
    ) -> Result<[i32; COUNT], Error> {
        let (mut values, mut sizes) = ([0; COUNT], [size_of::<i32>(); COUNT]);
        let mut places: [*mut c_void; COUNT] = values.each_mut().map(|value| (&raw mut *value).cast());
        let (places, sizes, asked) = (places.as_mut_ptr(), sizes.as_mut_ptr(), asked.as_mut_ptr());
        let (address, bytes) = (self.address, self.bytes);
        // SAFETY: as many attributes, sizes and places as given, which outlive the call; the
        // attributes have four bytes each, and the range is in a live allocation.
        unsafe {
            context_call!(context, cuMemRangeGetAttributes(places, sizes, asked, COUNT, address, bytes))
        }?;
        Ok(values)
    }

    /// Returns the locations that were advised to access all of the range.
    ///
    /// # Errors
    /// Same as [`info`](ManagedRange::info).
    ///
    /// Driver: `cuMemRangeGetAttribute`, CUDA 8.0+.
    #[doc(alias = "cuMemRangeGetAttribute")]
    #[inline]
    pub fn accessed_by(self, cx: &Current<'_, '_>) -> Result<Vec<MemoryLocation>, Error> {
        let context = cx.of(&self.context, FnId::cuMemRangeGetAttribute)?;
        let mut who = [CU_DEVICE_INVALID; ACCESSORS];
        if self.bytes != 0 {
            let (to, room) = (who.as_mut_ptr().cast(), size_of_val(&who));
            let attribute = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
            // SAFETY: this many bytes are available, as numbers of four bytes, as the attribute
            // requires; the range is in a live allocation.
            unsafe {
                context_call!(context, cuMemRangeGetAttribute(to, room, attribute, self.address, self.bytes))
            }?;
        }
        let driver = context.driver();
        Ok(who.into_iter().filter_map(|place| MemoryLocation::from_device(driver, place)).collect())
    }

    /// Returns the location of each `summary` bytes: the most frequent one among samples that are
    /// `sampling` bytes apart (0: chosen by the driver). `None` stands for memory without a
    /// location yet.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] before CUDA 13.4; `CUDA_ERROR_INVALID_VALUE` unless `sampling` is
    /// at most `summary`, which is between 1 and the number of bytes; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuMemGetLocationInfo`, CUDA 13.4+.
    #[doc(alias = "cuMemGetLocationInfo")]
    #[inline]
    pub fn locations(
        self,
        cx: &Current<'_, '_>,
        summary: usize,
        sampling: usize,
    ) -> Result<Vec<Option<MemoryLocation>>, Error> {
        let context = cx.of(&self.context, FnId::cuMemGetLocationInfo)?;
        let none = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_NONE, id: 0 };
        if !(1..=self.bytes).contains(&summary) {
            // There is no room for the driver's answer.
            return Err(Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuMemGetLocationInfo));
        }
        let mut found = vec![none; self.bytes.div_ceil(summary)];
        let (address, bytes, to) = (self.address, self.bytes, found.as_mut_ptr());
        // SAFETY: there is room for a place per summary, and the range is in a live allocation.
        unsafe { context_call!(context, cuMemGetLocationInfo(address, bytes, summary, sampling, to)) }?;
        let driver = context.driver();
        Ok(found.into_iter().map(|raw| MemoryLocation::from_raw(driver, raw)).collect())
    }
}

impl<'a> ManagedRangeMut<'a> {
    pub(super) const fn new(range: ManagedRange<'a>) -> Self {
        Self(range)
    }

    /// The range, for calls that keep its contents.
    pub(crate) const fn as_range(&self) -> ManagedRange<'_> {
        self.0
    }
}

impl Advice {
    /// The driver's number, and the location. Advice without a location gets the context's device,
    /// because drivers check it anyway.
    fn as_raw(self, context: &ContextRef) -> (CUmem_advise, MemoryLocation) {
        let here = MemoryLocation::Device(context.device());
        match self {
            Self::ReadMostly => (CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, here),
            Self::NotReadMostly => (CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY, here),
            Self::Preferred(place) => (CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place),
            Self::NoPreferred => (CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, here),
            Self::AccessedBy(place) => (CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY, place),
            Self::NotAccessedBy(place) => (CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY, place),
        }
    }
}

debug!(ManagedRange<'_>: |this| "{:#x}, {} bytes", this.address, this.bytes);

debug!(ManagedRangeMut<'_>: |this| "{:#x}, {} bytes", this.0.address, this.0.bytes);
