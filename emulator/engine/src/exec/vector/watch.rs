//! The checks that inspect each access of a warp, or its registers.

use super::Run;
use super::gang::Member;
use super::initialized::{Bytes, Record};
use super::races::{Memory, Races};
use crate::exec::block::cached::Cached;
use crate::exec::block::launch::Launch;
use crate::exec::block::state::Checks;
use crate::exec::block::warp::Warp;
use crate::exec::block::{Issue, Stop};
use crate::exec::check::traces::{Compare, Touch};
use crate::exec::code::step::{AccessSpace, AccessStep, Step};
use crate::exec::plain;
use crate::exec::touched::{Manner, Noting};
use crate::program::memory::Order;

/// The checks of an access. The plain mode repeats an access that they do not admit, and reports
/// it if it is wrong.
pub(super) struct Watch<'r> {
    target: Target,
    record: Record<'r>,
    races: Option<Races<'r>>,
    /// The record of accessed bytes.
    noting: Option<Noting<'r>>,
}

/// An access, as far as the checks need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) space: AccessSpace,
    pub(super) strong: bool,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl Target {
    pub(super) fn of(step: &AccessStep, writes: bool) -> Self {
        Target { space: step.space, strong: step.strong, reads: !writes, writes }
    }
}

impl<'r> Watch<'r> {
    /// False if no check is interested in accesses to the region found last, which is mostly the
    /// case.
    #[inline(always)]
    pub(super) fn may_be_needed(
        launch: &Launch<'_>,
        checks: &Checks,
        cached: &Cached,
        space: AccessSpace,
    ) -> bool {
        let recorded = match space {
            AccessSpace::Global => !cached.init.is_null() || !cached.marks.is_null(),
            _ => launch.options.check_init,
        };
        recorded || checks.clocks.is_some()
    }

    /// Returns the checks for an access of a warp to the region that it found last; `None` if no
    /// check is interested in it.
    #[inline(always)]
    pub(super) fn of(
        (launch, clustered): (&'r Launch<'_>, bool),
        checks: &'r mut Checks,
        warp: &'r mut Warp,
        cached: &Cached,
        target: Target,
    ) -> Option<Self> {
        if !Self::may_be_needed(launch, checks, cached, target.space) {
            return None;
        }
        let init = launch.options.check_init;
        let Checks { shadow, clocks } = checks;
        let record = match target.space {
            AccessSpace::Global => match cached.init(launch) {
                Some(written) => Record::Global(written, init),
                None => Record::None,
            },
            AccessSpace::Param => Record::None,
            _ if !init => Record::None,
            AccessSpace::Shared if clustered => Record::Other,
            AccessSpace::Shared => Record::Own(&mut shadow.written),
            AccessSpace::Local => warp.local_written.as_mut().map_or(Record::None, Record::Own),
        };
        let races = clocks.as_mut().and_then(|clocks| {
            let (memory, base) = match target.space {
                AccessSpace::Local | AccessSpace::Param => return None,
                AccessSpace::Global if !cached.writable => return None,
                AccessSpace::Shared if clustered => (Memory::Other, 0),
                AccessSpace::Shared => (Memory::Shared(&mut shadow.accesses), 0),
                AccessSpace::Global => (Memory::Global(launch.global_shadow.as_ref()?), cached.base),
            };
            let how = Compare { same: false, atomic_reads: launch.options.check_atomic_reads };
            Some(Races { clocks, memory, base, how })
        });
        let marks = if target.space == AccessSpace::Global { cached.marks(launch) } else { None };
        let manner = if target.writes { Manner::Write } else { Manner::Read };
        let noting = marks.map(|marks| Noting::new(marks, manner));
        let idle = matches!(record, Record::None) && races.is_none() && noting.is_none();
        (!idle).then_some(Watch { target, record, races, noting })
    }

    /// Records the access of a warp, with its number, by an instruction. Returns false if the plain
    /// mode has to repeat it.
    #[inline(never)]
    pub(super) fn admits(&mut self, bytes: &Bytes<'_>, at: (usize, u32)) -> bool {
        let Target { strong, reads, writes, .. } = self.target;
        // Only the plain mode records strong accesses.
        if strong && (self.noting.is_some() || self.races.is_some()) {
            return false;
        }
        let races = |races: &mut Races<'_>| races.admits(bytes, at, writes);
        let recorded = !matches!(self.record, Record::None);
        if recorded && !self.record.admits(bytes, [reads, false]) {
            return false;
        }
        let good = self.races.as_mut().is_none_or(races);
        if recorded && good {
            self.record.admits(bytes, [false, writes]);
        }
        if let Some(noting) = self.noting.as_mut().filter(|_| good) {
            bytes.all(|start, count| {
                noting.add(start, count);
                true
            });
        }
        good
    }

    /// Records the atomic operations of a warp's lanes in order, until one is not certainly right.
    /// Returns the lanes before it; the plain mode has to run the others.
    pub(super) fn admitted(&mut self, bytes: &Bytes<'_>, at: (usize, u32), order: Order) -> u32 {
        let Target { reads, writes, .. } = self.target;
        // Only the plain mode records the bytes of strong accesses.
        if self.noting.is_some() || !self.record.admits(bytes, [reads, false]) {
            return 0;
        }
        let touch = Touch { write: writes, order, update: reads, atomic: true, same: false };
        let active = match &mut self.races {
            Some(races) => races.admitted(bytes, at, touch),
            None => bytes.active,
        };
        self.record.admits(&Bytes { active, ..*bytes }, [false, writes]);
        active
    }
}

impl Run<'_, '_, '_> {
    /// Checks the registers of the instructions that a step replaces.
    #[cold]
    pub(super) fn watch_registers(&mut self, step: &Step) -> Result<(), Stop> {
        let launch = self.block.launch;
        let Some(suspects) = &launch.suspects else { return Ok(()) };
        for pc in (step.entry..=step.pc).filter(|pc| suspects.contains(*pc)) {
            for (at, Member { warp, path, mask }) in self.gang.members().iter().copied().enumerate() {
                let mask = mask & self.files.holds(at, step.within);
                if mask != 0 {
                    plain::watch_registers(self.block, Issue { warp, path, pc, mask, active: mask })?;
                }
            }
        }
        Ok(())
    }
}
