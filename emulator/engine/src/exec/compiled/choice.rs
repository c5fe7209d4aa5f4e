//! The choice between machine code and rows.
//!
//! Rows compute whole warps at once, and lose where lanes take different ways, reach scattered
//! places or need a function for each lane. Machine code loses where lanes often meet: lane by lane
//! also where all do the same, and for quads where the lanes of a quad part. An estimate of the
//! costs decides. It depends only on the code of the kernel and on the size of its blocks, so all
//! runs of a program choose alike.

use super::code::Form;
use super::loops;
use super::plan::Plan;
use super::quads::{Crossings, OCTET, Shape};
use super::support::{self, Area};
use crate::exec::code::Steps;
use crate::exec::code::step::{AccessSpace, Action, Step};
use crate::program::Kernel;
use crate::program::effects::{self, Course};
use crate::program::instruction::{Callee, Condition, Instruction, Op};
use crate::semantics::lower::Lower;
use crate::semantics::{LANES, PureInfo, Width};
use std::collections::{HashMap, HashSet};

/// Assumed number of runs of the body of a loop.
const RUNS: u64 = 4;
/// Maximum number of loops in each other that count.
const MOST_LOOPS: u32 = 3;

/// Costs of the start of a lane, beyond its start on rows.
const START: Costs = Costs { rows: 0, lanes: 45, quads: 40, saved: 45 };

/// Costs of rows, in 256ths: for each thread of the whole warps, and for a block, whose warps share
/// a part of each step. A block of [`FULL`] threads has the costs of the steps. Measured with four
/// kernels in blocks of 16 to 512 threads.
const BY_THREAD: u64 = 227;
const BY_BLOCK: u64 = 7500;
/// Number of threads of a block from which on rows cost each the same.
const FULL: u64 = 256;

/// Cost of machine code that is not optimized, as a multiple. Three kernels took 1.6 to 2.8 times
/// as long without; larger ones take more for each instruction, with 10,400 more than five times.
const NOT_OPTIMIZED: u64 = 5;

/// Number of live registers beyond which quads, whose vectors then are mostly in memory, take
/// [`CROWDED`] times as long as estimated: four kernels with 74 to 197 took 1.8 to 3.7 times.
const MANY_LIVE: usize = 64;
const CROWDED: u64 = 2;

/// Costs of octets as a part of the costs of quads, and the maximum numbers of vectors of a quad
/// that are live at an instruction, in the mean, and of instructions as [`Plan::effort`] counts
/// them, of kernels for which octets are chosen. Of 137 kernels, 108 are faster in octets, and all
/// are 1.15 times as fast in the mean; six of eight with more vectors are not, and six of the
/// seven with local memory, which each lane accesses for itself. They take 1.7 times as long to
/// compile.
const OF_QUADS: [u64; 2] = [7, 8];
const MOST_VECTORS: usize = 17;
const MOST_EFFORT: u64 = 1000;

/// The costs of a shuffle or vote in registers, and of an access of a whole warp at irregular
/// distances in addition to its cost in octets: a compaction with two takes 1.3 times as long as on
/// rows.
const EXCHANGE: u64 = 6;
const APART: u64 = 300;

/// The same maximum numbers for kernels for which whole warps are chosen, with exchanges between
/// lanes and without, and the maximum number of accesses whose places are not at regular distances,
/// which each lane finds alone. Of 46 kernels by an independent reader, seven stay with them, 1.15
/// to 6.3 times as fast as before. They take two to six times as long to compile.
const MOST_VECTORS_OF_WARPS: [usize; 2] = [7, 2];
const MOST_EFFORT_OF_WARPS: u64 = 500;
const MOST_APART: u64 = 4;

/// Classes of blocks by their size.
pub(super) const CLASSES: usize = 5;

/// Returns the class of blocks of so many threads.
pub(super) fn class(threads: u32) -> usize {
    (threads.clamp(16, 256).next_power_of_two().ilog2() - 4) as usize
}

/// The forms of machine code that are expected to be faster than rows; `None` is rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) form: Option<Form>,
    /// The form if lanes of a warp often part, or if blocks have no whole warps.
    pub(super) less: Option<Form>,
    /// The form if there is no code for quads.
    pub(super) single: Option<Form>,
    /// The form if the premises of octets often fail.
    pub(super) careful: Option<Form>,
    /// The form if the lanes of quads often part; `None` to stay with quads, because rows run their
    /// paths one after the other.
    pub(super) parted: Option<Form>,
}

