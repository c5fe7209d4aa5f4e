//! A group of warps that runs the steps of a kernel.

use super::branch::{self, Company};
use super::gang::{Files, Gang, Keeps, Member};
use crate::exec::block::warp::{FAILED_ATTEMPT, Wait};
use crate::exec::block::{Block, Issue, Stop};
use crate::exec::code::step::{Action, Code, Guard, Step};
use crate::exec::code::{MOST_WARPS, Steps, liveness};
use crate::exec::plain::{self, Flow};
use crate::semantics::{LANES, Register};

/// A group of warps that runs the steps of a kernel.
pub(super) struct Run<'r, 'l, 'a> {
    pub(super) block: &'r mut Block<'l, 'a>,
    pub(super) steps: &'r Steps,
    pub(super) code: &'r Code,
    pub(super) gang: Gang,
    /// Registers and lanes, in the form that steps use.
    pub(super) files: Files,
    pub(super) company: Option<Company>,
    /// Number of instructions run since it was last settled.
    pub(super) used: u32,
    /// Remaining instructions of its share.
    pub(super) left: u32,
    /// Number of warps in which the last exchange failed.
    pub(super) failed: u32,
    /// True if some instructions need the check of registers.
    suspicious: bool,
    /// True if its share ends between any two steps, not only at branches.
    paced: bool,
    /// True if it ends at barriers that all running warps of its eight have reached.
    pub(super) ends_at_barriers: bool,
    /// The step and the number of the barrier at which it has ended. The group is not settled then.
    pub(super) reached: Option<(usize, u32)>,
}

pub(super) enum Go {
    On,
    To(usize),
    /// None: the group is settled, and other paths take their turn.
    Rest,
}

impl<'r, 'l, 'a> Run<'r, 'l, 'a> {
    #[inline]
    pub(super) fn new(block: &'r mut Block<'l, 'a>, steps: &'r Steps) -> Self {
        let code = &steps.rows;
        let (gang, files) = (Gang::default(), Files::NONE);
        let (suspicious, paced) = (block.launch.suspects.is_some(), block.launch.options.seed.is_some());
        Run {
            block,
            steps,
            code,
            gang,
            files,
            company: None,
            used: 0,
            left: 0,
            failed: 0,
            suspicious,
            paced,
            ends_at_barriers: false,
            reached: None,
        }
    }

    /// Runs the group until its members separate for good, wait, end, or use up their share of
    /// `left` instructions. Members that leave can be continued from their position.
    pub(super) fn run_gang(&mut self, left: u32) -> Result<(), Stop> {
        self.left = left;
        self.code = self.gang.code(self.block, self.steps);
        self.files.look(&self.gang, self.block, self.steps);
        self.company = branch::company(self.block, &self.gang);
        let first = self.gang.members()[0];
        let pc = self.block.warps[first.warp].paths[first.path].pc;
        self.run(self.code.of_pc[pc as usize] as usize)
    }
}

