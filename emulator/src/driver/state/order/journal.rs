//! The journal: operations, host waits and frees in the order of calls, and verdicts on them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::FnId;

use crate::driver::state::queue::Awaited;
use crate::driver::state::stream_key::{StreamKey, Ticket};
use crate::exec::touched::Manner;
use crate::memory::Neighbor;
use crate::message::{self, Message};
use crate::report::{Unordered, Use, Work};

use super::clocks::{Clock, Clocks, Moment};
use super::guard::{self, Guards};
use super::mask::Mask;
use super::nodes;
use super::shadow::{Meeting, PageKey, Shadow, Standing, Touch};
use super::work::{Act, Number, Part};

#[derive(Debug)]
pub(crate) struct Issued {
    pub(crate) ticket: Ticket,
    pub(crate) lane: StreamKey,
    /// Operations of other lanes that it waits for.
    pub(crate) after: Vec<Ticket>,
    /// The contexts with whose streams it synchronizes, 0 for none.
    pub(crate) fenced: [usize; 2],
    /// True for a copy between devices, for which frees do not wait.
    pub(crate) is_apart: bool,
    pub(crate) calls_client: bool,
    pub(crate) call: Option<FnId>,
}

#[derive(Debug)]
enum Entry {
    /// Its acts are known after it has run.
    Operation(Issued, Option<Vec<Act>>),
    Wait(Awaited),
    Freed(Neighbor, Option<FnId>),
    /// The host accesses its own memory, in a call or outside of calls.
    Host(Part, Option<FnId>),
}

/// Maximum entries that wait for an operation to run, which then counts as without accesses.
const MOST_ENTRIES: usize = 1 << 16;

const MOST_REPORTS: usize = 100;

/// The entries not judged yet, and the state derived from earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Journal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    entries: VecDeque<Entry>,
    first: u64,
    /// Entries of operations that have not run, by ticket.
    running: HashMap<Ticket, u64>,
    names: HashMap<StreamKey, u64>,
    judge: Judge,
}

impl Journal {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the number of a stream that a client created.
    pub(crate) fn name(&self, lane: StreamKey, number: u64) {
        self.lock().names.insert(lane, number);
    }

    /// Records an operation. Called in the order of the tickets.
    pub(crate) fn issue(&self, issued: Issued) {
        let mut state = self.lock();
        state.note_accesses();
        let number = state.first + state.entries.len() as u64;
        state.running.insert(issued.ticket, number);
        state.entries.push_back(Entry::Operation(issued, None));
    }

    /// Records that an operation has run, or never will.
    pub(crate) fn finish(&self, ticket: Ticket, acts: Vec<Act>) {
        let mut state = self.lock();
        let Some(number) = state.running.remove(&ticket) else { return };
        let index = number.checked_sub(state.first).and_then(|index| usize::try_from(index).ok());
        if let Some(Entry::Operation(_, known)) = index.and_then(|index| state.entries.get_mut(index)) {
            *known = Some(acts);
        }
        Self::judge(state, false);
    }

    pub(in crate::driver::state) fn wait(&self, awaited: Awaited) {
        self.enter(Entry::Wait(awaited));
    }

    /// Records that a call frees memory, outside of streams.
    pub(crate) fn free(&self, memory: Neighbor, call: Option<FnId>) {
        self.enter(Entry::Freed(memory, call));
    }

    /// Records that a call reads pageable host memory.
    pub(crate) fn read_on_host(&self, start: u64, len: u64, call: Option<FnId>) {
        self.enter(Entry::Host(Part::rows(None, Manner::Read, [(start, len)]), call));
    }

    fn enter(&self, entry: Entry) {
        let mut state = self.lock();
        state.note_accesses();
        state.entries.push_back(entry);
        Self::judge(state, false);
    }