impl Choice {
    pub(super) const ROWS: Choice = Choice::always(None);
    pub(super) const LANES: Choice = Choice::always(Some(Form::Lanes));

    /// Returns the choice of a form whatever happens.
    pub(super) const fn always(form: Option<Form>) -> Choice {
        Choice { form, less: form, single: form, careful: form, parted: form }
    }
}

/// Returns the forms for blocks of a class.
pub(super) fn find(kernel: &Kernel, steps: &Steps, class: usize) -> Choice {
    // Calls are jumps in machine code, and run one path after the other on rows.
    if !kernel.functions.is_empty() && calls_always(kernel) {
        return Choice::LANES;
    }
    let Costs { mut rows, mut lanes, mut quads, saved } = total(kernel, steps);
    let threads = 16 << class;
    rows = rows * (BY_THREAD * threads.max(32) + BY_BLOCK) / (FULL * threads);
    if lanes.min(quads) < rows {
        let plan = Plan::of(kernel, 1);
        lanes *= if plan.as_ref().is_some_and(|plan| plan.is_large) { NOT_OPTIMIZED } else { 1 };
        quads *= if plan.is_some_and(|plan| plan.live.most > MANY_LIVE) { CROWDED } else { 1 };
    }
    // Quads whose lanes call a function after all part, so single lanes are the next choice.
    let calls = !kernel.functions.is_empty();
    let single = (calls || lanes < rows).then_some(Form::Lanes);
    // Rows take longer than this estimate too then.
    let parted = (calls || lanes < rows * 3 / 2).then_some(Form::Lanes);
    let others = if calls { lanes } else { rows.min(lanes) };
    let octets = quads * OF_QUADS[0] / OF_QUADS[1];
    let careful = if octets < others { Some(Form::Quads) } else { single };
    let less = if octets < others && suit_octets(kernel) { Some(Form::Octets) } else { careful };
    let whole = quads.saturating_sub(saved) * OF_QUADS[0] / OF_QUADS[1];
    let fits = threads >= LANES as u64 && less != Some(Form::Lanes) && !calls;
    let exchanges = saved > START.saved;
    let suits = |apart: u64| whole + apart * APART < others.min(octets);
    let form =
        if fits && suits(0) && suit_warps(kernel, exchanges, suits) { Some(Form::Warps) } else { less };
    Choice { form, less, single, careful, parted }
}

/// Returns the costs of a kernel without its functions.
fn total(kernel: &Kernel, steps: &Steps) -> Costs {
    let steps = &steps.scalars.as_ref().unwrap_or(&steps.rows).steps;
    let irregular: HashSet<u32> = steps.iter().flat_map(Step::tested_on_rows).collect();
    let parts: Vec<bool> = steps.iter().map(|step| parts(step, &irregular)).collect();
    let loops = Loops::of(steps, &parts);
    let mut total = START;
    let code = support::own_code(kernel);
    let crossings = Crossings::of(kernel);
    for (index, step) in steps.iter().enumerate().filter(|(_, step)| (step.pc as usize) < code) {
        let costs = match (&step.action, &kernel.code[step.pc as usize].op) {
            (Action::Pure { .. }, Op::Pure { info, .. }) => of_operation(info),
            (Action::PureLanes { .. }, Op::Pure { info, .. }) if matches!(info.lower, Lower::Dot { .. }) => {
                Costs { rows: 34, ..of_operation(info) }
            }
            // At the end of a loop, lanes part once.
            (Action::Branch(target) | Action::Skip(target), _)
                if parts[index] && loops.ends_at(index, *target as usize) =>
            {
                Costs::of([15, 9, 13])
            }
            (_, Op::Carry(_)) => Costs::of([62, 60, 160]),
            // Halves are added by a comparison and an exchange, until it has succeeded.
            (Action::Atomic(step), Op::Atomic(atomic))
                if step.space != AccessSpace::Shared
                    && atomic.ty.is_float()
                    && !support::adds_number(atomic) =>
            {
                Costs::of([153, 180, 360])
            }
            (action, _) => of_action(action, parts[index]),
        };
        let runs = |loops: u32| RUNS.pow(loops.min(MOST_LOOPS));
        let (all, parted) = (runs(loops.all[index]), runs(loops.parted[index]));
        // In a loop that lanes leave at different times, rows run for some lanes only.
        total.rows += costs.rows * (2 * all + parted - 1);
        total.lanes += costs.lanes * 2 * all;
        total.quads += costs.quads * 2 * all;
        if crossings.contains(step.pc) {
            total.saved += costs.quads.saturating_sub(EXCHANGE) * 2 * all;
        }
    }
    total
}

