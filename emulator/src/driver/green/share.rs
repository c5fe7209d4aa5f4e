//! Shares of the multiprocessors, and their division.
//!
//! Sizes and numbers of groups are as on an H100 (driver 580), for its 132 multiprocessors.

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::state::settings;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) start: u32,
    pub(super) count: u32,
}

/// Flags that exclude each other; the driver ignores other flags.
const IGNORE_COSCHEDULING: u32 =
    CUdevSmResourceSplitByCount_flags::CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING.0;
const LARGEST_CLUSTERS: u32 =
    CUdevSmResourceSplitByCount_flags::CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE.0;

/// Maximum multiprocessors requested to run together, from compute capability 9.0 on.
const MOST_COSCHEDULED: u32 = 32;

impl Share {
    pub(super) fn whole(self) -> CUdevResource {
        let (least, multiple) = granularity(settings().compute_capability.0);
        self.resource(least, multiple)
    }

    /// Converts it to a part, without a granularity, as in CUDA 13.0. An empty part has no kind.
    pub(super) fn part(self) -> CUdevResource {
        if self.count == 0 { CUdevResource::zeroed() } else { self.resource(0, 0) }
    }

    fn resource(self, least: u32, multiple: u32) -> CUdevResource {
        let mut resource = CUdevResource::zeroed();
        resource.type_ = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;
        for (to, byte) in resource._internal_padding.iter_mut().zip(self.start.to_ne_bytes()) {
            *to = byte;
        }
        resource.u.sm = CUdevSmResource {
            smCount: self.count,
            minSmPartitionSize: least,
            smCoscheduledAlignment: multiple,
            ..CUdevSmResource::zeroed()
        };
        resource
    }

    /// Reads a resource. Fails unless it consists of multiprocessors.
    pub(super) fn of(resource: &CUdevResource) -> Answer<Self> {
        let is_sm = resource.type_ == CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;
        ensure(is_sm, CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE)?;
        let [a, b, c, d, ..] = resource._internal_padding;
        // SAFETY: the type says that the client set this member, plain numbers.
        let count = unsafe { resource.u.sm }.smCount;
        Ok(Self { start: u32::from_ne_bytes([a, b, c, d]), count })
    }

    /// Like `of`, but fails for a part, which cannot be divided again.
    pub(super) fn undivided(resource: &CUdevResource) -> Answer<Self> {
        let share = Self::of(resource)?;
        // SAFETY: as in `of`.
        let is_part = unsafe { resource.u.sm }.minSmPartitionSize == 0;
        ensure(!is_part, CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)?;
        Ok(share)
    }

    /// Returns the remainder after the first `count`.
    pub(super) fn behind(self, count: u32) -> Self {
        Self { start: self.start + count, count: self.count.saturating_sub(count) }
    }

    pub(super) fn has(self, index: u32) -> bool {
        index.checked_sub(self.start).is_some_and(|offset| offset < self.count)
    }
}

/// Returns the minimum size of a group, and the number of which it is a multiple.
fn granularity(major: u32) -> (u32, u32) {
    match major {
        ..=6 => (1, 1),
        7 => (2, 2),
        8 => (4, 2),
        _ => (8, 8),
    }
}

/// Returns the size and the maximum number of equal groups of at least `min`.
pub(super) fn equal_groups(total: u32, flags: u32, min: u32) -> Answer<(u32, u32)> {
    let both = IGNORE_COSCHEDULING | LARGEST_CLUSTERS;
    ensure(flags & both != both, INVALID_VALUE)?;
    let ignores = flags & IGNORE_COSCHEDULING != 0;
    groups_of(total, settings().compute_capability.0, ignores, min)
}

fn groups_of(total: u32, major: u32, ignores: bool, min: u32) -> Answer<(u32, u32)> {
    ensure((1..=total).contains(&min.max(1)), CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)?;
    let (least, multiple) = match granularity(major) {
        (_, multiple) if ignores => (multiple.min(2), multiple.min(2)),
        granularity => granularity,
    };
    let size = min.max(least).next_multiple_of(multiple).min(total);
    let fit = total / size;
    // Clusters have sizes that are not multiples of 8, so hardware has one smallest group fewer.
    let uneven = !ignores && size == least && total % size != 0 && fit > 1;
    Ok((size, if uneven { fit - 1 } else { fit }))
}

