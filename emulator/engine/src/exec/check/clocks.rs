//! The happens-before order of accesses, as vector clocks.
//!
//! Each warp has a clock that advances when one of its threads publishes knowledge. Each thread
//! knows, for every other thread, the time up to which that thread's accesses happen before its
//! own. An access is stamped with its thread and the time of its warp. It happens before all
//! actions of threads that know that time of that thread.
//!
//! A thread publishes its knowledge, including its own past; through memory, only its knowledge at
//! its last fence. Barriers and warp-level instructions pass all knowledge to all participants,
//! including the fences of the others: after a fence of each thread and a barrier, an atomic of one
//! thread publishes the accesses of all of them.

use super::past::Past;
use crate::ordered::Ordered;
use crate::program::memory::{Order, Scope};
use crate::semantics::{LANES, lanes_of};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

fn threads_of(warp: usize, mask: u32) -> impl Iterator<Item = usize> {
    lanes_of(mask).map(move |lane| warp * LANES + lane)
}

/// Knowledge that one thread can pass to another.
#[derive(Clone, Debug, Default)]
pub(in crate::exec) struct Knowledge {
    past: Past,
    /// Its past, or the past of a thread it learned from, at the last fence of each scope.
    fenced: [Past; 2],
}

impl Knowledge {
    fn of_block(block: u64) -> Self {
        let nothing = Past::of_block(block);
        Knowledge { fenced: [nothing.clone(), nothing.clone()], past: nothing }
    }