/// True if a kernel calls functions whatever its lanes decide. Compilers make branches over calls
/// for rare cases, such as the sine of a large number.
fn calls_always(kernel: &Kernel) -> bool {
    let code = &kernel.code[..support::own_code(kernel)];
    let loops: Vec<(usize, usize)> = loops::ends(kernel).collect();
    let leaves = |pc: usize, target: usize| {
        let exits = code.get(target).is_none_or(|next| matches!(next.op, Op::Exit));
        exits || loops.iter().any(|(first, end)| (*first..=*end).contains(&pc) && target > *end)
    };
    // The last place to which a branch goes that leaves neither a loop nor the kernel.
    let mut skipped = 0;
    for (pc, next) in code.iter().enumerate() {
        let calls = matches!(&next.op, Op::Call(call) if !matches!(call.callee, Callee::System(_)));
        if calls && pc >= skipped {
            return true;
        }
        if let (Course::Jump(targets), true) = (effects::course(&next.op), next.guard != Condition::ALWAYS) {
            let targets = targets.iter().map(|target| *target as usize);
            skipped = targets.filter(|target| !leaves(pc, *target)).fold(skipped, usize::max);
        }
    }
    false
}

/// True if eight lanes at a time are expected to be faster than four.
fn suit_octets(kernel: &Kernel) -> bool {
    let local = |op: &Op| match op {
        Op::Load(access) | Op::Store(access) => Area::of(access.space) == Area::Local,
        _ => false,
    };
    let vectors =
        |plan: Plan| plan.live.vectors <= MOST_VECTORS * kernel.code.len() && plan.effort() <= MOST_EFFORT;
    !kernel.code[..support::own_code(kernel)].iter().any(|next| local(&next.op))
        && Plan::of(kernel, OCTET).is_some_and(vectors)
}

/// True if all lanes of a warp at a time are expected to be faster than eight.
fn suit_warps(kernel: &Kernel, exchanges: bool, suits: impl Fn(u64) -> bool) -> bool {
    let vectors = MOST_VECTORS_OF_WARPS[usize::from(!exchanges)];
    let apart = |plan: &Plan| {
        let shapes = plan.shapes.as_ref();
        let varies = |next: &&Instruction| match &next.op {
            Op::Load(access) | Op::Store(access) => {
                shapes.is_none_or(|shapes| shapes.at(access.address.base.0) == Shape::Varies)
            }
            Op::Atomic(_) => true,
            _ => false,
        };
        kernel.code.iter().filter(varies).count() as u64
    };
    let fits = |plan: Plan| {
        let few = plan.live.vectors <= vectors * kernel.code.len() && plan.effort() <= MOST_EFFORT_OF_WARPS;
        let apart = apart(&plan);
        few && apart <= MOST_APART && suits(apart)
    };
    kernel.code.len() as u64 <= MOST_EFFORT_OF_WARPS && Plan::of(kernel, LANES).is_some_and(fits)
}

/// Estimated costs for one lane, in each mode.
#[derive(Clone, Copy)]
struct Costs {
    rows: u64,
    lanes: u64,
    quads: u64,
    /// The part of quads that whole warps save: they start once, and exchange numbers in registers.
    saved: u64,
}

impl Costs {
    const fn of([rows, lanes, quads]: [u64; 3]) -> Costs {
        Costs { rows, lanes, quads, saved: 0 }
    }
}