/// Returns the number of multiprocessors of one group, of `left` remaining out of `total`. Writes
/// the values that the client left open.
pub(super) fn group_of(group: &mut CU_DEV_SM_RESOURCE_GROUP_PARAMS, total: u32, left: u32) -> Answer<u32> {
    let major = settings().compute_capability.0;
    let (_, multiple) = granularity(major);
    let (default, most) = if major >= 9 { (multiple, MOST_COSCHEDULED) } else { (2, 2) };
    if group.coscheduledSmCount == 0 {
        group.coscheduledSmCount = default.min(total);
    }
    if group.preferredCoscheduledSmCount == 0 {
        group.preferredCoscheduledSmCount = group.coscheduledSmCount;
    }
    let together = group.coscheduledSmCount;
    let is_plain = group.reserved.iter().all(|&word| word == 0) && group.localityDomainId == 0;
    ensure(is_plain && together <= most && (together % 2 == 0 || together == total), INVALID_VALUE)?;
    let backfills = match group.flags {
        0 => false,
        flags => {
            let backfill = CUdevSmResourceGroup_flags::CU_DEV_SM_RESOURCE_GROUP_BACKFILL.0;
            ensure(flags == backfill, INVALID_VALUE)?;
            true
        }
    };
    if group.smCount == 0 {
        group.smCount = if backfills { left } else { left - left % together };
    }
    ensure(backfills || group.smCount % together == 0, INVALID_VALUE)?;
    let fits = (1..=left).contains(&group.smCount);
    ensure(fits, CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)?;
    Ok(group.smCount)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minimum, size and number of groups, recorded on an H100.
    #[test]
    fn groups_are_those_of_an_h100() {
        let groups = |ignores, min| groups_of(132, 9, ignores, min).unwrap();
        for (min, size, count) in [
            (0, 8, 15),
            (1, 8, 15),
            (8, 8, 15),
            (9, 16, 8),
            (16, 16, 8),
            (17, 24, 5),
            (32, 32, 4),
            (64, 64, 2),
            (66, 72, 1),
            (100, 104, 1),
            (128, 128, 1),
            (130, 132, 1),
            (132, 132, 1),
        ] {
            assert_eq!(groups(false, min), (size, count), "at least {min}");
        }
        for (min, size, count) in [
            (0, 2, 66),
            (3, 4, 33),
            (7, 8, 16),
            (9, 10, 13),
            (17, 18, 7),
            (66, 66, 2),
            (130, 130, 1),
            (131, 132, 1),
        ] {
            assert_eq!(groups(true, min), (size, count), "at least {min}");
        }
        let too_many = groups_of(132, 9, false, 133).unwrap_err();
        assert_eq!(too_many, CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    }

    #[test]
    fn a_small_device_is_one_group() {
        assert_eq!(groups_of(2, 9, false, 1), Ok((2, 1)));
        assert_eq!(groups_of(1, 9, true, 0), Ok((1, 1)));
        assert_eq!(groups_of(6, 7, false, 1), Ok((2, 3)));
    }

    #[test]
    fn groups_of_different_sizes_take_what_is_left() {
        let mut group = CU_DEV_SM_RESOURCE_GROUP_PARAMS::zeroed();
        group.smCount = 16;
        assert_eq!(group_of(&mut group, 132, 132), Ok(16));
        assert_eq!((group.coscheduledSmCount, group.preferredCoscheduledSmCount), (8, 8));
        let mut open = CU_DEV_SM_RESOURCE_GROUP_PARAMS::zeroed();
        assert_eq!(group_of(&mut open, 132, 116), Ok(112));
        open.smCount = 0;
        open.flags = CUdevSmResourceGroup_flags::CU_DEV_SM_RESOURCE_GROUP_BACKFILL.0;
        assert_eq!(group_of(&mut open, 132, 116), Ok(116));
        let mut odd = CU_DEV_SM_RESOURCE_GROUP_PARAMS::zeroed();
        odd.smCount = 12;
        assert_eq!(group_of(&mut odd, 132, 132), Err(INVALID_VALUE));
        odd.smCount = 136;
        let refused = group_of(&mut odd, 132, 132);
        assert_eq!(refused, Err(CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION));
    }
}
