//! What is remembered of memory beside its contents, for the checks that are off by default: which bytes were ever
//! written, and who last touched them.
//!
//! Threads of one warp are taken to be in order. Threads of different warps of a block are in order if a barrier lies
//! between their accesses; threads of different blocks are in order if neither access is weak. So a kernel that orders
//! weak accesses by flags in memory alone is reported although it may be right.

use super::block::{Block, Stop, thread_index};
use super::semantics::LANES;
use crate::report::{FaultKind, Related};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How an access takes part in a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Touch {
    Read,
    Write,
    /// Volatile, atomic, or with a memory order.
    StrongRead,
    StrongWrite,
}

impl Touch {
    fn writes(self) -> bool {
        matches!(self, Touch::Write | Touch::StrongWrite)
    }

    fn strong(self) -> bool {
        matches!(self, Touch::StrongRead | Touch::StrongWrite)
    }
}

/// One past access: where in the code, by whom, and between which barriers.
#[derive(Clone, Copy, Debug)]
struct Trace {
    pc: u32,
    /// Block of the grid, for global memory.
    block: u64,
    thread: u32,
    epoch: u32,
    strong: bool,
}

/// The last write of a byte, and the last reads by up to two parties: one of them is not the next writer.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Option<Trace>,
    reads: [Option<Trace>; 2],
}

impl Cell {
    /// Records an access and returns an earlier one that it races with.
    fn touch(
        &mut self,
        touch: Touch,
        now: Trace,
        ordered: impl Fn(&Trace) -> bool,
    ) -> Option<(Trace, &'static str)> {
        let races = |earlier: &Trace| !(ordered(earlier) || touch.strong() && earlier.strong);
        let mut found = self.write.filter(races).map(|earlier| (earlier, "written"));
        if touch.writes() {
            let reads = self.reads.iter().flatten().find(|earlier| races(earlier));
            found = found.or_else(|| reads.map(|earlier| (*earlier, "read")));
            *self = Cell { write: Some(now), reads: [None; 2] };
        } else {
            // Keep one reader beside this one, unless a barrier has put it in the past.
            let other = self.reads.into_iter().flatten().find(|earlier| !ordered(earlier));
            self.reads = [Some(now), other];
        }
        found
    }
}

/// Shadow of a block's shared memory, or of the local memory of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow {
    written: Vec<bool>,
    cells: Vec<Cell>,
}

impl Shadow {
    pub(super) fn new(bytes: usize, races: bool) -> Self {
        Shadow { written: vec![false; bytes], cells: vec![Cell::default(); if races { bytes } else { 0 }] }
    }

    pub(super) fn clear(&mut self) {
        self.written.fill(false);
        self.cells.fill(Cell::default());
    }

    /// Marks bytes as written, growing as the memory does.
    fn mark(&mut self, start: usize, bytes: usize) {
        if self.written.len() < start + bytes {
            self.written.resize(start + bytes, false);
        }
        self.written[start..start + bytes].fill(true);
    }

    fn all_written(&self, start: usize, bytes: usize) -> bool {
        self.written.get(start..start + bytes).is_some_and(|written| written.iter().all(|written| *written))
    }
}

/// Accesses of all blocks to global memory, by words of four bytes.
#[derive(Debug, Default)]
pub(super) struct GlobalShadow(Mutex<HashMap<u64, Cell>>);

impl Block<'_, '_> {
    /// Checks an access to shared memory against what came before it.
    pub(super) fn watch_shared(
        &mut self,
        warp: usize,
        pc: u32,
        lane: usize,
        start: usize,
        bytes: usize,
        touch: Touch,
    ) -> Result<(), Stop> {
        let thread = (warp * LANES + lane) as u32;
        let epoch = self.epoch;
        let Some(shadow) = &mut self.shadow else { return Ok(()) };
        if self.launch.options.check_init {
            if touch.writes() {
                shadow.mark(start, bytes);
            } else if !shadow.all_written(start, bytes) {
                return Err(self.fault(FaultKind::UninitialisedRead, warp, pc, 1 << lane));
            }
        }
        let now = Trace { pc, block: 0, thread, epoch, strong: touch.strong() };
        let same_warp = |earlier: &Trace| earlier.thread / LANES as u32 == thread / LANES as u32;
        let mut found = None;
        for cell in shadow.cells.get_mut(start..start + bytes).unwrap_or_default() {
            let race = cell.touch(touch, now, |earlier| earlier.epoch != epoch || same_warp(earlier));
            found = found.or(race);
        }
        match found {
            Some((earlier, what)) => Err(self.race(warp, pc, lane, earlier, self.index, what)),
            None => Ok(()),
        }
    }

    /// Checks a read of local memory, or marks what is written.
    pub(super) fn watch_local(
        &mut self,
        warp: usize,
        pc: u32,
        lane: usize,
        start: usize,
        bytes: usize,
        touch: Touch,
    ) -> Result<(), Stop> {
        if !self.launch.options.check_init {
            return Ok(());
        }
        let shadow = &mut self.warps[warp].local_shadow[lane];
        if touch.writes() {
            shadow.mark(start, bytes);
        } else if !shadow.all_written(start, bytes) {
            return Err(self.fault(FaultKind::UninitialisedRead, warp, pc, 1 << lane));
        }
        Ok(())
    }

    /// Checks an access to global memory against those of other blocks.
    pub(super) fn watch_global(
        &mut self,
        warp: usize,
        pc: u32,
        lane: usize,
        address: u64,
        bytes: u32,
        touch: Touch,
    ) -> Result<(), Stop> {
        let Some(GlobalShadow(cells)) = &self.launch.global_shadow else { return Ok(()) };
        let [width, height, _] = self.launch.args.grid.map(u64::from);
        let [x, y, z] = self.index.map(u64::from);
        let block = x + width * (y + height * z);
        let now = Trace { pc, block, thread: (warp * LANES + lane) as u32, epoch: 0, strong: touch.strong() };
        let mut cells = cells.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        for word in address / 4..=(address + u64::from(bytes) - 1) / 4 {
            let race = cells.entry(word).or_default().touch(touch, now, |earlier| earlier.block == block);
            found = found.or(race);
        }
        drop(cells);
        match found {
            Some((earlier, what)) => {
                let at =
                    [earlier.block % width, earlier.block / width % height, earlier.block / width / height];
                Err(self.race(warp, pc, lane, earlier, at.map(|axis| axis as u32), what))
            }
            None => Ok(()),
        }
    }

    #[cold]
    fn race(&self, warp: usize, pc: u32, lane: usize, earlier: Trace, block: [u32; 3], what: &str) -> Stop {
        let mut fault = self.fault(FaultKind::Race, warp, pc, 1 << lane);
        let origin = self.origin(earlier.pc);
        fault.related.push(Related {
            note: format!("{what} before by"),
            block,
            thread: thread_index(earlier.thread, self.launch.args.block),
            ptx_line: origin.line,
            source: self.source(origin),
        });
        fault
    }
}
