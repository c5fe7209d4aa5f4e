//! The barrier of a cluster. Each block is a cluster of its own, so it is a second barrier of all threads of the block,
//! at which a thread announces itself first and waits later.

use super::block::{Block, Stop};
use super::plain::Flow;
use super::warp::Wait;

impl Block<'_, '_> {
    pub(super) fn cluster_barrier(
        &mut self,
        warp: usize,
        index: usize,
        pc: u32,
        active: u32,
        wait: bool,
    ) -> Result<Flow, Stop> {
        if !wait {
            self.warps[warp].announced |= active;
            self.end_cluster_phase();
            return Ok(Flow::Next);
        }
        if self.warps[warp].announced & active == 0 {
            return Ok(Flow::Next);
        }
        self.split_off(warp, index, pc, active);
        self.warps[warp].fragments[index].wait = Wait::Cluster;
        Ok(Flow::Yield)
    }

    /// When all live threads have announced themselves: forgets that, so that who waits can go on.
    fn end_cluster_phase(&mut self) {
        if self.warps.iter().any(|warp| warp.live & !warp.announced != 0) {
            return;
        }
        let all: Vec<_> = self.warps.iter().enumerate().map(|(index, warp)| (index, warp.live)).collect();
        if let Some(clocks) = &mut self.clocks {
            clocks.meet(&all, None);
        }
        self.warps.iter_mut().for_each(|warp| warp.announced = 0);
    }

    /// Lets those go on that wait for a phase that is over. `false` if there are none.
    pub(super) fn release_cluster(&mut self) -> bool {
        self.end_cluster_phase();
        let mut any = false;
        for warp in &mut self.warps {
            for fragment in warp.fragments.iter_mut().filter(|fragment| fragment.wait == Wait::Cluster) {
                if warp.announced & fragment.mask == 0 {
                    fragment.wait = Wait::Ready;
                    fragment.pc += 1;
                    any = true;
                }
            }
        }
        any
    }
}