    /// Judges all remaining entries, whether they have run or not.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.note_accesses();
        Self::judge(state, true);
    }

    /// Judges the entries up to the first operation that has not run, and reports the findings.
    fn judge(mut state: MutexGuard<'_, State>, all: bool) {
        let state_now = &mut *state;
        loop {
            let waits = matches!(state_now.entries.front(), Some(Entry::Operation(_, None)));
            if waits && !all && state_now.entries.len() < MOST_ENTRIES {
                break;
            }
            let Some(entry) = state_now.entries.pop_front() else { break };
            state_now.first += 1;
            match entry {
                Entry::Operation(issued, acts) => {
                    let stream = stream_name(&state_now.names, issued.lane);
                    state_now.judge.operate(issued, stream, acts.unwrap_or_default());
                }
                Entry::Wait(awaited) => state_now.judge.wait(awaited),
                Entry::Freed(memory, call) => state_now.judge.free(memory, call),
                Entry::Host(part, call) => state_now.judge.on_host(part, None, call),
            }
        }
        if all {
            state_now.judge.tell_held(|_| true);
        }
        let found = std::mem::take(&mut state_now.judge.found);
        // A hook may call the driver.
        drop(state);
        for report in found {
            message::tell_once(report.to_string(), &Message::Unordered(&report));
        }
    }
}

impl State {
    /// Enters accesses of the program, which precede the current call.
    fn note_accesses(&mut self) {
        self.entries.extend(guard::host_accesses().map(|part| Entry::Host(part, None)));
    }
}

fn stream_name(names: &HashMap<StreamKey, u64>, lane: StreamKey) -> String {
    match names.get(&lane) {
        Some(number) => format!("stream #{number}"),
        None if lane.stream == StreamKey::LEGACY => "the default stream".into(),
        None => "the default stream of a thread".into(),
    }
}

/// An unsatisfied wait for a number in memory.
#[derive(Debug)]
struct Waiting {
    moment: Moment,
    key: PageKey,
    mask: Mask,
    holds: Number,
}

/// A report that a later operation may refute.
#[derive(Debug)]
struct Held {
    report: Unordered,
    second: Moment,
    /// A kernel that may wait in a loop for another one.
    spinner: Moment,
}

/// The state derived from the judged entries.
#[derive(Debug, Default)]
struct Judge {
    clocks: Clocks,
    shadow: Shadow,
    /// Operations that may wait for the host in a way that the driver does not see.
    open: Vec<Moment>,
    /// Kernels that may wait for others in a loop.
    spinners: Vec<Moment>,
    /// Kernels that may wait for the current operation.
    met: Vec<Moment>,
    waiting: Vec<Waiting>,
    held: Vec<Held>,
    guards: Guards,
    found: Vec<Unordered>,
    /// The kinds of reports made so far.
    told: HashSet<String>,
}

fn key_of(memory: Option<&Neighbor>, page: u64) -> PageKey {
    (memory.map_or(0, |memory| memory.id), page)
}

impl Judge {
    fn operate(&mut self, issued: Issued, stream: String, acts: Vec<Act>) {
        let Issued { ticket, fenced, call, .. } = issued;
        let (lane, mut clock) = self.clocks.start(issued.lane, &issued.after, fenced);
        let moment = (lane, ticket);
        let mut late = Vec::new();
        for act in &acts {
            self.synchronize(act, moment, &mut clock, &mut late);
        }
        let clock = self.clocks.enter(moment, clock, fenced, issued.is_apart);
        for before in &late {
            self.clocks.add_late(*before, &clock);
            self.held.retain(|held| held.spinner != *before || !clock.knows(held.second));
        }
        self.met = late;
        let tells_host = issued.calls_client || acts.iter().any(|act| act.tells_host);
        if issued.calls_client || acts.iter().any(|act| act.awaits_host) {
            self.open.push(moment);
        }
        let pages = guard::pages_of(&acts);
        let spins = |act: &Act| act.parts.iter().any(|part| part.manner == Manner::StrongRead);
        if acts.iter().any(|act| act.kernel.is_some() && spins(act)) {
            self.spinners.push(moment);
        }
        for act in acts {
            let work = Arc::new(Work::new(ticket, call, act.kernel.clone(), stream.clone()));
            self.act(act, &work, moment, &clock);
        }
        self.met.clear();
        if tells_host {
            self.reach_host(&clock);
        }
        if !pages.is_empty() && !self.clocks.is_over(moment) {
            self.guards.add(moment, pages);
        }
        // Acts as if the host had waited, so orders missing across this point are not found.
        if let Some(all) = self.clocks.crowd() {
            self.reach_host(&all);
        }
    }

