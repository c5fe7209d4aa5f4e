//! The barriers of a block: waiting threads, and threads that may continue.

use super::fault::{MOST_RELATED, lanes_at, threads_of_warp};
use super::warp::{DivergentPath, Wait, Warp};
use super::{Block, Issue, Lanes, Stop};
use crate::program::instruction::{BarrierKind, Op};
use crate::report::FaultKind;
use crate::semantics::lanes_of;
use std::ops::Range;

impl Block<'_, '_> {
    /// Releases all threads if they wait at the same instruction for the whole block. Returns false
    /// if they do not, or if a check inspects barriers.
    pub(in crate::exec) fn release_together(&mut self) -> bool {
        if self.inspects_barriers() || self.has_arrivals() {
            return false;
        }
        let all = 0..self.warps.len();
        if self.common_barrier(all.clone()).is_none() {
            return false;
        }
        self.pass_barrier(all);
        true
    }

    /// Returns the position and the number of the barrier at which all live threads of some warps
    /// wait for all of the block.
    pub(in crate::exec) fn common_barrier(&self, warps: Range<usize>) -> Option<(u32, u32)> {
        let (wait, pc) = self.common_place(warps)?;
        match (wait, &self.instruction(pc).op) {
            (Wait::Barrier(number), Op::Barrier { kind: BarrierKind::Sync, count: None, .. }) => {
                Some((pc, number))
            }
            _ => None,
        }
    }

    /// Lets warps whose threads all wait at a barrier go on.
    pub(in crate::exec) fn pass_barrier(&mut self, warps: Range<usize>) {
        for path in self.warps[warps].iter_mut().flat_map(|warp| &mut warp.paths) {
            path.wait = Wait::Ready;
            path.pc += 1;
        }
    }

    /// True if a check inspects barriers.
    pub(in crate::exec) fn inspects_barriers(&self) -> bool {
        self.launch.options.check_barriers || self.checks.clocks.is_some()
    }

    /// Returns the position of all live threads of some warps and the reason why they wait, if they
    /// have these in common.
    pub(in crate::exec) fn common_place(&self, warps: Range<usize>) -> Option<(Wait, u32)> {
        let mut place = None;
        for warp in self.warps[warps].iter().filter(|warp| warp.live != 0) {
            let [path] = &warp.paths[..] else { return None };
            let here = (path.wait, path.pc);
            if path.mask != warp.live || *place.get_or_insert(here) != here {
                return None;
            }
        }
        place
    }

    /// Releases threads whose barrier is complete. Returns false if there are none.
    pub(in crate::exec) fn release_barriers(&mut self) -> Result<bool, Stop> {
        let live: u32 = self.warps.iter().map(|warp| warp.live.count_ones()).sum();
        let mut any = false;
        for id in lanes_of(self.barriers_in_use()).map(|id| id as u32) {
            let mut waiting = self.arrived[id as usize];
            let mut expected = live;
            for (warp, path) in self.waiting_at(id) {
                waiting += path.mask.count_ones();
                expected = self.asked_for(warp, path).unwrap_or(expected);
            }
            if waiting == 0 {
                continue;
            }
            if self.launch.options.check_barriers {
                self.check_counts(id)?;
            }
            if waiting < expected {
                continue;
            }
            if self.launch.options.check_barriers {
                self.check_exits(id)?;
            }
            any = true;
            self.release(id);
        }
        Ok(any)
    }

    /// Returns the barriers at which threads wait or have arrived, one bit each.
    fn barriers_in_use(&self) -> u32 {
        let arrived = (0..).zip(&self.arrived).filter(|(_, threads)| **threads != 0).map(|(id, _)| id);
        let paths = self.warps.iter().flat_map(Warp::paths);
        let waiting = paths.filter_map(|path| match path.wait {
            Wait::Barrier(id) => Some(id),
            _ => None,
        });
        arrived.chain(waiting).fold(0, |bits, id: u32| bits | 1 << id)
    }

    fn waiting_at(&self, id: u32) -> impl Iterator<Item = (&Warp, &DivergentPath)> {
        let of_warp = move |warp| {
            let paths = Warp::paths(warp).iter();
            paths.filter(move |path| path.wait == Wait::Barrier(id)).map(move |part| (warp, part))
        };
        self.warps.iter().flat_map(of_warp)
    }

    /// Returns the number of threads that a barrier instruction states, if any.
    fn asked_for(&self, warp: &Warp, path: &DivergentPath) -> Option<u32> {
        match &self.instruction(path.pc).op {
            Op::Barrier { count: Some(count), .. } => {
                Some(warp.rows.get(*count, path.mask.trailing_zeros() as usize))
            }
            _ => None,
        }
    }

