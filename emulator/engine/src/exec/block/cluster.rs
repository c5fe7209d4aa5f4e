//! Clusters of blocks: their barrier, and the shared memory of the other blocks.
//!
//! One worker runs all blocks of a cluster in turn, so two threads never use this state at the same
//! time. In a cluster of one block, the barrier is a second barrier of all threads of the block. At
//! either, a thread first arrives and waits later.

use super::Block;
use super::warp::Wait;
use crate::exec::check::clocks::Publications;
use crate::exec::check::shadow::Shadow;
use crate::program::memory::{Order, Scope};
use crate::semantics::lanes_of;
use std::cell::{Cell, RefCell};

#[derive(Debug)]
pub(in crate::exec) struct Cluster {
    members: Vec<Member>,
    phase: Cell<u64>,
    /// Knowledge that threads published on arrival, by phase, if a check needs it.
    told: RefCell<Publications>,
}

#[derive(Debug)]
pub(in crate::exec) struct Member {
    /// Its shared memory, which lives as long as the blocks of the cluster.
    pub(in crate::exec) shared: Cell<*mut u8>,
    pub(in crate::exec) ended: Cell<bool>,
    /// Shadow of its shared memory, if a check needs it.
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

    pub(in crate::exec) fn member(&self, rank: u32) -> Option<&Member> {
        self.members.get(rank as usize)
    }

    /// Returns the block whose `bytes` of shared memory contain this address, and the offset.
    pub(in crate::exec) fn owner(&self, at: *const u8, bytes: usize) -> Option<(&Member, u64)> {
        let offset = |member: &Member| at.addr().wrapping_sub(member.shared.get().addr());
        let owner = self.members.iter().find(|member| offset(member) < bytes)?;
        Some((owner, offset(owner) as u64))
    }
}

impl Block<'_, '_> {
    pub(super) fn enter_cluster(&mut self) {
        let Some(cluster) = &self.cluster else { return };
        let Some(member) = cluster.member(self.rank) else { return };
        member.shared.set(self.shared.as_mut_ptr().cast());
        member.ended.set(false);
        let mut shadow = member.shadow.borrow_mut();
        shadow.clear();
        if self.launch.options.check_init {
            shadow.written.start(self.launch.shared_bytes as usize);
        }
        drop(shadow);
        if self.rank == 0 {
            cluster.phase.set(0);
            cluster.told.borrow_mut().clear();
        }
    }

    /// Informs the other blocks of its cluster that all its threads have exited.
    pub(in crate::exec) fn leave_cluster(&self) {
        if let Some(member) = self.cluster.as_ref().and_then(|cluster| cluster.member(self.rank)) {
            member.ended.set(true);
        }
    }

    /// Makes threads of a warp arrive at the barrier of the cluster.
    pub(in crate::exec) fn announce(&mut self, warp: usize, mask: u32, releases: bool) {
        self.warps[warp].announced |= mask;
        match (&self.cluster, &mut self.checks.clocks) {
            (None, _) => self.end_cluster_phase(),
            (Some(cluster), Some(clocks)) => {
                let told = &mut cluster.told.borrow_mut();
                let phase = cluster.phase.get();
                // Without its own release, the thread publishes the state at its last fence.
                let order = Order::Strong { scope: Scope::Device, releases };
                lanes_of(mask).for_each(|lane| clocks.publish(warp, lane, phase, order, true, told));
            }
            (Some(_), None) => {}
        }
    }

    /// Threads of a warp continue after the barrier of the cluster, whose phase is complete.
    #[inline]
    pub(in crate::exec) fn hear(&mut self, warp: usize, mask: u32) {
        let (Some(cluster), Some(clocks)) = (&self.cluster, &mut self.checks.clocks) else { return };
        let told = cluster.told.borrow();
        let phase = cluster.phase.get().wrapping_sub(1);
        lanes_of(mask).for_each(|lane| clocks.learn(warp, lane, phase, &told));
    }

    /// True if all live threads have arrived.
    #[inline]
    fn is_announced(&self) -> bool {
        self.warps.iter().all(|warp| warp.live & !warp.announced == 0)
    }

    /// In a cluster of one block, completes the phase if all live threads have arrived.
    fn end_cluster_phase(&mut self) {
        if !self.is_announced() {
            return;
        }
        let all: Vec<_> = self.warps.iter().enumerate().map(|(index, warp)| (index, warp.live)).collect();
        if let Some(clocks) = &mut self.checks.clocks {
            clocks.meet(&all, None);
        }
        self.warps.iter_mut().for_each(|warp| warp.announced = 0);
    }

    /// Releases threads that wait for a completed phase. Returns false if there are none.
    pub(in crate::exec) fn release_cluster(&mut self) -> bool {
        if self.cluster.is_none() {
            self.end_cluster_phase();
        }
        let mut released = Vec::new();
        for (index, warp) in self.warps.iter_mut().enumerate() {
            for path in warp.paths.iter_mut().filter(|path| path.wait == Wait::Cluster) {
                if warp.announced & path.mask == 0 {
                    path.wait = Wait::Ready;
                    path.pc += 1;
                    released.push((index, path.mask));
                }
            }
        }
        released.iter().for_each(|(warp, mask)| self.hear(*warp, *mask));
        !released.is_empty()
    }
}

/// If all live threads of the blocks of a cluster have arrived, completes the phase and releases
/// them. Returns false if there are none.
pub(in crate::exec) fn end_phase(blocks: &mut [Block<'_, '_>]) -> bool {
    if !blocks.iter().all(Block::is_announced) {
        return false;
    }
    if let Some(cluster) = blocks.first().and_then(|block| block.cluster.as_ref()) {
        let phase = cluster.phase.get();
        // Knowledge of earlier phases has been received by now.
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
