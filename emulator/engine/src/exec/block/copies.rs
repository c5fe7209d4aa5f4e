//! Asynchronous copies in progress.

use super::Site;
use crate::exec::tensor::MOST_DIMENSIONS;

/// A copy, with the values of its operands at issue.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct LateCopy {
    pub(in crate::exec) site: Site,
    pub(in crate::exec) to: u64,
    pub(in crate::exec) from: u64,
    pub(in crate::exec) bytes: u32,
    pub(in crate::exec) coordinates: [i32; MOST_DIMENSIONS],
    pub(in crate::exec) offsets: [u32; 3],
    /// The blocks of the cluster that receive the bytes, one bit each by rank.
    pub(in crate::exec) blocks: Option<u32>,
    /// The address of the barrier to signal.
    pub(in crate::exec) told: Option<u64>,
}

/// The copies of a block in progress, each with the number of its group among its thread's groups.
#[derive(Clone, Debug, Default)]
pub(in crate::exec) struct LateCopies {
    list: Vec<(LateCopy, u32)>,
    /// Number of groups of each thread since the start of the block.
    groups: Vec<((usize, usize), u32)>,
}

impl LateCopies {
    pub(in crate::exec) fn len(&self) -> usize {
        self.list.len()
    }

    pub(in crate::exec) fn clear(&mut self) {
        self.list.clear();
        self.groups.clear();
    }

    fn groups(&mut self, thread: (usize, usize)) -> &mut u32 {
        let at = match self.groups.iter().position(|(other, _)| *other == thread) {
            Some(at) => at,
            None => {
                self.groups.push((thread, 0));
                self.groups.len() - 1
            }
        };
        &mut self.groups[at].1
    }

    pub(in crate::exec) fn push(&mut self, copy: LateCopy) {
        let group = *self.groups((copy.site.warp, copy.site.lane));
        self.list.push((copy, group));
    }

    /// Combines a thread's copies since its last group into a group.
    pub(in crate::exec) fn commit(&mut self, site: Site) {
        *self.groups((site.warp, site.lane)) += 1;
    }

    /// Removes a copy that must end so that at most `most` of a thread's groups are in progress.
    pub(in crate::exec) fn take_due(&mut self, site: Site, most: u32) -> Option<LateCopy> {
        let first = self.groups((site.warp, site.lane)).saturating_sub(most);
        let due = |(copy, group): &(LateCopy, u32)| {
            copy.told.is_none()
                && (copy.site.warp, copy.site.lane) == (site.warp, site.lane)
                && *group < first
        };
        let at = self.list.iter().position(due)?;
        Some(self.list.remove(at).0)
    }

    pub(in crate::exec) fn take(&mut self, at: usize) -> LateCopy {
        self.list.remove(at).0
    }
}