impl Run<'_, '_, '_> {
    pub(super) fn run(&mut self, first: usize) -> Result<(), Stop> {
        let code = self.code;
        let mut at = first;
        loop {
            let step = &code.steps[at];
            self.used += step.weight;
            match self.perform(step, at)? {
                Go::On => {}
                Go::To(target) => {
                    at = target;
                    continue;
                }
                Go::Rest => return Ok(()),
            }
            at += 1;
            if step.ends_block {
                if let Some(company) = &self.company {
                    let next = &code.steps[at];
                    if next.rank >= company.limit {
                        self.settle(next.entry);
                        return Ok(());
                    }
                }
            }
            if self.paced && self.used >= self.left {
                self.settle(code.steps[at].entry);
                return Ok(());
            }
        }
    }

    #[inline(always)]
    pub(super) fn perform(&mut self, step: &Step, at: usize) -> Result<Go, Stop> {
        if self.suspicious {
            self.watch_registers(step)?;
        }
        let guard = step.guard;
        match &step.action {
            Action::Pure { run, out, sources, double } => self.pure(guard, *run, (*out, *double), sources),
            Action::PureLanes { info, out, sources } => self.pure_lanes(guard, info, *out, *sources),
            Action::Test { test, out } => self.test(guard, test, *out),
            Action::TestAnd(test) => self.test_and(guard, test),
            Action::Logic { logic, out, a, b } => self.logic(guard, *logic, *out, [*a, *b]),
            Action::Select { out, a, b, condition, double } => {
                self.select(guard, (*out, *double), [*a, *b], *condition);
            }
            Action::Load(access) => {
                self.access(step, access, false)?;
                self.poll_if(access.strong, step.pc);
            }
            Action::Store(access) => self.access(step, access, true)?,
            Action::Atomic(atomic) => self.atomic(step, atomic)?,
            Action::Scalar(scalar) => return Ok(self.scalar(step, scalar)),
            Action::ScalarTest(test) => self.scalar_test(guard, test),
            Action::ScalarLoad(access) => {
                self.scalar_access(step, access, false)?;
                self.poll_if(access.by_row.strong, step.pc);
            }
            Action::ScalarStore(access) => self.scalar_access(step, access, true)?,
            Action::Branch(target) => return Ok(self.branch(step, [at + 1, *target as usize])),
            Action::Skip(target) => return self.skip(step, [at + 1, *target as usize]),
            Action::Arm { target, weight } => {
                return Ok(self.arm(guard, [at + 1, *target as usize], *weight));
            }
            Action::Barrier(id) if guard == Guard::ALWAYS && self.is_everybody(*id) => {}
            Action::Barrier(id) if guard == Guard::ALWAYS && self.reaches(at, *id) => return Ok(Go::Rest),
            Action::Exit if guard == Guard::ALWAYS => return Ok(self.exit(step)),
            Action::Shuffle(shuffle) if self.shuffles_at_once(guard) => self.shuffle(shuffle),
            Action::Collective(step) if self.has_members(guard, step) => self.collective(step),
            Action::ActiveMask(out) => self.active_mask(guard, *out),
            Action::Fence(_) if self.block.checks.clocks.is_some() => self.step_all(step.pc)?,
            Action::Fence(scope) => self.fence(guard, *scope),
            Action::Plain { parts: false } => self.step_all(step.pc)?,
            Action::Barrier(id) if guard == Guard::ALWAYS && self.may_wait(*id) => {
                return Ok(self.wait(step, *id));
            }
            Action::ScalarSelect(_)
            | Action::UniformLoad(_)
            | Action::Plain { parts: true }
            | Action::Barrier(_)
            | Action::Shuffle(_)
            | Action::Collective(_)
            | Action::Exit => {
                return self.perform_apart(step);
            }
        }
        Ok(Go::On)
    }

    /// Ends the turn soon after a load that is `strong` and that all warps repeat.
    #[inline(always)]
    fn poll_if(&mut self, strong: bool, pc: u32) {
        if strong {
            self.poll(pc);
        }
    }

    #[inline(never)]
    fn poll(&mut self, pc: u32) {
        let warps = &mut self.block.warps;
        let polls = |all: bool, member: &Member| all & warps[member.warp].polls(pc);
        if self.gang.members().iter().fold(true, polls) {
            self.left = self.left.saturating_sub(FAILED_ATTEMPT);
        }
    }

    fn barrier_number(&self, member: usize, row: u32) -> u32 {
        let lane = self.files.masks[member].trailing_zeros();
        // SAFETY: a lane of a row of the kernel; a divergent path has at least one lane.
        unsafe { *self.files.rows[member].wrapping_add((row + lane) as usize) }
    }

    /// True if the group only has to wait at a barrier: the barrier exists, no check inspects it,
    /// and no products have to end before.
    fn may_wait(&self, row: u32) -> bool {
        let numbers = (0..self.files.count).all(|member| self.barrier_number(member, row) < 16);
        let products = |member: &Member| !self.block.warps[member.warp].products.is_empty();
        numbers && !self.block.launch.options.check_barriers && !self.gang.members().iter().any(products)
    }

    /// True if the group ends at a barrier, because all running lanes of its eight warps have
    /// reached it and only have to wait.
    fn reaches(&mut self, at: usize, row: u32) -> bool {
        if !self.ends_at_barriers {
            return false;
        }
        let (number, members) = (self.barrier_number(0, row), self.gang.members());
        let waits = |(index, member): (usize, &Member)| {
            let warp = &self.block.warps[member.warp];
            warp.live == member.mask && warp.products.is_empty() && self.barrier_number(index, row) == number
        };
        let first = members[0].warp / MOST_WARPS * MOST_WARPS;
        let warps = &self.block.warps[first..];
        let warps = &warps[..warps.len().min(MOST_WARPS)];
        let complete = || {
            members.len() == warps.len()
                || members.len() == warps.iter().filter(|warp| warp.live != 0).count()
        };
        let reached = number < 16 && members.iter().enumerate().all(waits) && complete();
        if reached {
            self.reached = Some((at, number));
        }
        reached
    }

    /// Makes the group wait at a barrier, like the plain mode.
    pub(super) fn wait(&mut self, step: &Step, row: u32) -> Go {
        self.settle(step.pc);
        for (at, member) in self.gang.members().iter().enumerate() {
            let wait = Wait::Barrier(self.barrier_number(at, row));
            self.block.warps[member.warp].paths[member.path].wait = wait;
        }
        Go::Rest
    }

    /// Updates the block's state of the group, which is at `pc`.
    pub(super) fn settle(&mut self, pc: u32) {
        self.count();
        let fuel = self.company.map(|company| company.fuel);
        for member in self.gang.members() {
            let warp = &mut self.block.warps[member.warp];
            warp.paths[member.path].pc = pc;
            warp.fuel = fuel.unwrap_or(warp.fuel);
        }
    }

    /// Counts the instructions since the group was counted last.
    pub(super) fn count(&mut self) {
        self.block.count_instructions(u64::from(self.used) * self.gang.members().len() as u64);
        self.left = self.left.saturating_sub(self.used);
        self.used = 0;
    }

    /// Delegates an instruction to the plain mode, after which the group stays together.
    #[inline(never)]
    fn step_all(&mut self, pc: u32) -> Result<(), Stop> {
        self.settle(pc);
        for Member { warp, path, mask } in self.gang.members().iter().copied() {
            plain::step(self.block, warp, path, pc, mask)?;
        }
        Ok(())
    }

    /// Performs a step after which members may be elsewhere. Apart, because the frequent steps
    /// would share the processor's registers with it.
    #[inline(never)]
    fn perform_apart(&mut self, step: &Step) -> Result<Go, Stop> {
        match &step.action {
            Action::ScalarSelect(select) => Ok(self.scalar_select(step, select)),
            Action::UniformLoad(load) => {
                self.poll_if(load.access.by_row.strong, step.pc);
                self.uniform_load(step, load)
            }
            _ => self.step_apart(step.pc),
        }
    }

    /// Delegates an instruction to the plain mode, after which members may wait or be elsewhere.
    fn step_apart(&mut self, pc: u32) -> Result<Go, Stop> {
        self.settle(pc);
        let mut staying = Gang::default();
        for member in self.gang.members() {
            match plain::step(self.block, member.warp, member.path, pc, member.mask)? {
                Flow::Next | Flow::Retry => staying.push(*member),
                Flow::Jump(target) => {
                    self.block.warps[member.warp].paths[member.path].pc = target;
                }
                Flow::Yield => {}
                // Its turn is over, and so is the turn of the warps that it runs with.
                Flow::Pause => self.left = 0,
            }
        }
        if staying.members().is_empty() {
            return Ok(Go::Rest);
        }
        if staying.members().len() < self.gang.members().len() {
            self.gang = staying;
            self.files.look(&self.gang, self.block, self.steps);
        }
        Ok(Go::On)
    }

    fn exit(&mut self, step: &Step) -> Go {
        self.settle(step.pc);
        for Member { warp, path, mask } in self.gang.members().iter().copied() {
            plain::exit(self.block, Issue { warp, path, pc: step.pc, mask, active: mask });
        }
        Go::Rest
    }

    /// True if the whole row at this offset in cells may be written: all lanes change, or no path
    /// needs the values of the others.
    #[inline(always)]
    pub(super) fn is_free(&self, guard: Guard, out: u32) -> bool {
        if guard != Guard::ALWAYS || self.files.full {
            return guard == Guard::ALWAYS;
        }
        self.files.keeps == Keeps::Some
            && !liveness::contains(&self.block.vector.kept, Register(out / LANES as u32))
    }

    /// True if only the group runs in the block, the barrier orders no accesses for a check, and no
    /// thread has arrived at this row's barrier.
    fn is_everybody(&self, barrier: u32) -> bool {
        if self.ends_at_barriers {
            return false;
        }
        // SAFETY: lane 0 of a row of the kernel.
        let barrier = unsafe { *self.files.rows[0].wrapping_add(barrier as usize) };
        let block = &*self.block;
        let all = self.files.is_dense && self.files.count == block.warps.len();
        let whole = |member: &Member| block.warps[member.warp].live == member.mask;
        let running = || block.warps.iter().filter(|warp| warp.live != 0).count();
        let complete = all || self.files.count == running() && self.gang.members().iter().all(whole);
        complete
            && block.checks.clocks.is_none()
            && block.nobody_arrived(barrier)
            && !(block.launch.options.check_barriers && block.has_exits())
    }
}