    fn absorb(&mut self, other: &Knowledge) {
        self.past.absorb(&other.past);
        for (mine, other) in self.fenced.iter_mut().zip(&other.fenced) {
            mine.absorb(other);
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(in crate::exec) struct Published {
    to_all: Knowledge,
    /// Knowledge on which only threads of the same block may rely.
    to_block: Ordered<Knowledge>,
}

/// A map by (part of) an address. Collisions chosen by a program only slow that program down.
pub(in crate::exec) type ByAddress<T> = HashMap<u64, T, BuildHasherDefault<AddressHasher>>;

/// Hashes a number by a multiplication.
#[derive(Default)]
pub(in crate::exec) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(in crate::exec) type Publications = ByAddress<Published>;

/// The clocks of a block's warps, and the knowledge of its threads.
#[derive(Debug)]
pub(in crate::exec) struct Clocks {
    block: u64,
    warps: Vec<u32>,
    threads: Vec<Rc<Knowledge>>,
    /// Lanes of each warp that certainly share their knowledge.
    alike: Vec<u32>,
    /// Knowledge of threads that arrived at a barrier without waiting.
    arrived: [Knowledge; 16],
}

impl Clocks {
    pub(in crate::exec) fn new(warps: usize) -> Self {
        Clocks {
            block: 0,
            warps: vec![1; warps],
            threads: vec![Rc::default(); warps * LANES],
            alike: vec![u32::MAX; warps],
            arrived: Default::default(),
        }
    }

    pub(in crate::exec) fn reset(&mut self, block: u64) {
        self.block = block;
        self.warps.fill(1);
        let nothing = Knowledge::of_block(block);
        self.arrived.iter_mut().for_each(|known| known.clone_from(&nothing));
        let nothing = Rc::new(nothing);
        self.threads.iter_mut().for_each(|known| known.clone_from(&nothing));
        self.alike.fill(u32::MAX);
    }

    pub(in crate::exec) fn block(&self) -> u64 {
        self.block
    }

    pub(in crate::exec) fn moment(&self, warp: usize) -> u32 {
        self.warps[warp]
    }

    pub(in crate::exec) fn past(&self, warp: usize, lane: usize) -> &Past {
        &self.threads[warp * LANES + lane].past
    }

    /// Returns the past of some lanes of a warp, if they have learned the same.
    pub(in crate::exec) fn common_past(&self, warp: usize, lanes: u32) -> Option<&Past> {
        let threads = &self.threads[warp * LANES..][..LANES];
        let first = &threads[lanes.trailing_zeros() as usize % LANES];
        let same = |lane: usize| Rc::ptr_eq(&threads[lane], first) || threads[lane].past.is_same(&first.past);
        (lanes & !self.alike[warp] == 0 || lanes_of(lanes).all(same)).then_some(&first.past)
    }

    /// True if some lanes of a warp share their knowledge, and none of them has passed a fence.
    pub(in crate::exec) fn are_alike_without_fence(&self, warp: usize, lanes: u32) -> bool {
        let first = &self.threads[warp * LANES + lanes.trailing_zeros() as usize % LANES];
        lanes & !self.alike[warp] == 0 && first.fenced.iter().all(Past::is_empty)
    }

    /// Returns the knowledge of a thread, to be changed.
    fn known(&mut self, warp: usize, lane: usize) -> &mut Knowledge {
        self.alike[warp] &= !(1 << lane);
        Rc::make_mut(&mut self.threads[warp * LANES + lane])
    }

    fn told(&self, warp: usize, lane: usize) -> Knowledge {
        let thread = warp * LANES + lane;
        let mut told = Knowledge::clone(&self.threads[thread]);
        told.past.learn(warp, 1 << lane, self.warps[warp]);
        told
    }

    /// Exchanges all knowledge among these lanes of warps.
    pub(in crate::exec) fn meet(&mut self, parties: &[(usize, u32)], barrier: Option<usize>) {
        let mut all = Knowledge::of_block(self.block);
        if let Some(number) = barrier {
            std::mem::swap(&mut all, &mut self.arrived[number]);
        }
        // Threads that met before often know the same.
        let mut last: Option<&Rc<Knowledge>> = None;
        for thread in parties.iter().flat_map(|(warp, mask)| threads_of(*warp, *mask)) {
            let known = &self.threads[thread];
            if !last.is_some_and(|last| Rc::ptr_eq(last, known)) {
                all.absorb(known);
                last = Some(known);
            }
        }
        for (warp, mask) in parties {
            all.past.learn(*warp, *mask, self.warps[*warp]);
        }
        let all = Rc::new(all);
        for (warp, mask) in parties {
            lanes_of(*mask).for_each(|lane| self.threads[warp * LANES + lane].clone_from(&all));
            self.alike[*warp] = *mask;
            self.warps[*warp] += 1;
        }
    }

    /// Makes these lanes arrive at a barrier of the block without waiting.
    pub(in crate::exec) fn arrive(&mut self, warp: usize, mask: u32, barrier: usize) {
        for lane in lanes_of(mask) {
            let told = self.told(warp, lane);
            self.arrived[barrier].absorb(&told);
        }
        self.warps[warp] += 1;
    }

    pub(in crate::exec) fn fence(&mut self, warp: usize, mask: u32, scope: Scope) {
        for lane in lanes_of(mask) {
            let past = self.told(warp, lane).past;
            let fenced = &mut self.known(warp, lane).fenced;
            fenced[Scope::Block as usize] = past.clone();
            if scope == Scope::Device {
                fenced[Scope::Device as usize] = past;
            }
        }
        self.warps[warp] += 1;
    }

    /// Records that a thread writes to an address that others may read to synchronize. Replaces
    /// knowledge published there earlier, unless the new value was computed from the old one.
    pub(in crate::exec) fn publish(
        &mut self,
        warp: usize,
        lane: usize,
        place: u64,
        order: Order,
        update: bool,
        publications: &mut Publications,
    ) {
        if !update && !publications.is_empty() {
            publications.remove(&place);
        }
        let Order::Strong { scope, releases } = order else { return };
        if !releases && self.threads[warp * LANES + lane].fenced.iter().all(Past::is_empty) {
            return;
        }
        let told = releases.then(|| self.told(warp, lane).past);
        let [in_block, in_device] = self.threads[warp * LANES + lane].fenced.clone();
        let to_block = told.clone().unwrap_or_else(|| in_block.clone());
        let to_all = told.unwrap_or_else(|| in_device.clone());
        if releases {
            self.warps[warp] += 1;
        }
        if scope == Scope::Device && !to_all.is_empty() {
            let fenced = [in_device.clone(), in_device.clone()];
            let knowledge = Knowledge { fenced, past: to_all.clone() };
            publications.entry(place).or_default().to_all.absorb(&knowledge);
        }
        if !to_block.is_empty() && (scope == Scope::Block || !to_block.is_same(&to_all)) {
            let knowledge = Knowledge { fenced: [in_block, in_device], past: to_block };
            let published = publications.entry(place).or_default();
            let nothing = || Knowledge::of_block(self.block);
            published.to_block.get_or_insert_with(self.block, nothing).absorb(&knowledge);
        }
    }

    /// Records that a thread reads an address to synchronize.
    pub(in crate::exec) fn learn(
        &mut self,
        warp: usize,
        lane: usize,
        place: u64,
        publications: &Publications,
    ) {
        let Some(published) = publications.get(&place) else { return };
        let in_block = published.to_block.get(self.block);
        let known = self.known(warp, lane);
        known.absorb(&published.to_all);
        if let Some(told) = in_block {
            known.absorb(told);
        }
    }

    /// Makes a thread arrive at a barrier in memory, or of a cluster.
    pub(in crate::exec) fn tell(
        &mut self,
        warp: usize,
        lane: usize,
        place: u64,
        scope: Scope,
        publications: &mut Publications,
    ) {
        let release = Order::Strong { scope, releases: true };
        self.publish(warp, lane, place, release, true, publications);
    }
}
