//! Advice about managed memory: its preferred place, and ranges that are no longer needed. It has no effect here.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::memory::RegionKind;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, InMut, Out, calls, not_supported};
use crate::driver::state::memory;

/// Checks that a range is managed memory, or a part of one allocation of that size.
fn managed_range(call: &Call, address: u64, bytes: usize) -> Answer {
    call.context()?;
    let region = memory().find(address).ok_or(INVALID_VALUE)?;
    let managed = region.kind == RegionKind::Managed && region.contains(address, bytes as u64);
    ensure(managed && bytes > 0, INVALID_VALUE)
}

/// Places to prefetch to, the ranges that each begins with, and their number.
type Places = (InMut<CUmemLocation>, InMut<usize>, usize);

/// Checks ranges that are to be moved or discarded, without any effect here.
fn managed_ranges(
    call: &Call,
    stream: CUstream,
    (addresses, sizes, count): (InMut<u64>, InMut<usize>, usize),
    places: Option<Places>,
    flags: u64,
) -> Answer {
    ensure(flags == 0 && count > 0, INVALID_VALUE)?;
    call.stream(stream)?;
    if let Some((places, firsts, number)) = places {
        places.input().get_all(number)?;
        let firsts = firsts.input().get_all(number)?;
        let ascending = firsts.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = firsts.first() == Some(&0) && firsts.iter().all(|&first| first < count);
        ensure(ascending && inside, INVALID_VALUE)?;
    }
    let ranges = addresses.input().get_all(count)?.into_iter().zip(sizes.input().get_all(count)?);
    ranges.into_iter().try_for_each(|(address, bytes)| managed_range(call, address, bytes))
}

/// Writes an attribute of a range. No advice is kept, so it has the value of a range without advice.
fn write_range_attribute(out: Out<c_void>, bytes: usize, attribute: CUmem_range_attribute) -> Answer {
    use CUmem_range_attribute as A;

    out.check()?;
    ensure(bytes >= 4 && bytes % 4 == 0, INVALID_VALUE)?;
    match attribute {
        A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => out.cast().set(0i32),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION | A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => {
            out.cast().set(CU_DEVICE_INVALID)
        }
        A::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => {
            let nobody = vec![CU_DEVICE_INVALID; bytes / 4];
            out.cast().set_all(&nobody, nobody.len())
        }
        known if known.name().is_some() => Err(not_supported(
            "no advice about managed memory is kept, so there is no type of a preferred place: \
             ask for CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, which says that there is none",
        )),
        _ => Err(INVALID_VALUE),
    }
}

calls! {
    /// Advice changes nothing here; its arguments are checked.
    fn cuMemAdvise(call, devPtr: u64, count: usize, advice: CUmem_advise, _device: i32) {
        ensure(advice.name().is_some(), INVALID_VALUE)?;
        managed_range(call, devPtr, count)
    }

    fn cuMemAdvise_v2(
        call,
        devPtr: u64,
        count: usize,
        advice: CUmem_advise,
        _location: CUmemLocation,
    ) {
        ensure(advice.name().is_some(), INVALID_VALUE)?;
        managed_range(call, devPtr, count)
    }

    fn cuMemPrefetchAsync(call, devPtr: u64, count: usize, _dstDevice: i32, hStream: CUstream) {
        call.stream(hStream)?;
        managed_range(call, devPtr, count)
    }

    fn cuMemPrefetchAsync_v2(
        call,
        devPtr: u64,
        count: usize,
        _location: CUmemLocation,
        flags: u32,
        hStream: CUstream,
    ) {
        ensure(flags == 0, INVALID_VALUE)?;
        call.stream(hStream)?;
        managed_range(call, devPtr, count)
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

    fn cuMemRangeGetAttribute(
        call,
        data: Out<c_void>,
        dataSize: usize,
        attribute: CUmem_range_attribute,
        devPtr: u64,
        count: usize,
    ) {
        managed_range(call, devPtr, count)?;
        write_range_attribute(data, dataSize, attribute)
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
        managed_range(call, devPtr, count)?;
        let sizes = dataSizes.input().get_all(numAttributes)?;
        let attributes = attributes.input().get_all(numAttributes)?;
        for (index, (&attribute, &size)) in attributes.iter().zip(&sizes).enumerate() {
            write_range_attribute(data.at(index)?, size, attribute)?;
        }
        Ok(())
    }
}
