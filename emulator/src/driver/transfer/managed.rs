//! Advice about managed memory: preferred locations, and data that is no longer needed. Checked and
//! reported, but otherwise without effect.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::memory::{Region, RegionKind};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, InMut, Out, calls};
use crate::driver::device;
use crate::driver::state::{captures, memory};

use super::advice::{self, Known, Location};

fn managed_range(call: &Call, address: u64, bytes: usize) -> Answer<Region> {
    call.context()?;
    let region = memory().find(address).ok_or(INVALID_VALUE)?;
    let managed = region.kind == RegionKind::Managed && region.contains(address, bytes as u64);
    ensure(managed && bytes > 0, INVALID_VALUE)?;
    Ok(region)
}

/// Returns a location of memory as attributes report it.
fn place(location: CUmemLocation) -> Answer<Location> {
    use CUmemLocationType as T;

    match location.type_ {
        T::CU_MEM_LOCATION_TYPE_DEVICE => {
            device::check(location.id)?;
            Ok((location.type_, location.id))
        }
        T::CU_MEM_LOCATION_TYPE_HOST => Ok((location.type_, CU_DEVICE_CPU)),
        T::CU_MEM_LOCATION_TYPE_HOST_NUMA => Ok((location.type_, location.id)),
        // The host has only one node.
        T::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok((T::CU_MEM_LOCATION_TYPE_HOST_NUMA, 0)),
        _ => Err(INVALID_VALUE),
    }
}

/// Returns a location that older functions state as a number.
fn numbered(device: i32) -> CUmemLocation {
    use CUmemLocationType as T;

    let on_host = device == CU_DEVICE_CPU;
    let type_ = if on_host { T::CU_MEM_LOCATION_TYPE_HOST } else { T::CU_MEM_LOCATION_TYPE_DEVICE };
    CUmemLocation { type_, id: device }
}

/// Returns the number of a location; for newer kinds, the number for the host.
fn number((type_, id): Location) -> i32 {
    if type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA { CU_DEVICE_CPU } else { id }
}

fn advise(call: &Call, address: u64, bytes: usize, advice: CUmem_advise, place: Location) -> Answer {
    use CUmem_advise as A;

    let region = managed_range(call, address, bytes)?;
    let node = place.0 == CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA;
    let accessor = matches!(advice, A::CU_MEM_ADVISE_SET_ACCESSED_BY | A::CU_MEM_ADVISE_UNSET_ACCESSED_BY);
    ensure(advice.name().is_some() && !(node && accessor), INVALID_VALUE)?;
    let nowhere = Known::default().preferred;
    advice::learn(&region, address, bytes as u64, &|known| match advice {
        A::CU_MEM_ADVISE_SET_READ_MOSTLY => known.read_mostly = true,
        A::CU_MEM_ADVISE_UNSET_READ_MOSTLY => known.read_mostly = false,
        A::CU_MEM_ADVISE_SET_PREFERRED_LOCATION => known.preferred = place,
        A::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => known.preferred = nowhere,
        A::CU_MEM_ADVISE_SET_ACCESSED_BY => known.set_accessed_by(place.1, true),
        _ => known.set_accessed_by(place.1, false),
    });
    Ok(())
}

fn prefetch(call: &Call, address: u64, bytes: usize, to: CUmemLocation) -> Answer {
    let region = managed_range(call, address, bytes)?;
    let place = place(to)?;
    advice::learn(&region, address, bytes as u64, &|known| known.prefetched = place);
    Ok(())
}

/// Prefetch locations, the first range of each, and their number.
type Places = (InMut<CUmemLocation>, InMut<usize>, usize);

/// Prefetches or discards ranges. Neither has an effect on the contents.
fn managed_ranges(
    call: &Call,
    stream: CUstream,
    (addresses, sizes, count): (InMut<u64>, InMut<usize>, usize),
    places: Option<Places>,
    flags: u64,
) -> Answer {
    ensure(flags == 0 && !stream.is_null(), INVALID_VALUE)?;
    call.stream_outside_captures(stream)?;
    ensure(count > 0, INVALID_VALUE)?;
    let ranges = addresses.input().get_all(count)?.into_iter().zip(sizes.input().get_all(count)?);
    let ranges: Vec<(u64, usize)> = ranges.collect();
    for &(address, bytes) in &ranges {
        managed_range(call, address, bytes)?;
    }
    let Some((places, firsts, number)) = places else { return Ok(()) };
    let places = places.input().get_all(number)?;
    let firsts = firsts.input().get_all(number)?;
    let ascending = firsts.windows(2).all(|pair| pair[0] <= pair[1]);
    let inside = firsts.first() == Some(&0) && firsts.iter().all(|&first| first < count);
    ensure(ascending && inside, INVALID_VALUE)?;
    for (index, &(address, bytes)) in ranges.iter().enumerate() {
        let place = firsts.iter().rposition(|&first| first <= index).ok_or(INVALID_VALUE)?;
        prefetch(call, address, bytes, places[place])?;
    }
    Ok(())
}