/// Returns the costs of an operation. On rows they are about the numbers of instructions for a
/// vector of lanes; machine code tests the results of floats for NaNs.
fn of_operation(info: &PureInfo) -> Costs {
    let is_wide = info.out == Width::Double || info.sources[0] == Width::Double;
    let is_float = info.formats[0].is_some();
    Costs::of(match info.lower {
        Lower::MulLow | Lower::MadLow if is_wide => [24, 4, 4],
        Lower::IntToFloat | Lower::FloatToInt(..) | Lower::FloatToWhole(..) | Lower::FloatToFloat(_) => {
            [6, 9, 6]
        }
        Lower::Dot { .. } => [12, 22, 4],
        // Rows have vectors, where machine code makes a call for each lane.
        Lower::Call => [6, 130, 200],
        // Machine code has vectors of two.
        Lower::Elementary(..) => [6, 230, 200],
        Lower::Directed(..) => [9, 160, 150],
        Lower::Div | Lower::Rem => [25, 13, 19],
        _ if is_float && is_wide => [9, 10, 3],
        _ if is_float => [5, 21, 3],
        Lower::MulHigh | Lower::MadHigh if !is_wide => [6, 14, 24],
        Lower::MulLow | Lower::MadLow => [3, 10, 2],
        _ if is_wide => [8, 3, 3],
        _ => [5, 4, 1],
    })
}

/// Returns the costs of another step. All costs were fitted to the times of the kernels of the
/// bench and of 38 others in these modes.
fn of_action(action: &Action, parts: bool) -> Costs {
    Costs::of(match action {
        Action::Pure { .. } => [5, 4, 1],
        Action::PureLanes { .. } => [34, 66, 38],
        Action::Test { .. } | Action::TestAnd(_) | Action::Logic { .. } => [6, 3, 3],
        Action::Select { .. } => [3, 11, 2],
        Action::Load(access) if access.space == AccessSpace::Global => [22, 6, 18],
        Action::Store(access) if access.space == AccessSpace::Global => [37, 6, 20],
        Action::Load(access) | Action::Store(access) if access.space == AccessSpace::Local => [120, 18, 11],
        Action::Load(access) | Action::Store(access) if access.access.bytes < 4 => [46, 10, 13],
        Action::Load(_) | Action::Store(_) => [26, 10, 13],
        Action::Atomic(atomic) if atomic.space == AccessSpace::Shared => [181, 32, 28],
        Action::Atomic(_) => [153, 40, 75],
        // Rows take the elements of each lane apart.
        Action::ScalarLoad(access) | Action::ScalarStore(access) if access.by_row.access.elements > 1 => {
            [46, 14, 14]
        }
        Action::ScalarLoad(access) if access.by_row.space == AccessSpace::Shared => [10, 10, 6],
        Action::ScalarStore(access) if access.by_row.space == AccessSpace::Shared => [8, 10, 13],
        // Lane by lane, the lines of memory are read again and again.
        Action::ScalarLoad(_) => [10, 59, 6],
        Action::ScalarStore(_) => [8, 37, 24],
        Action::UniformLoad(load) if load.access.by_row.space == AccessSpace::Shared => [12, 10, 6],
        Action::UniformLoad(_) => [12, 30, 6],
        Action::Scalar(_) | Action::ScalarSelect(_) | Action::ScalarTest(_) => [1, 9, 1],
        Action::Branch(_) | Action::Skip(_) if parts => [56, 9, 36],
        Action::Arm { .. } => [2, 10, 4],
        Action::Branch(_) | Action::Skip(_) => [2, 13, 4],
        Action::Barrier(_) => [41, 250, 130],
        Action::Shuffle(_) => [42, 525, 470],
        Action::Collective(_) => [46, 346, 220],
        Action::ActiveMask(_) => [5, 346, 220],
        Action::Fence(_) => [5, 54, 15],
        Action::Plain { .. } => [62, 60, 65],
        Action::Exit => [0, 0, 0],
    })
}

/// The number of loops around each step.
struct Loops {
    all: Vec<u32>,
    /// Loops in which lanes may take different ways.
    parted: Vec<u32>,
    /// The first and the last step of each.
    ends: HashMap<usize, usize>,
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
        let places = |(first, end): (&usize, &usize)| (*first, *end);
        Loops {
            all: loops::around(ends.iter().map(places), steps.len()),
            parted: loops::around(ends.iter().filter(parted).map(places), steps.len()),
            ends,
        }
    }

    /// True if a branch repeats a loop, or leaves one.
    fn ends_at(&self, index: usize, target: usize) -> bool {
        let leaves = |(first, end): (&usize, &usize)| (*first..=*end).contains(&index) && target > *end;
        target <= index || self.ends.iter().any(leaves)
    }
}

/// True if lanes may take different ways at a branch.
fn parts(step: &Step, irregular: &HashSet<u32>) -> bool {
    matches!(step.action, Action::Branch(_) | Action::Skip(_)) && irregular.contains(&step.guard.predicate())
}
