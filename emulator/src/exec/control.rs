//! Branches, calls, exits.

use super::block::{Block, Stop};
use super::plain::Flow;
use super::semantics::lanes_of;
use super::warp::{Fragment, Frame, Wait};
use crate::program::instruction::{Call, Callee, SystemCall};
use crate::program::{FUNCTION_STRIDE, MOST_LOCAL, Register};
use crate::report::FaultKind;
use std::sync::Arc;

/// The deepest chain of calls.
const MOST_CALLS: u32 = 10_000;

impl Block<'_, '_> {
    /// Lanes of `taken` go to `target`, the others of `mask` to the next instruction.
    pub(super) fn branch(
        &mut self,
        warp: usize,
        index: usize,
        pc: u32,
        mask: u32,
        taken: u32,
        target: u32,
    ) -> Flow {
        if taken == mask {
            return Flow::Jump(target);
        }
        if taken == 0 {
            return Flow::Next;
        }
        let fragments = &mut self.warps[warp].fragments;
        let frame = fragments[index].frame.clone();
        fragments[index].mask = mask & !taken;
        fragments[index].pc = pc + 1;
        fragments.push(Fragment { pc: target, mask: taken, frame, wait: Wait::Ready, tired: false });
        Flow::Yield
    }

    #[allow(clippy::too_many_arguments, reason = "the place of the instruction and its parts")]
    pub(super) fn branch_indexed(
        &mut self,
        warp: usize,
        index: usize,
        pc: u32,
        mask: u32,
        active: u32,
        row: Register,
        targets: &[u32],
    ) -> Result<Flow, Stop> {
        let mut left = active;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let number = self.warps[warp].rows.get(row, lane);
            let same = lanes_of(left).filter(|lane| self.warps[warp].rows.get(row, *lane) == number);
            let same = same.fold(0, |bits, lane| bits | 1 << lane);
            let Some(target) = targets.get(number as usize) else {
                return Err(self.fault(FaultKind::InvalidCode, warp, pc, same));
            };
            if same == mask {
                return Ok(Flow::Jump(*target));
            }
            let fragments = &mut self.warps[warp].fragments;
            let frame = fragments[index].frame.clone();
            fragments.push(Fragment { pc: *target, mask: same, frame, wait: Wait::Ready, tired: false });
            left &= !same;
        }
        self.remove_lanes(warp, index, pc, mask, active);
        Ok(Flow::Yield)
    }

    /// The lanes of `gone` are elsewhere now; what is left goes on behind the instruction.
    fn remove_lanes(&mut self, warp: usize, index: usize, pc: u32, mask: u32, gone: u32) {
        let fragments = &mut self.warps[warp].fragments;
        if mask == gone {
            fragments.swap_remove(index);
        } else {
            fragments[index].mask = mask & !gone;
            fragments[index].pc = pc + 1;
        }
    }

    pub(super) fn exit(&mut self, warp: usize, index: usize, pc: u32, mask: u32, active: u32) -> Flow {
        self.warps[warp].live &= !active;
        if self.launch.options.check_barriers {
            self.warps[warp].exits.push((pc, active));
        }
        self.remove_lanes(warp, index, pc, mask, active);
        Flow::Yield
    }

    pub(super) fn call(
        &mut self,
        warp: usize,
        index: usize,
        pc: u32,
        mask: u32,
        active: u32,
        call: &Call,
    ) -> Result<Flow, Stop> {
        match call.callee {
            Callee::Direct(function) => {
                self.enter(warp, index, pc, mask, active, call, function)?;
                Ok(Flow::Yield)
            }
            Callee::System(system) => {
                self.system_call(warp, pc, active, call, system)?;
                Ok(Flow::Next)
            }
            Callee::Indirect(row) => {
                let mut left = active;
                let mut rest = mask;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    let rows = &self.warps[warp].rows;
                    let address = rows.get_wide(row, super::semantics::Width::Double, lane);
                    let same = lanes_of(left)
                        .filter(|lane| rows.get_wide(row, super::semantics::Width::Double, *lane) == address)
                        .fold(0, |bits, lane| bits | 1 << lane);
                    let Some(function) = self.function_at(address) else {
                        return Err(self.fault(FaultKind::InvalidCode, warp, pc, same));
                    };
                    // The fragment at `index` keeps the lanes that have not called yet; the last ones take it over.
                    self.enter(warp, index, pc, rest, same, call, function)?;
                    rest &= !same;
                    left &= !same;
                }
                Ok(Flow::Yield)
            }
        }
    }

    fn function_at(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(self.launch.map.windows().code)?;
        if offset % FUNCTION_STRIDE != 0 {
            return None;
        }
        let module_index = u32::try_from(offset / FUNCTION_STRIDE).ok()?;
        self.launch.args.kernel.by_module_index.get(&module_index).copied()
    }

    /// Puts the lanes of `active` at the start of a function.
    #[allow(clippy::too_many_arguments, reason = "the place of the instruction and its parts")]
    fn enter(
        &mut self,
        warp: usize,
        index: usize,
        pc: u32,
        mask: u32,
        active: u32,
        call: &Call,
        function: u32,
    ) -> Result<(), Stop> {
        let kernel = self.launch.args.kernel;
        let callee = &kernel.functions[function as usize];
        let parent = self.warps[warp].fragments[index].frame.clone();
        let depth = parent.as_ref().map_or(1, |frame| frame.depth + 1);
        let local_base = self.warps[warp].next_frame(active);
        let end = local_base + callee.frame;
        if end > MOST_LOCAL || depth > MOST_CALLS {
            return Err(self.fault(FaultKind::StackOverflow, warp, pc, active));
        }
        let (functions, again) = Frame::functions(parent.as_ref(), function, kernel.functions.len());
        let warp_state = &mut self.warps[warp];
        warp_state.grow_local(end);
        let callers_stack = warp_state.stack;
        let saved = again.then(|| warp_state.rows.save(&callee.rows, callee.predicates.clone()));
        for lane in lanes_of(active) {
            warp_state.stack[lane] = end;
            // Read all, then write: a function that calls itself may pass its own parameters on, swapped.
            let values: Vec<u32> = call.arguments.iter().map(|row| warp_state.rows.get(*row, lane)).collect();
            for (row, value) in callee.params.iter().zip(values) {
                warp_state.rows.set(*row, lane, value);
            }
        }
        let frame =
            Frame { return_pc: pc, function, parent, depth, local_base, callers_stack, saved, functions };
        let frame = Some(Arc::new(frame));
        let fragments = &mut warp_state.fragments;
        if active == mask {
            fragments[index] = Fragment { pc: callee.entry, mask, frame, wait: Wait::Ready, tired: false };
            return Ok(());
        }
        fragments[index].mask = mask & !active;
        fragments[index].pc = pc + 1;
        fragments.push(Fragment { pc: callee.entry, mask: active, frame, wait: Wait::Ready, tired: false });
        Ok(())
    }

    /// Returns from a function for the lanes of `active`.
    pub(super) fn leave(&mut self, warp: usize, index: usize, pc: u32, mask: u32, active: u32) -> Flow {
        let kernel = self.launch.args.kernel;
        let warp_state = &mut self.warps[warp];
        let Some(frame) = warp_state.fragments[index].frame.clone() else {
            return self.exit(warp, index, pc, mask, active);
        };
        let callee = &kernel.functions[frame.function as usize];
        for lane in lanes_of(active) {
            warp_state.stack[lane] = frame.callers_stack[lane];
        }
        let rows = &mut warp_state.rows;
        let values: Vec<(usize, Vec<u32>)> = lanes_of(active)
            .map(|lane| (lane, callee.returns.iter().map(|row| rows.get(*row, lane)).collect()))
            .collect();
        if let Some(saved) = &frame.saved {
            rows.restore(saved, active, &kernel.row_kinds);
        }
        if let crate::program::instruction::Op::Call(call) = &kernel.code[frame.return_pc as usize].op {
            for (lane, words) in values {
                for (row, value) in call.results.iter().zip(words) {
                    rows.set(*row, lane, value);
                }
            }
        }
        let after = Fragment {
            pc: frame.return_pc + 1,
            mask: active,
            frame: frame.parent.clone(),
            wait: Wait::Ready,
            tired: false,
        };
        let fragments = &mut warp_state.fragments;
        if active == mask {
            fragments[index] = after;
        } else {
            fragments[index].mask = mask & !active;
            fragments[index].pc = pc + 1;
            fragments.push(after);
        }
        Flow::Yield
    }

    fn system_call(
        &mut self,
        warp: usize,
        pc: u32,
        active: u32,
        call: &Call,
        system: SystemCall,
    ) -> Result<(), Stop> {
        for lane in lanes_of(active) {
            let rows = &self.warps[warp].rows;
            let word = |index: usize| call.arguments.get(index).map_or(0, |row| rows.get(*row, lane));
            let wide = |index: usize| u64::from(word(index + 1)) << 32 | u64::from(word(index));
            let result: u64 = match system {
                SystemCall::Printf => {
                    let (format, values) = (wide(0), wide(2));
                    self.printf(warp, pc, lane, format, values)?
                }
                SystemCall::Assert => {
                    let (expression, file, line, function) = (wide(0), wide(2), word(4), wide(5));
                    let expression = self.text_at(warp, pc, lane, expression)?;
                    let file = self.text_at(warp, pc, lane, file)?;
                    let function = self.text_at(warp, pc, lane, function)?;
                    let mut fault =
                        self.fault(FaultKind::Assert { expression, function }, warp, pc, 1 << lane);
                    fault.source = Some((file, line));
                    return Err(fault);
                }
                SystemCall::Malloc => {
                    let address = self.launch.hooks.malloc(wide(0));
                    if let Some(shadow) = self.launch.global_shadow.as_ref().filter(|_| address != 0) {
                        shadow.forget(address, wide(0));
                    }
                    address
                }
                SystemCall::SetCondition => {
                    let (condition, value) = (wide(0), word(2));
                    if !self.launch.hooks.set_condition(condition, value) {
                        let kind = FaultKind::Other(format!("{condition:#x} is no condition of a graph"));
                        return Err(self.fault(kind, warp, pc, 1 << lane));
                    }
                    0
                }
                SystemCall::Free => {
                    let address = wide(0);
                    if address != 0 && !self.launch.hooks.free(address) {
                        return Err(self.fault(FaultKind::HeapMisuse, warp, pc, 1 << lane));
                    }
                    0
                }
            };
            for (index, row) in call.results.iter().enumerate().take(2) {
                self.warps[warp].rows.set(*row, lane, (result >> (32 * index)) as u32);
            }
        }
        Ok(())
    }
}
