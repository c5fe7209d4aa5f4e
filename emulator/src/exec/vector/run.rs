//! The loop that runs steps.

use super::super::block::{Block, Stop};
use super::super::memory::Cached;
use super::super::plain::{FUEL, Flow};
use super::super::warp::Wait;
use super::memory::Window;
use super::translate::{AccessSpace, AccessStep, Action, CombinedTest, Guard, Steps};
use crate::program::Predicate;

/// The most warps in a gang: enough to make the cost of a step negligible, few enough for their registers to stay in
/// the cache.
pub(in crate::exec) const MOST_WARPS: usize = 8;

/// Warps that run together.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Gang {
    pub(in crate::exec) first: usize,
    pub(in crate::exec) count: usize,
}

/// Registers and predicates of the warps of a gang.
struct Files {
    rows: [*mut u32; MOST_WARPS],
    predicates: [*mut u32; MOST_WARPS],
    count: usize,
}

impl Files {
    fn rows(&self) -> &[*mut u32] {
        &self.rows[..self.count]
    }

    /// The lanes of `mask` where a guard holds, in one of the warps.
    #[inline(always)]
    fn lanes(&self, warp: usize, guard: Guard, mask: u32) -> u32 {
        // SAFETY: the pointer is to all predicates of the kernel.
        mask & unsafe { guard.lanes(self.predicates[warp]) }
    }

    #[inline(always)]
    fn predicate(&self, warp: usize, predicate: u32) -> *mut u32 {
        self.predicates[warp].wrapping_add(predicate as usize)
    }

    #[inline(always)]
    fn set_predicate(&self, warp: usize, predicate: u32, mask: u32, bits: u32) {
        let cell = self.predicate(warp, predicate);
        // SAFETY: the predicates hold all that the kernel names.
        let old = unsafe { *cell };
        // SAFETY: as above.
        unsafe { *cell = (old & !mask) | (bits & mask) };
    }
}

/// Where a fragment goes on if others of its warp are to be run first.
#[derive(Clone, Copy)]
struct Company {
    /// The lowest rank that another fragment stands at.
    limit: u32,
    /// Branches left until others get a turn.
    fuel: u32,
}

impl Block<'_, '_> {
    /// Whether the warps of a gang stand at the same instruction, with all lanes.
    pub(in crate::exec) fn is_together(&self, gang: Gang) -> bool {
        let mut place = None;
        self.warps[gang.first..gang.first + gang.count].iter().all(|warp| match &warp.fragments[..] {
            [only] => {
                only.mask == u32::MAX
                    && only.wait == Wait::Ready
                    && only.frame.is_none()
                    && *place.get_or_insert(only.pc) == only.pc
            }
            _ => false,
        })
    }

