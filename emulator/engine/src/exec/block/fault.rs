//! Creates the faults of a block.

use super::warp::{DivergentPath, Wait};
use super::{Block, Lanes, thread_index};
use crate::program::Origin;
use crate::program::instruction::Instruction;
use crate::report::{Fault, FaultKind, Related};
use crate::semantics::LANES;
use std::sync::PoisonError;

/// Maximum number of further locations in a report.
pub(in crate::exec) const MOST_RELATED: usize = 16;

/// Reason why a block ends early.
pub(in crate::exec) type Stop = Box<Fault>;

impl<'a> Block<'_, 'a> {
    /// Another location that takes part in a fault.
    pub(in crate::exec) fn related(&self, at: impl Into<Lanes>, note: String) -> Related {
        let at = at.into();
        let origin = self.origin(at.pc);
        Related {
            note,
            block: self.index,
            thread: self.first_thread(at),
            ptx_line: origin.line,
            source: self.source(origin),
        }
    }

    /// Returns the fault of a block in which no thread can run.
    pub(in crate::exec) fn stuck(&self) -> Stop {
        let waits: Vec<Wait> = self.parts().iter().map(|(_, path)| path.wait).collect();
        self.fault_of_all(if waits.contains(&Wait::Group) {
            FaultKind::IncompleteGroup
        } else if waits.iter().all(|wait| matches!(wait, Wait::Barrier(_) | Wait::Cluster)) {
            FaultKind::BarrierDivergence
        } else if waits.iter().all(|wait| *wait == Wait::Collective) {
            FaultKind::WrongMembers
        } else {
            FaultKind::Deadlock
        })
    }

    /// Returns the divergent paths of all warps, each with the number of its warp.
    fn parts(&self) -> Vec<(u32, &DivergentPath)> {
        let mut parts = Vec::new();
        for warp in &self.warps {
            parts.extend(warp.paths.iter().map(|path| (warp.index, path)));
        }
        parts
    }

    /// Returns a fault of the whole block, with the locations of its threads. It is attributed to
    /// the first thread that still runs.
    pub(in crate::exec) fn fault_of_all(&self, kind: FaultKind) -> Stop {
        let parts = self.parts();
        let first = parts.first().map(|(warp, path)| lanes_at(*warp, path));
        let mut fault = self.fault(kind, first.unwrap_or(Lanes { warp: 0, pc: 0, mask: 1 }));
        fault.related.extend(parts.into_iter().take(MOST_RELATED).map(|(warp, path)| {
            let what = match path.wait {
                Wait::Barrier(id) => format!("at barrier {id}"),
                Wait::Cluster => "at the barrier of the cluster".to_owned(),
                Wait::Group => "at a wait of its warp group".to_owned(),
                Wait::Collective => "waiting for others of the member mask".to_owned(),
                Wait::Ready => "running".to_owned(),
            };
            let note = format!("{} {what}", threads_of_warp(path.mask));
            self.related(lanes_at(warp, path), note)
        }));
        fault
    }

    /// Ends the block with the finding of a check, or reports it and continues: once per
    /// instruction and kind, so `complete` is not called for each of a million accesses.
    #[cold]
    pub(in crate::exec) fn found(
        &self,
        kind: FaultKind,
        at: impl Into<Lanes>,
        complete: impl FnOnce(Stop) -> Stop,
    ) -> Result<(), Stop> {
        let at = at.into();
        let reported = || self.launch.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported().iter().any(|(pc, known)| *pc == at.pc && *known == kind) {
            return Ok(());
        }
        let fault = complete(self.fault(kind, at));
        // The client's function may wait for another thread that writes.
        self.launch.writer.admit_others();
        if !self.launch.hooks.goes_on(&fault) {
            return Err(fault);
        }
        reported().push((at.pc, fault.kind));
        Ok(())
    }

    pub(in crate::exec) fn fault(&self, kind: FaultKind, at: impl Into<Lanes>) -> Stop {
        let at = at.into();
        let origin = self.origin(at.pc);
        let mut fault = Fault::new(kind, &self.launch.args.kernel.name);
        fault.block = self.index;
        fault.thread = self.first_thread(at);
        fault.lanes = at.mask;
        fault.ptx_line = origin.line;
        fault.ptx_text = origin.text.to_string();
        fault.source = self.source(origin);
        Box::new(fault)
    }

    fn first_thread(&self, at: Lanes) -> [u32; 3] {
        let lane = at.mask.trailing_zeros().min(31);
        thread_index(at.warp as u32 * LANES as u32 + lane, self.launch.args.block)
    }

    pub(in crate::exec) fn origin(&self, pc: u32) -> &Origin {
        let kernel = self.launch.args.kernel;
        &kernel.origins[self.instruction(pc).origin as usize]
    }

    pub(in crate::exec) fn source(&self, origin: &Origin) -> Option<(String, u32)> {
        let (file, line) = origin.source?;
        let files = &self.launch.args.kernel.files;
        let (_, path) = files.iter().find(|(index, _)| *index == file)?;
        Some((path.clone(), line))
    }

    pub(in crate::exec) fn instruction(&self, pc: u32) -> &'a Instruction {
        &self.launch.args.kernel.code[pc as usize]
    }
}

pub(super) fn threads_of_warp(mask: u32) -> String {
    match mask.count_ones() {
        1 => "one thread of a warp".to_owned(),
        count => format!("{count} threads of a warp"),
    }
}

pub(super) fn lanes_at(warp: u32, path: &DivergentPath) -> Lanes {
    Lanes { warp: warp as usize, pc: path.pc, mask: path.mask }
}
