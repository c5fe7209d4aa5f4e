//! The barrier of a cluster. Each block is a cluster of its own, so it is a second barrier of all threads of the block,
//! at which a thread announces itself first and waits later.

use super::Block;
use super::warp::Wait;

impl Block<'_, '_> {
    /// When all live threads have announced themselves: forgets that, so that the waiting ones can go on.
    pub(in crate::exec) fn end_cluster_phase(&mut self) {
        if self.warps.iter().any(|warp| warp.live & !warp.announced != 0) {
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
