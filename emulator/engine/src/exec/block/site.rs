//! Locations of lanes in a kernel.

#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Lanes {
    pub(in crate::exec) warp: usize,
    pub(in crate::exec) pc: u32,
    pub(in crate::exec) mask: u32,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Site {
    pub(in crate::exec) warp: usize,
    pub(in crate::exec) pc: u32,
    pub(in crate::exec) lane: usize,
}

/// An instruction that one divergent path of a warp runs.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Issue {
    pub(in crate::exec) warp: usize,
    /// Index of the divergent path in its warp.
    pub(in crate::exec) path: usize,
    pub(in crate::exec) pc: u32,
    /// The lanes of the path.
    pub(in crate::exec) mask: u32,
    /// The lanes for which the guard of the instruction holds.
    pub(in crate::exec) active: u32,
}

impl Issue {
    #[inline(always)]
    pub(in crate::exec) fn at(self, lane: usize) -> Site {
        Site { warp: self.warp, pc: self.pc, lane }
    }

    pub(in crate::exec) fn lanes(self, mask: u32) -> Lanes {
        Lanes { warp: self.warp, pc: self.pc, mask }
    }
}

impl From<Site> for Lanes {
    fn from(site: Site) -> Lanes {
        Lanes { warp: site.warp, pc: site.pc, mask: 1 << site.lane }
    }
}

impl From<Issue> for Lanes {
    fn from(issue: Issue) -> Lanes {
        issue.lanes(issue.active)
    }
}
