//! The choice between machine code and rows.
//!
//! Rows compute whole warps at once, and lose where lanes take different ways or reach scattered
//! places. Machine code runs lane by lane, at the same speed in both cases, and loses where lanes
//! often meet. So the loops of a kernel decide.

use super::plan;
use crate::exec::code::Steps;
use crate::exec::code::step::{AccessSpace, Action, Step};
use crate::program::Kernel;
use std::collections::HashSet;

/// True if machine code is expected to be faster than rows: if a loop uses arrays of threads, or takes
/// different ways and reaches scattered places, and no loop contains instructions that the plain mode
/// would run for machine code.
pub(super) fn suits(kernel: &Kernel, steps: &Steps) -> bool {
    let steps = &steps.scalars.as_ref().unwrap_or(&steps.rows).steps;
    let irregular: HashSet<u32> = steps.iter().flat_map(tested_on_rows).collect();
    let mut suits = false;
    for (end, step) in steps.iter().enumerate() {
        let (Action::Branch(target) | Action::Skip(target)) = step.action else { continue };
        let Some(body) = steps.get(target as usize..=end).filter(|body| !body.is_empty()) else { continue };
        let mut traits = Traits::default();
        body.iter().for_each(|step| traits.add(kernel, step, &irregular));
        if traits.stops {
            return false;
        }
        suits |= traits.local || traits.parts && traits.scattered;
    }
    suits
}

/// Traits of a loop.
#[derive(Default)]
struct Traits {
    /// It has an instruction without machine code.
    stops: bool,
    /// It accesses arrays of threads.
    local: bool,
    /// Lanes may leave it at different times, or take different ways in it.
    parts: bool,
    /// Its accesses follow no pattern.
    scattered: bool,
}

impl Traits {
    fn add(&mut self, kernel: &Kernel, step: &Step, irregular: &HashSet<u32>) {
        self.stops |= plan::is_stop(kernel, &kernel.code[step.pc as usize]);
        match &step.action {
            Action::Branch(_) => self.parts |= irregular.contains(&step.guard.predicate()),
            Action::Load(access) | Action::Store(access) => {
                self.local |= access.space == AccessSpace::Local;
                self.scattered = true;
            }
            _ => {}
        }
    }
}

/// Returns the predicates that a step sets lane by lane.
fn tested_on_rows(step: &Step) -> Vec<u32> {
    match &step.action {
        Action::Test { out, .. } | Action::Logic { out, .. } => vec![*out],
        Action::TestAnd(test) => test.inverse.iter().chain([&test.out]).map(|out| out.0).collect(),
        _ => Vec::new(),
    }
}
