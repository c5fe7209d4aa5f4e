//! The state of the code that is written.

use super::backend::{Blk, Emitter, Val};
use super::calls::Calls;
use super::groups::Found;
use super::plan::Plan;
use super::quads::{MOST_QUADS, Masks, Quads};
use super::roots::Roots;
use super::support;
use super::types::{self, Holds};
use super::values::Values;
use crate::program::Kernel;
use crate::program::instruction::Constant;
use std::collections::{HashMap, HashSet};

/// Writes the code of a kernel.
pub(super) struct Writer<'w, 'e> {
    pub(super) e: &'w mut Emitter<'e>,
    pub(super) kernel: &'w Kernel,
    pub(super) plan: &'w Plan,
    /// True if machine code makes calls.
    pub(super) has_calls: bool,
    pub(super) calls: Calls,
    pub(super) roots: &'w Roots,
    /// True if accesses test and record which bytes are written.
    pub(super) checked: bool,
    /// In code for quads.
    pub(super) quads: Option<Quads>,
    /// Blocks in which their lanes join, by position.
    pub(super) joining: HashMap<u32, Blk>,
    /// The masks of the arm that is written.
    pub(super) arm: Option<Masks>,
    pub(super) constants: HashMap<u32, Constant>,
    pub(super) holds: Vec<Holds>,
    /// Numbers of single precision that are not subnormal.
    pub(super) flushed: HashSet<Val>,
    pub(super) values: Values,
    /// Groups of accesses by the positions of their first.
    pub(super) found: HashMap<u32, Found>,
    pub(super) context: Val,
    /// The running lane, and the addresses of its cells in the first row and the first double row.
    pub(super) lane: Val,
    pub(super) cells: [Val; 2],
    pub(super) rest: Val,
    pub(super) next_lane: Blk,
    pub(super) stopped: Blk,
    /// The end of the run of a lane after a fault.
    pub(super) failed: Blk,
}

impl<'w, 'e> Writer<'w, 'e> {
    pub(super) fn new(
        e: &'w mut Emitter<'e>,
        kernel: &'w Kernel,
        (plan, roots): (&'w Plan, &'w Roots),
    ) -> Self {
        let constants: HashMap<u32, Constant> =
            kernel.constants.iter().map(|(register, _, constant)| (register.0, *constant)).collect();
        let holds = types::find(kernel, &constants);
        let [context, _, _] = [e.params[0], e.params[1], e.params[2]];
        let [next_lane, stopped, failed] = std::array::from_fn(|_| e.block());
        Writer {
            holds,
            constants,
            values: Values::new(
                MOST_QUADS as u32 * (kernel.rows + kernel.predicates + 1 + plan.arms.masks()),
                context,
            ),
            context,
            lane: context,
            cells: [context; 2],
            rest: context,
            next_lane,
            stopped,
            failed,
            e,
            kernel,
            plan,
            has_calls: support::has_calls(kernel),
            calls: Calls::default(),
            roots,
            checked: false,
            quads: None,
            joining: HashMap::new(),
            flushed: HashSet::new(),
            found: HashMap::new(),
            arm: None,
        }
    }

    /// Writes a choice between two values of a register.
    pub(super) fn select(&mut self, condition: Val, yes: Val, no: Val) -> Val {
        let value = self.e.select(condition, yes, no);
        if self.flushed.contains(&yes) && self.flushed.contains(&no) {
            self.flushed.insert(value);
        }
        value
    }
}
