//! The loop that runs steps.

use super::super::block::{Block, Stop};
use super::super::memory::Cached;
use super::super::plain::{FUEL, Flow};
use super::super::semantics::{LANES, Width};
use super::affine::TestKind;
use super::gang::{Company, Files, Gang, MOST_WARPS};
use super::memory::Window;
use super::regular::Regular;
use super::translate::{
    AccessSpace, AccessStep, Action, CombinedTest, Guard, ScalarAccess, ScalarStep, ScalarTest, Steps,
};
use crate::program::{Predicate, Register};

impl Block<'_, '_> {
    /// Runs a gang until its members part for good, wait, end or have had their share. Members that only leave it
    /// stand where others will find them.
    pub(super) fn run_steps(&mut self, steps: &Steps, gang: Gang, left: &mut u32) -> Result<(), Stop> {
        let mut gang = gang;
        let code = self.code(steps, &gang);
        let mut files = self.files(steps, &gang);
        let mut company = self.company(&gang);
        let first = gang.members()[0];
        let mut at = code.of_pc[self.warps[first.warp].fragments[first.fragment].pc as usize] as usize;
        let mut used = 0u32;
        loop {
            let step = &code.steps[at];
            used += step.weight;
            match &step.action {
                Action::Pure { run, out, sources, double } => {
                    if self.is_free(&files, step.guard, *out) {
                        // SAFETY: the decoder allotted each register as many rows as the operation's widths say,
                        // and each register file holds all rows of the kernel.
                        unsafe { run(files.rows(), *out, sources) };
                    } else {
                        for warp in 0..files.count {
                            let active = files.active(warp, step.guard);
                            self.merge_after(steps, &files, warp, active, (*out, *double), |file, out| {
                                // SAFETY: as above; the scratch rows are as good as any.
                                unsafe { run(&[file], out, sources) };
                            });
                        }
                    }
                }
                Action::PureLanes { run, out, sources } => {
                    for warp in 0..files.count {
                        let active = files.active(warp, step.guard);
                        // SAFETY: as for `Pure`.
                        unsafe { run(files.rows[warp], *out, *sources, active) };
                    }
                }
                Action::Test { run, sources, out } => {
                    let mut bits = [0; MOST_WARPS];
                    // SAFETY: as for `Pure`; there is a word for each warp.
                    unsafe { run(files.rows(), sources, bits.as_mut_ptr()) };
                    for (warp, bits) in bits.into_iter().enumerate().take(files.count) {
                        files.set_predicate(warp, *out, files.active(warp, step.guard), bits);
                    }
                }
                Action::TestAnd(test) => test_and(&files, test, step.guard),
                Action::Logic { logic, out, a, b } => {
                    for warp in 0..files.count {
                        let bits = logic.apply(files.holds(warp, *a), files.holds(warp, *b));
                        files.set_predicate(warp, *out, files.active(warp, step.guard), bits);
                    }
                }
                Action::Select { out, a, b, condition, double } => {
                    let free = self.is_free(&files, step.guard, *out);
                    for warp in 0..files.count {
                        let active = if free { u32::MAX } else { files.active(warp, step.guard) };
                        let chosen = files.holds(warp, *condition);
                        self.merge_after(steps, &files, warp, active, (*out, *double), |file, out| {
                            let row = |offset: u32| file.wrapping_add(offset as usize);
                            // SAFETY: as for `Pure`.
                            unsafe { steps.blends[usize::from(*double)](row(out), row(*a), row(*b), chosen) };
                        });
                    }
                }
                Action::Load(access) | Action::Store(access) => {
                    let writes = matches!(step.action, Action::Store(_));
                    for warp in 0..files.count {
                        let active = files.active(warp, step.guard);
                        if active != 0 && !self.access_fast(access, files.rows[warp], active, writes) {
                            self.settle(&gang, step.pc, &mut used, left);
                            let member = gang.members()[warp];
                            for pc in access.prepare.into_iter().flatten().chain([step.pc]) {
                                self.step(member.warp, member.fragment, pc, member.mask)?;
                            }
                        }
                    }
                }
                Action::Scalar(scalar) => {
                    let regular = self.is_free(&files, step.guard, scalar.out.row)
                        && scalar.no_wrap.as_ref().is_none_or(|what| self.never_wraps(&files, what));
                    if !regular {
                        used -= step.weight;
                        self.settle(&gang, step.entry, &mut used, left);
                        self.leave_scalars(steps, &gang);
                        return Ok(());
                    }
                    self.run_scalar(steps, &files, scalar);
                    if scalar.expand {
                        for member in gang.members() {
                            self.expand(member.warp, scalar.out);
                        }
                    }
                }
                Action::ScalarTest(test) => self.scalar_test(&files, &gang, test, step.guard),
                Action::ScalarLoad(access) | Action::ScalarStore(access) => {
                    let writes = matches!(step.action, Action::ScalarStore(_));
                    let mut failed = self.regular_access(&files, access, step.guard, writes);
                    while failed != 0 {
                        let warp = failed.trailing_zeros() as usize;
                        failed &= failed - 1;
                        let member = gang.members()[warp];
                        let active = files.active(warp, step.guard);
                        self.expand(member.warp, access.address);
                        if !self.access_fast(&access.by_row, files.rows[warp], active, writes) {
                            self.settle(&gang, step.pc, &mut used, left);
                            self.step(member.warp, member.fragment, step.pc, member.mask)?;
                        }
                    }
                }
                Action::Branch(target) => {
                    let mut taken = [0; MOST_WARPS];
                    let mut any = 0;
                    let mut all = true;
                    for (warp, taken) in taken.iter_mut().enumerate().take(files.count) {
                        *taken = files.active(warp, step.guard);
                        any |= *taken;
                        all &= *taken == files.masks[warp];
                    }
                    if any != 0 {
                        let target = *target as usize;
                        if all {
                            at = target;
                        } else {
                            self.settle(&gang, step.pc, &mut used, left);
                            at = self.part(code, &mut gang, &taken, [at + 1, target]);
                            files = self.files(steps, &gang);
                            let fuel = company.map_or(FUEL, |company| company.fuel);
                            company = self.company(&gang).map(|company| Company { fuel, ..company });
                        }
                        let next = &code.steps[at];
                        if let Some(company) = &mut company {
                            company.fuel -= 1;
                            if company.fuel == 0 {
                                self.settle(&gang, next.entry, &mut used, left);
                                for member in gang.members() {
                                    self.warps[member.warp].fragments[member.fragment].tired = true;
                                }
                                *left = left.saturating_sub(FUEL);
                                return Ok(());
                            }
                            if next.rank >= company.limit {
                                self.settle(&gang, next.entry, &mut used, left);
                                return Ok(());
                            }
                        }
                        if used >= *left {
                            self.settle(&gang, next.entry, &mut used, left);
                            return Ok(());
                        }
                        continue;
                    }
                }
                Action::Barrier(id)
                    if step.guard == Guard::ALWAYS
                        // SAFETY: lane 0 of a row of the kernel.
                        && self.is_everybody(&gang, unsafe { *files.rows[0].wrapping_add(*id as usize) }) => {
                }
                Action::Exit if step.guard == Guard::ALWAYS => {
                    self.settle(&gang, step.pc, &mut used, left);
                    for member in gang.members() {
                        self.exit(member.warp, member.fragment, step.pc, member.mask, member.mask);
                    }
                    return Ok(());
                }
                Action::Shuffle { run, shuffle, inside }
                    if files.full && step.guard == Guard::ALWAYS && !self.launch.options.check_barriers =>
                {
                    for warp in 0..files.count {
                        // SAFETY: as for `Pure`.
                        let bits = unsafe { run(files.rows[warp], shuffle) };
                        if let Some(inside) = inside {
                            files.set_predicate(warp, inside.0, u32::MAX, bits);
                        }
                    }
                }
                Action::Plain { parts: false } => {
                    self.settle(&gang, step.pc, &mut used, left);
                    for member in gang.members() {
                        self.step(member.warp, member.fragment, step.pc, member.mask)?;
                    }
                }
                Action::Plain { parts: true }
                | Action::Barrier(_)
                | Action::Shuffle { .. }
                | Action::Exit => {
                    self.settle(&gang, step.pc, &mut used, left);
                    let mut staying = Gang::default();
                    for member in gang.members() {
                        match self.step(member.warp, member.fragment, step.pc, member.mask)? {
                            Flow::Next => staying.push(*member),
                            Flow::Jump(target) => {
                                self.warps[member.warp].fragments[member.fragment].pc = target;
                            }
                            Flow::Yield => {}
                        }
                    }
                    if staying.members().is_empty() {
                        return Ok(());
                    }
                    if staying.members().len() < gang.members().len() {
                        gang = staying;
                        files = self.files(steps, &gang);
                    }
                }
            }
            at += 1;
            if step.ends_block {
                if let Some(company) = &company {
                    let next = &code.steps[at];
                    if next.rank >= company.limit {
                        self.settle(&gang, next.entry, &mut used, left);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Runs an operation on the first lanes of a gang's warps.
    #[inline(always)]
    fn run_scalar(&self, steps: &Steps, files: &Files, scalar: &ScalarStep) {
        let file = files.firsts;
        match scalar.run {
            // SAFETY: the file of the first lanes has the rows of any register file of the kernel.
            Ok(run) if files.whole_group => unsafe { run(&[file], scalar.out.row, &scalar.sources) },
            Ok(run) => {
                // SAFETY: as above; the scratch rows are as good as any.
                unsafe { run(&[file], self.scratch, &scalar.sources) };
                let row = |offset: u32| file.wrapping_add(offset as usize);
                let (out, scratch) = (row(scalar.out.row), row(self.scratch));
                let blend = steps.blends[usize::from(scalar.out.width == Width::Double)];
                // SAFETY: the result and the scratch rows are as wide as the operation's result.
                unsafe { blend(out, scratch, out, files.first_lanes) };
            }
            Err(run) => {
                let register = |row: u32| Register(row / LANES as u32);
                // SAFETY: as above.
                unsafe {
                    run(file, register(scalar.out.row), scalar.sources.map(register), files.first_lanes)
                };
            }
        }
    }

    /// Runs a comparison for each warp of a gang as a whole, where that is possible.
    fn scalar_test(&mut self, files: &Files, gang: &Gang, test: &ScalarTest, guard: Guard) {
        let mut uniform = 0;
        if test.kind == TestKind::Uniform {
            // SAFETY: the file of the first lanes has the rows of any register file of the kernel.
            unsafe { (test.run)(&[files.firsts], &test.sources(), &mut uniform) };
        }
        for (warp, member) in gang.members().iter().enumerate() {
            let all = match test.kind {
                TestKind::Uniform => Some(uniform >> (member.warp % MOST_WARPS) & 1 != 0),
                TestKind::Range(comparison) => self.compare_spans(files, warp, comparison, test.operands),
            };
            let bits = match all {
                Some(true) => u32::MAX,
                Some(false) => 0,
                None => {
                    test.operands.iter().for_each(|operand| self.expand(member.warp, *operand));
                    let mut bits = 0;
                    // SAFETY: as for `Action::Pure`; there is one warp, so one word.
                    unsafe { (test.run)(&[files.rows[warp]], &test.sources(), &mut bits) };
                    bits
                }
            };
            files.set_predicate(warp, test.out, files.active(warp, guard), bits);
        }
    }

    /// Runs an access at a regular address. Returns the warps for which that is not possible, a bit each.
    #[inline(always)]
    fn regular_access(&mut self, files: &Files, step: &ScalarAccess, guard: Guard, writes: bool) -> u32 {
        let access = &step.by_row.access;
        let Some(window) = self.window(&step.by_row, writes) else { return u32::MAX >> (32 - files.count) };
        let growth = &self.scalars.growths[step.address.shape as usize];
        let bytes = access.bytes * access.elements;
        let mut regular = Regular {
            firsts: [0; MOST_WARPS],
            masks: [0; MOST_WARPS],
            window,
            pattern: self.scalars.patterns[step.pattern as usize],
            growth: &growth.wide,
            least: growth.least,
            most: growth.most,
            free: !writes
                && (0..access.elements as usize).all(|at| self.is_free(files, guard, access.registers[at])),
        };
        for warp in 0..files.count {
            regular.masks[warp] = files.active(warp, guard);
            let first = files.first_lane(warp, step.address);
            let wraps = step.address.width != Width::Double
                && (first as i64 + growth.least < 0 || first as i64 + growth.most > i64::from(u32::MAX));
            // No region lies there.
            regular.firsts[warp] = if wraps { u64::MAX } else { first.wrapping_add(access.offset) };
        }
        if !writes && step.by_row.space == AccessSpace::Global {
            let last = regular.firsts[files.count - 1];
            let end = last.wrapping_add_signed(growth.most).wrapping_add(bytes.into());
            look_ahead(&mut self.caches[step.by_row.cache as usize], regular.firsts[0], end);
        }
        // SAFETY: each register file holds all rows of the kernel; the window is live, and writable if it is written
        // to.
        unsafe { (step.run)(files.rows(), access, &regular) }
    }

    /// The memory that an access found last, if it may go there.
    #[inline(always)]
    fn window(&mut self, step: &AccessStep, writes: bool) -> Option<Window> {
        match step.space {
            AccessSpace::Shared => Some(Window {
                base: 0,
                len: self.launch.shared_bytes.into(),
                host: self.shared.as_mut_ptr().cast(),
            }),
            AccessSpace::Global => {
                let Cached { base, len, host, writable, tracked, .. } = self.caches[step.cache as usize];
                (!tracked && (writable || !writes)).then_some(Window { base, len, host })
            }
        }
    }

    /// Runs something that writes a single or double row, for the lanes of a mask only.
    #[inline(always)]
    fn merge_after(
        &self,
        steps: &Steps,
        files: &Files,
        warp: usize,
        active: u32,
        (out, double): (u32, bool),
        run: impl Fn(*mut u32, u32),
    ) {
        let file = files.rows[warp];
        match active {
            0 => {}
            u32::MAX => run(file, out),
            _ => {
                let scratch = self.scratch;
                run(file, scratch);
                let row = |offset: u32| file.wrapping_add(offset as usize);
                // SAFETY: the result and the scratch rows are as wide as the operation's result.
                unsafe { steps.blends[usize::from(double)](row(out), row(scratch), row(out), active) };
            }
        }
    }

    /// Runs an access on the region that the instruction found last. `false` if the plain mode has to.
    #[inline(always)]
    fn access_fast(&mut self, step: &AccessStep, file: *mut u32, active: u32, writes: bool) -> bool {
        let Some(window) = self.window(step, writes) else { return false };
        // SAFETY: the register file holds all rows of the kernel; the window is shared memory of this block or a
        // live region, writable if it is written to.
        unsafe { (step.run)(file, &step.access, &window, active) }
    }
}

/// The most bytes that are fetched ahead: what a gang takes at once from neighbouring addresses.
const MOST_AHEAD: u64 = 2048;
/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Fetches what a load will want next if it goes on in steps of the same length, with the addresses it goes to now.
/// Steps are often too long for the processor to foresee, and a whole gang would wait.
#[inline(always)]
fn look_ahead(cached: &mut Cached, first: u64, end: u64) {
    let stride = first.wrapping_sub(cached.last);
    let steady = stride == cached.stride;
    (cached.last, cached.stride) = (first, stride);
    let bytes = end.wrapping_sub(first);
    if steady && stride != 0 && bytes <= MOST_AHEAD {
        let next = first.wrapping_add(stride).wrapping_sub(cached.base) as usize;
        for line in (0..bytes as usize).step_by(LINE) {
            prefetch(cached.host.wrapping_add(next).wrapping_add(line));
        }
    }
}

/// Asks for memory to be brought into the cache. Any address will do.
#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which has no effect at addresses that cannot be read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

fn test_and(files: &Files, test: &CombinedTest, guard: Guard) {
    for warp in 0..files.count {
        let mut bits = 0;
        // SAFETY: as for `Action::Pure`; there is one warp, so one word.
        unsafe { (test.run)(&[files.rows[warp]], &test.sources, &mut bits) };
        let (mut yes, mut no) = (bits, !bits);
        if let Some((logic, condition)) = test.combine {
            let other = files.holds(warp, condition);
            (yes, no) = (logic.apply(yes, other), logic.apply(no, other));
        }
        let active = files.active(warp, guard);
        files.set_predicate(warp, test.out.0, active, yes);
        if let Some(Predicate(inverse)) = test.inverse {
            files.set_predicate(warp, inverse, active, no);
        }
    }
}
