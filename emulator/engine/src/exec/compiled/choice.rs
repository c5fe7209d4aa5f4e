//! The choice between machine code and rows.
//!
//! Rows compute whole warps at once, and lose where lanes take different ways, reach scattered places
//! or need a function for each lane. Machine code runs lane by lane, and loses where all lanes do the
//! same, or often meet. An estimate of both costs decides. It depends only on the code of the kernel,
//! so all runs of a program choose alike.

use crate::exec::code::Steps;
use crate::exec::code::step::{AccessSpace, Action, Step};
use crate::program::Kernel;
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
    let irregular: HashSet<u32> = steps.iter().flat_map(tested_on_rows).collect();
    let parts: Vec<bool> = steps.iter().map(|step| parts(step, &irregular)).collect();
    let loops = Loops::of(steps, &parts);
    let (mut rows, mut machine) = (0, 0);
    for (index, step) in steps.iter().enumerate() {
        let [on_rows, in_machine] = costs(&step.action, parts[index]);
        let runs = |loops: u32| RUNS.pow(loops.min(MOST_LOOPS));
        let (all, parted) = (runs(loops.all[index]), runs(loops.parted[index]));
        // In a loop that lanes leave at different times, rows run for some lanes only.
        rows += on_rows * (2 * all + parted - 1);
        machine += in_machine * 2 * all;
    }
    rows > machine
}

/// Returns the costs of a step on rows, and in machine code, for one lane. They were fitted to the
/// times of the kernels of the bench in both modes.
fn costs(action: &Action, parts: bool) -> [u64; 2] {
    match action {
        Action::Pure { double: false, .. } => [5, 10],
        Action::Pure { double: true, .. } => [7, 5],
        Action::PureLanes { .. } => [80, 40],
        Action::Test { .. } | Action::TestAnd(_) | Action::Logic { .. } => [6, 4],
        Action::Select { .. } => [6, 10],
        Action::Load(access) | Action::Store(access) => match access.space {
            AccessSpace::Global => [56, 10],
            AccessSpace::Local => [80, 20],
            AccessSpace::Shared | AccessSpace::Param => [20, 10],
        },
        Action::Atomic(atomic) if atomic.space == AccessSpace::Shared => [130, 30],
        Action::Atomic(_) => [280, 30],
        Action::ScalarLoad(_) | Action::ScalarStore(_) | Action::UniformLoad(_) => [8, 20],
        Action::Scalar(_) | Action::ScalarTest(_) => [1, 5],
        Action::Branch(_) | Action::Skip(_) if parts => [14, 10],
        Action::Arm { .. } => [2, 10],
        Action::Branch(_) | Action::Skip(_) => [2, 14],
        Action::Collective(_) | Action::Shuffle { .. } | Action::Barrier(_) => [20, 600],
        Action::ActiveMask(_) => [5, 600],
        Action::Fence(_) => [5, 50],
        Action::Plain { .. } => [80, 56],
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

/// Returns the predicates that a step sets lane by lane.
fn tested_on_rows(step: &Step) -> Vec<u32> {
    match &step.action {
        Action::Test { out, .. } | Action::Logic { out, .. } => vec![*out],
        Action::TestAnd(test) => test.inverse.iter().chain([&test.out]).map(|out| out.0).collect(),
        _ => Vec::new(),
    }
}
