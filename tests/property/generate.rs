//! Programs at random.

use cuprum::stream::StreamKind;

use super::element::Element;
use super::model::Model;
use super::step::{Act, CONTEXTS, EVENTS, Kind, Make, Part, SLOTS, STREAMS, Step, THREADS};
use cuprum_testing::random::Random;

/// Lengths of buffers: few, so that often two are the same.
const LENGTHS: [usize; 5] = [1, 8, 8, 8, 40];

/// A program of so many steps, each of which makes sense in its place.
pub(crate) fn program<T: Element>(seed: u64, steps: usize, mistakes: bool) -> Vec<Step> {
    let mut generator = Generator { random: Random::new(seed), model: Model::<T>::new(), thread: 0 };
    let mut program = Vec::with_capacity(steps);
    while program.len() < steps {
        generator.thread = generator.random.below(THREADS);
        let act = match mistakes && generator.random.once_in(20) {
            true => generator.mistake(),
            false => generator.act(),
        };
        let step = Step { thread: generator.thread, beside: generator.random.once_in(3), act };
        if generator.model.apply(program.len(), &step).is_some() {
            program.push(step);
        }
    }
    program
}

/// State when the next step of a thread is chosen.
struct Generator<T> {
    random: Random,
    model: Model<T>,
    thread: usize,
}

impl<T: Element> Generator<T> {
    /// Anything that often makes sense.
    fn act(&mut self) -> Act {
        if self.model.depth(self.thread) > 0 && self.random.once_in(10) {
            return Act::End { panic: self.random.once_in(4) };
        }
        if self.model.in_scope(self.thread) && !self.random.once_in(3) {
            return self.lent();
        }
        match self.random.below(100) {
            0..14 => self.make(),
            14..24 => Act::Fill(self.part()),
            24..30 => Act::SetBytes(self.part()),
            30..38 => Act::CopyFromHost(self.part()),
            38..46 => Act::ToVec(self.part()),
            46..51 => Act::CopyToHost(self.part()),
            51..59 => self.copy(),
            59..63 => Act::Drop { slot: self.slot() },
            63..65 => Act::Close { slot: self.slot() },
            65..68 => Act::Enter(self.context()),
            68..70 => Act::Push(self.context()),
            70..77 => Act::Scope(self.stream()),
            77..81 => Act::MultiScope,
            _ => self.queue(),
        }
    }

    /// Often an empty slot.
    fn make(&mut self) -> Act {
        let mut slots = self.model.empty();
        if slots.is_empty() || self.random.once_in(6) {
            slots = (0..SLOTS).collect();
        }
        let len = if self.random.once_in(12) { T::MANY } else { self.random.pick(&LENGTHS) };
        let how = self.random.pick(&[Make::Alloc, Make::Alloc, Make::Zeroed, Make::FromSlice]);
        Act::Make { slot: self.random.pick(&slots), len, how }
    }

    /// A step on memory that is lent, or one that lends more.
    fn lent(&mut self) -> Act {
        let loans = self.model.loans(self.thread);
        if loans.is_empty() || self.random.once_in(4) {
            let stream = self.stream();
            if self.random.once_in(3) {
                let slot = self.random.below(SLOTS);
                return Act::LendShared { slot, stream };
            }
            return Act::Lend { slot: self.slot(), halves: self.random.once_in(3), stream };
        }
        let loan = self.random.pick(&loans);
        match self.random.below(10) {
            0 => Act::LentFill(loan),
            1 => Act::LentSetBytes(loan),
            2..4 => Act::LentFromHost(loan),
            4..6 => Act::LentToHost(loan),
            6..8 => Act::LentToPinned(loan),
            _ => Act::LentCopy(loan, self.random.pick(&loans)),
        }
    }

    /// Often one that the thread can use.
    fn slot(&mut self) -> usize {
        self.part().slot
    }

    /// Often all of a buffer.
    fn part(&mut self) -> Part {
        let usable = self.model.usable(self.thread);
        let (slot, all) = if usable.is_empty() { (0, 0) } else { self.random.pick(&usable) };
        let start = if self.random.once_in(3) { self.random.below(all + 1) } else { 0 };
        let len = if self.random.once_in(3) { self.random.below(all - start + 1) } else { all - start };
        Part { slot, start, len }
    }

    fn copy(&mut self) -> Act {
        let (mut from, mut to) = (self.part(), self.part());
        from.len = from.len.min(to.len);
        to.len = from.len;
        Act::Copy(to, from)
    }

    /// Often the one where all threads begin.
    fn context(&mut self) -> usize {
        if self.random.once_in(3) { self.random.below(CONTEXTS) } else { 0 }
    }

    fn stream(&mut self) -> usize {
        let streams = self.model.streams(self.thread);
        if streams.is_empty() { 0 } else { self.random.pick(&streams) }
    }

    fn mistake(&mut self) -> Act {
        Act::Mistake(self.part(), self.stream())
    }

    fn queue(&mut self) -> Act {
        let (stream, event) = (self.stream(), self.random.below(EVENTS));
        let (blocking, apart) = (Kind::New(StreamKind::Blocking), Kind::New(StreamKind::NonBlocking));
        let any = self.random.below(STREAMS);
        match self.random.below(20) {
            0..4 => Act::MakeStream(any, self.random.pick(&[blocking, apart, apart, Kind::Default])),
            4 => Act::DropStream(stream),
            5 => Act::WaitForStream(stream),
            6..8 => Act::MakeEvent(event),
            8 => Act::DropEvent(event),
            9..11 => Act::Record(event, stream),
            11..13 => Act::StreamWaits(stream, event),
            13 | 18 => Act::WaitForEvent(event),
            14 => Act::WaitForContext,
            15 => Act::AskStream(stream),
            16 => Act::AskEvent(event),
            17 => Act::MakeContext(self.random.below(CONTEXTS)),
            _ => Act::Restart,
        }
    }
}