    /// Finds the operations with which strong accesses, and waits for numbers, may synchronize.
    fn synchronize(&mut self, act: &Act, moment: Moment, clock: &mut Clock, late: &mut Vec<Moment>) {
        let Self { clocks, shadow, waiting, open, .. } = self;
        let mut is_satisfied = false;
        for part in &act.parts {
            for (page, mask) in &part.pages {
                let key = key_of(part.memory.as_deref(), *page);
                let is_open = |touch: &Touch| !clocks.is_over(touch.moment) && touch.moment != moment;
                if let Some(Number::Awaited(holds)) = &act.number {
                    let join = |meeting: Meeting| {
                        clock.join(&meeting.touch.clock);
                        is_satisfied |= meeting.touch.value.is_some_and(holds);
                    };
                    shadow.meetings(key, mask, join, |touch| is_open(touch) && touch.manner.writes());
                } else if part.manner.is_strong() {
                    let meet = |meeting: Meeting| {
                        // One of them reads the other's value, and may wait for it.
                        match (meeting.touch.manner.writes(), part.manner.writes()) {
                            (true, false) => clock.join(&meeting.touch.clock),
                            (false, true) => late.push(meeting.touch.moment),
                            _ => {}
                        }
                    };
                    shadow.meetings(key, mask, meet, |touch| is_open(touch) && touch.manner.is_strong());
                }
                if part.manner.writes() {
                    waiting.retain(|other| {
                        if other.key != key || other.mask.overlap(mask).is_none() {
                            return true;
                        }
                        late.push(other.moment);
                        let is_last = match (&act.number, &other.holds) {
                            (Some(Number::Written(value)), Number::Awaited(holds)) => holds(*value),
                            _ => false,
                        };
                        open.retain(|open| !is_last || *open != other.moment);
                        !is_last
                    });
                }
            }
        }
        late.sort_unstable();
        late.dedup();
        let Some(Number::Awaited(_)) = act.number else { return };
        let by_host = |part: &Part| part.memory.as_ref().is_none_or(|memory| memory.kind.host_visible());
        if !is_satisfied || act.parts.iter().any(by_host) {
            open.push(moment);
        }
    }

    fn act(&mut self, act: Act, work: &Arc<Work>, moment: Moment, clock: &Arc<Clock>) {
        let mut value = match &act.number {
            Some(Number::Written(value)) => Some(*value),
            _ => None,
        };
        let mut awaited = act.number.filter(|number| matches!(number, Number::Awaited(_)));
        for part in act.parts {
            let does = act.does.unwrap_or(part.does());
            let mut work = Work::clone(work);
            work.does = does;
            let work = Arc::new(work);
            let touch = Arc::new(Touch {
                work,
                moment,
                clock: Arc::clone(clock),
                place: act.place.clone(),
                memory: part.memory.clone(),
                manner: part.manner,
                lines: Arc::clone(&part.lines),
                value: value.take(),
            });
            let mut meetings = Vec::new();
            for (page, mask) in part.pages {
                let key = key_of(part.memory.as_deref(), page);
                let is_awaited = self.open.contains(&moment);
                if let Some(holds) = awaited.take_if(|_| is_awaited) {
                    self.waiting.push(Waiting { moment, key, mask: mask.clone(), holds });
                }
                let clocks = &self.clocks;
                let standing = |earlier: &Touch| match earlier.moment {
                    same if same == moment && nodes::follows(&touch.place, &earlier.place) => {
                        Standing::Before
                    }
                    same if same == moment => Standing::Unordered,
                    other if clocks.is_over(other) => Standing::Over,
                    other if clock.knows(other) => Standing::Before,
                    _ => Standing::Unordered,
                };
                if let Some(meeting) = self.shadow.enter(key, &touch, mask, standing) {
                    meeting.join(&mut meetings);
                }
            }
            for meeting in meetings {
                self.report(meeting, &touch);
            }
            if let (Use::Frees, Some(memory)) = (does, &part.memory) {
                self.shadow.forget(memory);
            }
        }
        let clocks = &self.clocks;
        self.shadow.clear(|touch| clocks.is_over(touch.moment));
    }

