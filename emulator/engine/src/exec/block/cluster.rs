//! Clusters of blocks: their barrier, and the shared memory of the other blocks.
//!
//! All blocks of a cluster are run by one worker, in turns, so that none of this is ever used by two threads at once. In
//! a cluster of one block, the barrier is a second barrier of all threads of the block. At either, a thread announces
//! itself first and waits later.

use super::Block;
use super::warp::Wait;
use crate::exec::check::clocks::Publications;
use crate::exec::check::traces::Shadow;
use crate::program::memory::{Order, Scope};
use crate::semantics::lanes_of;
use std::cell::{Cell, RefCell};

/// What the blocks of a cluster know of each other.
#[derive(Debug)]
pub(in crate::exec) struct Cluster {
    members: Vec<Member>,
    /// Phases of the barrier that are over.
    phase: Cell<u64>,
    /// What threads told when they announced themselves, by phase, where a check needs it.
    told: RefCell<Publications>,
}

/// A block, as the others of its cluster see it.
#[derive(Debug)]
pub(in crate::exec) struct Member {
    /// Its shared memory, which lives as long as the blocks of the cluster do.
    pub(in crate::exec) shared: Cell<*mut u8>,
    /// All its threads have exited.
    pub(in crate::exec) ended: Cell<bool>,
    /// Of its shared memory, where a check needs it.
    pub(in crate::exec) shadow: RefCell<Shadow>,
}

impl Cluster {
    pub(in crate::exec) fn new(blocks: u32) -> Self {
        let member = || Member {
            shared: Cell::new(std::ptr::null_mut()),
            ended: Cell::new(true),
            shadow: RefCell::default(),
        };
        let members = (0..blocks).map(|_| member()).collect();
        Cluster { members, phase: Cell::new(0), told: RefCell::default() }
    }

    /// The block of this rank.
    pub(in crate::exec) fn member(&self, rank: u32) -> Option<&Member> {
        self.members.get(rank as usize)
    }

    /// The block in whose shared memory of so many bytes this is, and how far in.
    pub(in crate::exec) fn owner(&self, at: *const u8, bytes: usize) -> Option<(&Member, u64)> {
        let offset = |member: &Member| at.addr().wrapping_sub(member.shared.get().addr());
        let owner = self.members.iter().find(|member| offset(member) < bytes)?;
        Some((owner, offset(owner) as u64))
    }
}

impl Block<'_, '_> {
    /// Makes itself known to the other blocks of its cluster.
    pub(super) fn enter_cluster(&mut self) {
        let Some(cluster) = &self.cluster else { return };
        let Some(member) = cluster.member(self.rank) else { return };
        member.shared.set(self.shared.as_mut_ptr().cast());
        member.ended.set(false);
        member.shadow.borrow_mut().clear();
        if self.rank == 0 {
            cluster.phase.set(0);
            cluster.told.borrow_mut().clear();
        }
    }

    /// Tells the other blocks of its cluster that all its threads have exited.
    pub(in crate::exec) fn leave_cluster(&self) {
        if let Some(member) = self.cluster.as_ref().and_then(|cluster| cluster.member(self.rank)) {
            member.ended.set(true);
        }
    }

    /// Threads of a warp announce themselves at the barrier of the cluster.
    pub(in crate::exec) fn announce(&mut self, warp: usize, mask: u32, releases: bool) {
        self.warps[warp].announced |= mask;
        match (&self.cluster, &mut self.clocks) {
            (None, _) => self.end_cluster_phase(),
            (Some(cluster), Some(clocks)) => {
                let told = &mut cluster.told.borrow_mut();
                let phase = cluster.phase.get();
                // Without a release of its own, what the thread's last fence covered is told.
                let order = Order::Strong { scope: Scope::Device, releases };
                lanes_of(mask).for_each(|lane| clocks.publish(warp, lane, phase, order, true, told));
            }
            (Some(_), None) => {}
        }
    }

    /// Threads of a warp go on behind the barrier of the cluster, whose phase is over.
    #[inline]
    pub(in crate::exec) fn hear(&mut self, warp: usize, mask: u32) {
        let (Some(cluster), Some(clocks)) = (&self.cluster, &mut self.clocks) else { return };
        let told = cluster.told.borrow();
        let phase = cluster.phase.get().wrapping_sub(1);
        lanes_of(mask).for_each(|lane| clocks.learn(warp, lane, phase, &told));
    }

    /// True if all live threads have announced themselves.
    #[inline]
    fn is_announced(&self) -> bool {
        self.warps.iter().all(|warp| warp.live & !warp.announced == 0)
    }

    /// In a cluster of one block, when all live threads have announced themselves: forgets that, so that who waits can
    /// go on.
    fn end_cluster_phase(&mut self) {
        if !self.is_announced() {
            return;
        }
        let all: Vec<_> = self.warps.iter().enumerate().map(|(index, warp)| (index, warp.live)).collect();
        if let Some(clocks) = &mut self.clocks {
            clocks.meet(&all, None);
        }
        self.warps.iter_mut().for_each(|warp| warp.announced = 0);
    }

    /// Lets threads go on that wait for a phase that is over. `false` if there are none.
    pub(in crate::exec) fn release_cluster(&mut self) -> bool {
        if self.cluster.is_none() {
            self.end_cluster_phase();
        }
        let mut released = Vec::new();
        for (index, warp) in self.warps.iter_mut().enumerate() {
            for fragment in warp.fragments.iter_mut().filter(|fragment| fragment.wait == Wait::Cluster) {
                if warp.announced & fragment.mask == 0 {
                    fragment.wait = Wait::Ready;
                    fragment.pc += 1;
                    released.push((index, fragment.mask));
                }
            }
        }
        released.iter().for_each(|(warp, mask)| self.hear(*warp, *mask));
        !released.is_empty()
    }
}

/// When all live threads of the blocks of a cluster have announced themselves: lets those go on that wait. `false` if
/// there are none.
pub(in crate::exec) fn end_phase(blocks: &mut [Block<'_, '_>]) -> bool {
    if !blocks.iter().all(Block::is_announced) {
        return false;
    }
    if let Some(cluster) = blocks.first().and_then(|block| block.cluster.as_ref()) {
        let phase = cluster.phase.get();
        // What was told before is heard by now.
        cluster.told.borrow_mut().retain(|told, _| *told == phase);
        cluster.phase.set(phase + 1);
    }
    for warp in blocks.iter_mut().flat_map(|block| &mut block.warps) {
        warp.announced = 0;
    }
    let mut released = false;
    for block in blocks {
        released |= block.release_cluster();
    }
    released
}