    /// Runs the warps of a gang, which are together, or a fragment of one warp, until they part, wait, end or have
    /// had their share.
    pub(in crate::exec) fn run_steps(
        &mut self,
        code: &Steps,
        gang: Gang,
        index: usize,
        left: &mut u32,
    ) -> Result<(), Stop> {
        let mut files = self.files(gang);
        let (pc, mask) = {
            let fragment = &self.warps[gang.first].fragments[index];
            (fragment.pc, fragment.mask)
        };
        let full = mask == u32::MAX;
        let mut company = self.company(gang, index);
        let mut at = code.of_pc[pc as usize] as usize;
        let mut used = 0u32;
        loop {
            let step = &code.steps[at];
            used += step.weight;
            match &step.action {
                Action::Pure { run, out, sources, double } => {
                    if full && step.guard == Guard::ALWAYS {
                        // SAFETY: the decoder allotted each register as many rows as the operation's widths say,
                        // and each register file holds all rows of the kernel.
                        unsafe { run(files.rows(), *out, sources) };
                    } else {
                        for warp in 0..files.count {
                            let active = files.lanes(warp, step.guard, mask);
                            self.merge_after(code, &files, warp, active, (*out, *double), |file, out| {
                                // SAFETY: as above; the scratch rows are as good as any.
                                unsafe { run(&[file], out, sources) };
                            });
                        }
                    }
                }
                Action::PureLanes { run, out, sources } => {
                    for warp in 0..files.count {
                        let active = files.lanes(warp, step.guard, mask);
                        // SAFETY: as for `Pure`.
                        unsafe { run(files.rows[warp], *out, *sources, active) };
                    }
                }
                Action::Test { run, sources, out } => {
                    let mut bits = [0; MOST_WARPS];
                    // SAFETY: as for `Pure`; there is a word for each warp.
                    unsafe { run(files.rows(), sources, bits.as_mut_ptr()) };
                    for (warp, bits) in bits.into_iter().enumerate().take(files.count) {
                        files.set_predicate(warp, *out, files.lanes(warp, step.guard, mask), bits);
                    }
                }
                Action::TestAnd(test) => test_and(&files, test, step.guard, mask),
                Action::Logic { logic, out, a, b } => {
                    for warp in 0..files.count {
                        let bits =
                            logic.apply(files.lanes(warp, *a, u32::MAX), files.lanes(warp, *b, u32::MAX));
                        files.set_predicate(warp, *out, files.lanes(warp, step.guard, mask), bits);
                    }
                }
                Action::Select { out, a, b, condition, double } => {
                    for warp in 0..files.count {
                        let active = files.lanes(warp, step.guard, mask);
                        let chosen = files.lanes(warp, *condition, u32::MAX);
                        self.merge_after(code, &files, warp, active, (*out, *double), |file, out| {
                            let row = |offset: u32| file.wrapping_add(offset as usize);
                            // SAFETY: as for `Pure`.
                            unsafe { code.blends[usize::from(*double)](row(out), row(*a), row(*b), chosen) };
                        });
                    }
                }
                Action::Load(access) | Action::Store(access) => {
                    let writes = matches!(step.action, Action::Store(_));
                    for warp in 0..files.count {
                        let active = files.lanes(warp, step.guard, mask);
                        if active != 0 && !self.access_fast(access, files.rows[warp], active, writes) {
                            self.settle(gang, index, step.pc, &mut used, left);
                            for pc in access.prepare.into_iter().flatten().chain([step.pc]) {
                                self.step(gang.first + warp, index, pc, mask)?;
                            }
                            files = self.files(gang);
                        }
                    }
                }
                Action::Branch(target) => {
                    let mut all = u32::MAX;
                    let mut any = 0;
                    for warp in 0..files.count {
                        let taken = files.lanes(warp, step.guard, mask);
                        all &= taken;
                        any |= taken;
                    }
                    if any == 0 {
                        // Straight on.
                    } else if all & mask == mask {
                        at = *target as usize;
                        let next = &code.steps[at];
                        if let Some(company) = &mut company {
                            company.fuel -= 1;
                            if company.fuel == 0 {
                                self.settle(gang, index, next.entry, &mut used, left);
                                self.warps[gang.first].fragments[index].tired = true;
                                *left = left.saturating_sub(FUEL);
                                return Ok(());
                            }
                            if next.rank >= company.limit {
                                self.settle(gang, index, next.entry, &mut used, left);
                                return Ok(());
                            }
                        }
                        if used >= *left {
                            self.settle(gang, index, next.entry, &mut used, left);
                            return Ok(());
                        }
                        continue;
                    } else if gang.count > 1 {
                        used -= step.weight;
                        self.settle(gang, index, step.entry, &mut used, left);
                        return Ok(());
                    } else {
                        self.settle(gang, index, step.pc, &mut used, left);
                        let target = code.steps[*target as usize].entry;
                        self.branch(gang.first, index, step.pc, mask, any, target);
                        return Ok(());
                    }
                }
                Action::Barrier(id)
                    if full
                        && step.guard == Guard::ALWAYS
                        && gang.count == self.warps.len()
                        // SAFETY: lane 0 of a row of the kernel.
                        && self.nobody_arrived(unsafe { *files.rows[0].wrapping_add(*id as usize) }) => {}
                Action::Exit if step.guard == Guard::ALWAYS => {
                    self.settle(gang, index, step.pc, &mut used, left);
                    for warp in gang.first..gang.first + gang.count {
                        self.exit(warp, index, step.pc, mask, mask);
                    }
                    return Ok(());
                }
                Action::Shuffle { run, shuffle, inside } if full && step.guard == Guard::ALWAYS => {
                    for warp in 0..files.count {
                        // SAFETY: as for `Pure`.
                        let bits = unsafe { run(files.rows[warp], shuffle) };
                        if let Some(inside) = inside {
                            files.set_predicate(warp, inside.0, u32::MAX, bits);
                        }
                    }
                }
                Action::Plain { parts: false } => {
                    self.settle(gang, index, step.pc, &mut used, left);
                    for warp in gang.first..gang.first + gang.count {
                        self.step(warp, index, step.pc, mask)?;
                    }
                    files = self.files(gang);
                }
                Action::Plain { parts: true }
                | Action::Barrier(_)
                | Action::Shuffle { .. }
                | Action::Exit => {
                    if gang.count > 1 {
                        used -= step.weight;
                        self.settle(gang, index, step.entry, &mut used, left);
                        return Ok(());
                    }
                    self.settle(gang, index, step.pc, &mut used, left);
                    match self.step(gang.first, index, step.pc, mask)? {
                        Flow::Next => files = self.files(gang),
                        Flow::Jump(target) => {
                            self.warps[gang.first].fragments[index].pc = target;
                            return Ok(());
                        }
                        Flow::Yield => return Ok(()),
                    }
                }
            }
            at += 1;
            if step.ends_block {
                if let Some(company) = &company {
                    let next = &code.steps[at];
                    if next.rank >= company.limit {
                        self.settle(gang, index, next.entry, &mut used, left);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Brings up to date what the rest of the block sees of a gang that stands at `pc`.
    fn settle(&mut self, gang: Gang, index: usize, pc: u32, used: &mut u32, left: &mut u32) {
        self.instructions += u64::from(*used) * gang.count as u64;
        *left = left.saturating_sub(*used);
        *used = 0;
        for warp in &mut self.warps[gang.first..gang.first + gang.count] {
            warp.fragments[index].pc = pc;
        }
    }

    fn files(&mut self, gang: Gang) -> Files {
        let mut files = Files {
            rows: [std::ptr::null_mut(); MOST_WARPS],
            predicates: [std::ptr::null_mut(); MOST_WARPS],
            count: gang.count,
        };
        for (warp, state) in self.warps[gang.first..gang.first + gang.count].iter_mut().enumerate() {
            files.rows[warp] = state.rows.base();
            files.predicates[warp] = state.rows.predicates();
        }
        files
    }

    /// The other fragments of the warp that the one at `index` has to look out for.
    fn company(&self, gang: Gang, index: usize) -> Option<Company> {
        let fragments = &self.warps[gang.first].fragments;
        if fragments.len() == 1 {
            return None;
        }
        let ranks = &self.launch.args.kernel.ranks;
        let calls = fragments.iter().any(|fragment| fragment.frame.is_some());
        let others = fragments.iter().enumerate().filter(|(other, _)| *other != index);
        let ready = others.filter(|(_, fragment)| fragment.wait == Wait::Ready);
        let limit = ready.map(|(_, fragment)| ranks[fragment.pc as usize]).min().unwrap_or(u32::MAX);
        // Inside calls ranks are not all there is to the order.
        Some(Company { limit: if calls { 0 } else { limit }, fuel: FUEL })
    }

    /// Runs something that writes a single or double row, for the lanes of a mask only.
    #[inline(always)]
    fn merge_after(
        &self,
        code: &Steps,
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
                unsafe { code.blends[usize::from(double)](row(out), row(scratch), row(out), active) };
            }
        }
    }

    /// Runs an access on the region that the instruction found last. `false` if the plain mode has to.
    #[inline(always)]
    fn access_fast(&mut self, step: &AccessStep, file: *mut u32, active: u32, writes: bool) -> bool {
        let window = match step.space {
            AccessSpace::Shared => Window {
                base: 0,
                len: self.launch.shared_bytes.into(),
                host: self.shared.as_mut_ptr().cast(),
            },
            AccessSpace::Global => {
                let Cached { base, len, host, writable, tracked } = self.caches[step.cache as usize];
                if tracked || writes && !writable {
                    return false;
                }
                Window { base, len, host }
            }
        };
        // SAFETY: the register file holds all rows of the kernel; the window is shared memory of this block or a
        // live region, writable if it is written to.
        unsafe { (step.run)(file, &step.access, &window, active) }
    }
}

fn test_and(files: &Files, test: &CombinedTest, guard: Guard, mask: u32) {
    for warp in 0..files.count {
        let mut bits = 0;
        // SAFETY: as for `Action::Pure`; there is one warp, so one word.
        unsafe { (test.run)(&[files.rows[warp]], &test.sources, &mut bits) };
        let (mut yes, mut no) = (bits, !bits);
        if let Some((logic, condition)) = test.combine {
            let other = files.lanes(warp, condition, u32::MAX);
            (yes, no) = (logic.apply(yes, other), logic.apply(no, other));
        }
        let active = files.lanes(warp, guard, mask);
        files.set_predicate(warp, test.out.0, active, yes);
        if let Some(Predicate(inverse)) = test.inverse {
            files.set_predicate(warp, inverse, active, no);
        }
    }
}
