//! The choice between machine code and rows.
//!
//! Rows compute whole warps at once, and lose where lanes take different ways, reach scattered
//! places or need a function for each lane. Machine code runs lane by lane, and loses where all
//! lanes do the same, or often meet. An estimate of both costs decides. It depends only on the code
//! of the kernel, so all runs of a program choose alike.

use crate::exec::code::Steps;
use crate::exec::code::step::{AccessSpace, Action, Step};
use crate::program::Kernel;
use crate::program::instruction::Op;
use crate::semantics::lower::Lower;
use crate::semantics::{PureInfo, Width};
use std::collections::{HashMap, HashSet};

/// Assumed number of runs of the body of a loop.
const RUNS: u64 = 8;
/// Maximum number of loops in each other that count.
const MOST_LOOPS: u32 = 3;

/// True if machine code is expected to be faster than rows.
pub(super) fn suits(kernel: &Kernel, steps: &Steps) -> bool {
    // Calls are jumps in machine code, and run one path after the other on rows.
    if !kernel.functions.is_empty() {
        return true;
    }
    let steps = &steps.scalars.as_ref().unwrap_or(&steps.rows).steps;
    let irregular: HashSet<u32> = steps.iter().flat_map(Step::tested_on_rows).collect();
    let parts: Vec<bool> = steps.iter().map(|step| parts(step, &irregular)).collect();
    let loops = Loops::of(steps, &parts);
    let (mut rows, mut machine) = (0, 0);
    for (index, step) in steps.iter().enumerate() {
        let [on_rows, in_machine] = match (&step.action, &kernel.code[step.pc as usize].op) {
            (Action::Pure { .. }, Op::Pure { info, .. }) => costs_of_operation(info),
            (action, _) => costs(action, parts[index]),
        };
        let runs = |loops: u32| RUNS.pow(loops.min(MOST_LOOPS));
        let (all, parted) = (runs(loops.all[index]), runs(loops.parted[index]));
        // In a loop that lanes leave at different times, rows run for some lanes only.
        rows += on_rows * (2 * all + parted - 1);
        machine += in_machine * 2 * all;
    }
    rows > machine
}

/// Returns the costs of an operation on rows, and in machine code, for one lane. On rows they are
/// about the numbers of instructions for a vector of lanes; machine code tests the results of
/// floats for NaNs.
fn costs_of_operation(info: &PureInfo) -> [u64; 2] {
    let is_wide = info.out == Width::Double || info.sources[0] == Width::Double;
    match info.lower {
        Lower::MulLow | Lower::MadLow if is_wide => [24, 4],
        Lower::IntToFloat | Lower::FloatToInt(_) | Lower::FloatToWhole(_) | Lower::FloatToFloat => [12, 8],
        _ if info.formats[0].is_some() => [if is_wide { 8 } else { 5 }, if is_wide { 6 } else { 13 }],
        Lower::MulLow | Lower::MadLow | Lower::MulHigh | Lower::MadHigh if !is_wide => [6, 10],
        _ if is_wide => [8, 4],
        Lower::Call => [5, 13],
        _ => [6, 7],
    }
}

/// Returns the costs of another step. All costs were fitted to the times of the kernels of the
/// bench in both modes.
fn costs(action: &Action, parts: bool) -> [u64; 2] {
    match action {
        Action::Pure { .. } => [6, 7],
        Action::PureLanes { .. } => [60, 40],
        Action::Test { .. } | Action::TestAnd(_) | Action::Logic { .. } => [6, 4],
        Action::Select { .. } => [6, 10],
        Action::Load(access) | Action::Store(access) => match access.space {
            AccessSpace::Global => [38, 8],
            AccessSpace::Local => [120, 16],
            AccessSpace::Shared | AccessSpace::Param => [26, 10],
        },
        Action::Atomic(atomic) if atomic.space == AccessSpace::Shared => [110, 35],
        Action::Atomic(_) => [160, 40],
        // Rows take the elements of each lane apart.
        Action::ScalarLoad(access) | Action::ScalarStore(access) if access.by_row.access.elements > 1 => {
            [40, 14]
        }
        Action::ScalarLoad(_) | Action::ScalarStore(_) | Action::UniformLoad(_) => [12, 30],
        Action::Scalar(_) | Action::ScalarSelect(_) | Action::ScalarTest(_) => [1, 5],
        Action::Branch(_) | Action::Skip(_) if parts => [14, 10],
        Action::Arm { .. } => [2, 10],
        Action::Branch(_) | Action::Skip(_) => [2, 14],
        Action::Collective(_) | Action::Shuffle { .. } | Action::Barrier(_) => [50, 600],
        Action::ActiveMask(_) => [5, 600],
        Action::Fence(_) => [5, 50],
        Action::Plain { .. } => [70, 60],
        Action::Exit => [0, 0],
    }
}

/// The number of loops around each step.
struct Loops {
    all: Vec<u32>,
    /// Loops in which lanes may take different ways.
    parted: Vec<u32>,
}

impl Loops {
    fn of(steps: &[Step], parts: &[bool]) -> Loops {
        let mut ends: HashMap<usize, usize> = HashMap::new();
        for (end, step) in steps.iter().enumerate() {
            if let Action::Branch(target) | Action::Skip(target) = step.action {
                if target as usize <= end {
                    ends.insert(target as usize, end);
                }
            }
        }
        // The number of steps before each that part lanes.
        let mut before = vec![0];
        before.extend(parts.iter().scan(0, |count, parts| {
            *count += u32::from(*parts);
            Some(*count)
        }));
        let parted = |(first, end): &(&usize, &usize)| before[**end + 1] > before[**first];
        Loops {
            all: Self::around(ends.iter(), steps.len()),
            parted: Self::around(ends.iter().filter(parted), steps.len()),
        }
    }

    fn around<'a>(loops: impl Iterator<Item = (&'a usize, &'a usize)>, count: usize) -> Vec<u32> {
        let mut changes = vec![0i64; count + 1];
        for (first, end) in loops {
            changes[*first] += 1;
            changes[end + 1] -= 1;
        }
        let mut depth = 0;
        let sum = |change: &i64| {
            depth += change;
            depth as u32
        };
        changes[..count].iter().map(sum).collect()
    }
}

/// True if lanes may take different ways at a branch.
fn parts(step: &Step, irregular: &HashSet<u32>) -> bool {
    matches!(step.action, Action::Branch(_) | Action::Skip(_)) && irregular.contains(&step.guard.predicate())
}