    /// Reports two unordered acts, unless the driver may have missed an order between them.
    fn report(&mut self, meeting: Meeting, second: &Touch) {
        let Meeting { touch: first, bytes } = meeting;
        let is_same = first.moment == second.moment;
        let knows = |moment: &Moment| !is_same && first.clock.knows(*moment);
        if self.open.iter().chain(&self.met).any(knows) {
            return;
        }
        let work = |touch: &Touch| {
            let mut work = Work::clone(&touch.work);
            work.lines = touch.lines.to_vec();
            work
        };
        let memory = second.memory.as_deref().cloned();
        let mut report = Unordered::new(work(&first), work(second), memory, bytes.0..bytes.1);
        report.in_one_graph = is_same;
        match self.spinners.iter().copied().find(|moment| knows(moment)) {
            Some(spinner) => self.held.push(Held { report, second: second.moment, spinner }),
            None => self.find(report),
        }
    }

    /// Keeps a report for later, unless a report of its kind exists.
    fn find(&mut self, report: Unordered) {
        let side = |work: &Work| format!("{:?} {:?} {} {:?}", work.call, work.kernel, work.stream, work.does);
        let kind = format!("{} {}", side(&report.first), side(&report.second));
        if self.told.len() < MOST_REPORTS && self.told.insert(kind) {
            self.found.push(report);
        }
    }

    fn wait(&mut self, awaited: Awaited) {
        let clock = self.clocks.awaited(awaited);
        self.reach_host(&clock);
    }

    /// Records that the host has waited for all operations in a clock.
    fn reach_host(&mut self, clock: &Clock) {
        self.clocks.reach_host(clock);
        let clocks = &self.clocks;
        self.guards.remove(|moment| clocks.is_over(moment));
        self.open.retain(|moment| !clocks.is_over(*moment));
        self.spinners.retain(|moment| !clocks.is_over(*moment));
        self.waiting.retain(|waiting| !clocks.is_over(waiting.moment));
        let over: Vec<Moment> =
            self.held.iter().map(|held| held.spinner).filter(|moment| clocks.is_over(*moment)).collect();
        self.tell_held(|spinner| over.contains(&spinner));
    }

    fn tell_held(&mut self, is_over: impl Fn(Moment) -> bool) {
        let (over, held) = std::mem::take(&mut self.held).into_iter().partition(|held| is_over(held.spinner));
        self.held = held;
        for held in Vec::into_iter(over) {
            self.find(held.report);
        }
    }

    fn free(&mut self, memory: Neighbor, call: Option<FnId>) {
        let part = Part::whole(memory.clone(), Manner::Write);
        self.guards.forget(memory.base..memory.base + memory.len);
        self.on_host(part, Some(Use::Frees), call);
        self.shadow.forget(&memory);
    }

    /// Judges an access of the host itself, which follows all work that it has waited for.
    fn on_host(&mut self, part: Part, does: Option<Use>, call: Option<FnId>) {
        let mut work = Work::new(0, call, None, "the host".into());
        work.does = does.unwrap_or(part.does());
        let mut meetings = Vec::new();
        for (page, mask) in &part.pages {
            let key = key_of(part.memory.as_deref(), *page);
            let clocks = &self.clocks;
            let conflicts = |touch: &Touch| {
                !clocks.is_over(touch.moment) && (part.manner.writes() || touch.manner.writes())
            };
            self.shadow.meetings(key, mask, |meeting| meeting.join(&mut meetings), conflicts);
        }
        let second = Touch {
            work: Arc::new(work),
            moment: (usize::MAX, Ticket::MAX),
            clock: Arc::default(),
            place: Vec::new(),
            memory: part.memory,
            manner: part.manner,
            lines: Arc::default(),
            value: None,
        };
        if let Some(meeting) = meetings.into_iter().next() {
            self.report(meeting, &second);
        }
    }
}