fn write_range_attribute(
    out: Out<c_void>,
    bytes: usize,
    attribute: CUmem_range_attribute,
    known: &Known,
) -> Answer {
    use CUmem_range_attribute as A;

    out.check()?;
    if attribute == A::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY {
        ensure(bytes >= 4 && bytes % 4 == 0, INVALID_VALUE)?;
        // Devices first, then the host.
        let devices = known.accessed_by.iter().filter(|&&place| place >= 0);
        let host = known.accessed_by.iter().filter(|&&place| place < 0);
        let mut who: Vec<i32> = devices.chain(host).copied().collect();
        who.resize(bytes / 4, CU_DEVICE_INVALID);
        return out.cast().set_all(&who, who.len());
    }
    ensure(bytes == 4, INVALID_VALUE)?;
    out.cast().set(match attribute {
        A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => i32::from(known.read_mostly),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => number(known.preferred),
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => number(known.prefetched),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => known.preferred.0.0 as i32,
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => known.preferred.1,
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => known.prefetched.0.0 as i32,
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => known.prefetched.1,
        _ => return Err(INVALID_VALUE),
    })
}

calls! {
    fn cuMemAdvise(call, devPtr: u64, count: usize, advice: CUmem_advise, device: i32) {
        captures().forbid_unsafe()?;
        advise(call, devPtr, count, advice, place(numbered(device))?)
    }

    /// Any error in the location is an invalid value here.
    fn cuMemAdvise_v2(
        call,
        devPtr: u64,
        count: usize,
        advice: CUmem_advise,
        location: CUmemLocation,
    ) {
        captures().forbid_unsafe()?;
        advise(call, devPtr, count, advice, place(location).map_err(|_| INVALID_VALUE)?)
    }

    fn cuMemPrefetchAsync(call, devPtr: u64, count: usize, dstDevice: i32, hStream: CUstream) {
        call.stream_outside_captures(hStream)?;
        prefetch(call, devPtr, count, numbered(dstDevice))
    }

    fn cuMemPrefetchAsync_v2(
        call,
        devPtr: u64,
        count: usize,
        location: CUmemLocation,
        flags: u32,
        hStream: CUstream,
    ) {
        ensure(flags == 0, INVALID_VALUE)?;
        call.stream_outside_captures(hStream)?;
        prefetch(call, devPtr, count, location)
    }

    fn [cuMemPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync](
        call,
        dptrs: InMut<u64>,
        sizes: InMut<usize>,
        count: usize,
        prefetchLocs: InMut<CUmemLocation>,
        prefetchLocIdxs: InMut<usize>,
        numPrefetchLocs: usize,
        flags: u64,
        hStream: CUstream,
    ) {
        let places = (prefetchLocs, prefetchLocIdxs, numPrefetchLocs);
        managed_ranges(call, hStream, (dptrs, sizes, count), Some(places), flags)
    }

    fn cuMemDiscardBatchAsync(
        call,
        dptrs: InMut<u64>,
        sizes: InMut<usize>,
        count: usize,
        flags: u64,
        hStream: CUstream,
    ) {
        managed_ranges(call, hStream, (dptrs, sizes, count), None, flags)
    }

    /// Memory counts as located where it was prefetched last; before that, it has no location.
    fn cuMemGetLocationInfo(
        call,
        ptr: u64,
        size: usize,
        summaryGranularity: usize,
        samplingGranularity: usize,
        location_out: Out<CUmemLocation>,
    ) {
        location_out.check()?;
        let region = managed_range(call, ptr, size)?;
        let fits = (1..=size).contains(&summaryGranularity) && samplingGranularity <= summaryGranularity;
        ensure(fits, INVALID_VALUE)?;
        let mut places = Vec::new();
        for start in (0..size).step_by(summaryGranularity) {
            let bytes = summaryGranularity.min(size - start);
            let (type_, id) = advice::of(&region, ptr + start as u64, bytes as u64).prefetched;
            places.push(CUmemLocation { type_, id: id.max(0) });
        }
        location_out.set_all(&places, places.len())
    }

    fn cuMemRangeGetAttribute(
        call,
        data: Out<c_void>,
        dataSize: usize,
        attribute: CUmem_range_attribute,
        devPtr: u64,
        count: usize,
    ) {
        let region = managed_range(call, devPtr, count)?;
        write_range_attribute(data, dataSize, attribute, &advice::of(&region, devPtr, count as u64))
    }

    fn cuMemRangeGetAttributes(
        call,
        data: Out<*mut c_void>,
        dataSizes: InMut<usize>,
        attributes: InMut<CUmem_range_attribute>,
        numAttributes: usize,
        devPtr: u64,
        count: usize,
    ) {
        let region = managed_range(call, devPtr, count)?;
        ensure(numAttributes > 0, INVALID_VALUE)?;
        let known = advice::of(&region, devPtr, count as u64);
        let sizes = dataSizes.input().get_all(numAttributes)?;
        let attributes = attributes.input().get_all(numAttributes)?;
        for (index, (&attribute, &size)) in attributes.iter().zip(&sizes).enumerate() {
            write_range_attribute(data.at(index)?, size, attribute, &known)?;
        }
        Ok(())
    }
}