    /// With the check on, finds threads that wait at one barrier for different numbers of threads.
    fn check_counts(&self, id: u32) -> Result<(), Stop> {
        let mut waiting = self.waiting_at(id);
        let Some((first_warp, first)) = waiting.next() else { return Ok(()) };
        let wanted = self.asked_for(first_warp, first);
        let Some((warp, other)) = waiting.find(|(warp, other)| self.asked_for(warp, other) != wanted) else {
            return Ok(());
        };
        let words = |count: Option<u32>| match count {
            Some(count) => format!("waits for {count} threads"),
            None => "waits for all threads of the block".to_owned(),
        };
        let place =
            |warp: &Warp, part: &DivergentPath, count| self.related(lanes_at(warp.index, part), words(count));
        self.found(FaultKind::BarrierCounts, lanes_at(first_warp.index, first), |mut fault| {
            fault.related.push(place(first_warp, first, wanted));
            fault.related.push(place(warp, other, self.asked_for(warp, other)));
            fault
        })
    }

    /// With the check on, finds a barrier of all threads that some never reach since they exited.
    fn check_exits(&self, id: u32) -> Result<(), Stop> {
        let Some((warp, waiting)) = self.waiting_at(id).next() else { return Ok(()) };
        let mut exited = Vec::new();
        for warp in &self.warps {
            exited.extend(warp.exits.iter().map(|exit| (warp.index, *exit)));
        }
        if self.asked_for(warp, waiting).is_some() || exited.is_empty() {
            return Ok(());
        }
        self.found(FaultKind::BarrierDivergence, lanes_at(warp.index, waiting), |mut fault| {
            fault.related.extend(exited.into_iter().take(MOST_RELATED).map(|(warp, (pc, mask))| {
                let note = format!("{} exited", threads_of_warp(mask));
                self.related(Lanes { warp: warp as usize, pc, mask }, note)
            }));
            fault
        })
    }

    fn release(&mut self, id: u32) {
        let kernel = self.launch.args.kernel;
        let mut ones = 0;
        let mut total = 0;
        let mut parties = Vec::new();
        for (index, warp) in self.warps.iter().enumerate() {
            for path in warp.paths.iter().filter(|path| path.wait == Wait::Barrier(id)) {
                parties.push((index, path.mask));
                total += path.mask.count_ones();
                if let Op::Barrier {
                    kind: BarrierKind::CountOnes { condition, .. } | BarrierKind::Combine { condition, .. },
                    ..
                } = &kernel.code[path.pc as usize].op
                {
                    ones += (warp.rows.holds(*condition) & path.mask).count_ones();
                }
            }
        }
        if let Some(clocks) = &mut self.checks.clocks {
            clocks.meet(&parties, Some(id as usize));
        }
        for warp in &mut self.warps {
            let rows = &mut warp.rows;
            for path in warp.paths.iter_mut().filter(|path| path.wait == Wait::Barrier(id)) {
                if let Op::Barrier { kind, .. } = &kernel.code[path.pc as usize].op {
                    match kind {
                        BarrierKind::CountOnes { out, .. } => {
                            lanes_of(path.mask).for_each(|lane| rows.set(*out, lane, ones));
                        }
                        BarrierKind::Combine { out, all, .. } => {
                            let result = if *all { ones == total } else { ones > 0 };
                            rows.set_predicate(*out, path.mask, if result { u32::MAX } else { 0 });
                        }
                        BarrierKind::Sync | BarrierKind::Arrive => {}
                    }
                }
                path.wait = Wait::Ready;
                path.pc += 1;
            }
        }
        self.arrived[id as usize] = 0;
    }

    /// With the check on, true if some threads have exited.
    pub(in crate::exec) fn has_exits(&self) -> bool {
        self.warps.iter().any(|warp| !warp.exits.is_empty())
    }

    /// True if threads have arrived at a barrier without waiting.
    pub(in crate::exec) fn has_arrivals(&self) -> bool {
        self.arrived != [0; 16]
    }

    pub(in crate::exec) fn nobody_arrived(&self, id: u32) -> bool {
        self.arrived.get(id as usize) == Some(&0)
    }

    /// Makes threads of a warp arrive at a barrier without waiting.
    #[inline]
    pub(in crate::exec) fn arrive(&mut self, id: u32, warp: usize, mask: u32) {
        let number = id as usize & 15;
        self.arrived[number] += mask.count_ones();
        if let Some(clocks) = &mut self.checks.clocks {
            clocks.arrive(warp, mask, number);
        }
    }

    /// With the check on, finds an aligned barrier that these lanes reach and others of their warp
    /// have passed. Lanes about to exit do not count, because no thread waits for them.
    pub(in crate::exec) fn check_aligned(&self, issue: Issue) -> Result<(), Stop> {
        if !self.launch.options.check_barriers {
            return Ok(());
        }
        let ranks = &self.launch.args.kernel.ranks;
        let place = |pc: u32| (ranks[pc as usize], pc);
        let warp = &self.warps[issue.warp];
        let gone = warp.paths.iter().enumerate().find(|(other, path)| {
            let leaves = matches!(self.instruction(path.pc).op, Op::Exit);
            *other != issue.path && place(path.pc) > place(issue.pc) && !leaves
        });
        let Some((_, path)) = gone else { return Ok(()) };
        self.found(FaultKind::BarrierDivergence, issue, |mut fault| {
            let note = format!("{} went past it", threads_of_warp(path.mask));
            fault.related.push(self.related(lanes_at(warp.index, path), note));
            fault
        })
    }
}
