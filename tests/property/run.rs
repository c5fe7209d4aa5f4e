//! Runs a program on threads of its own and compares its reads with the model.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuprum::Driver;
use cuprum::context::{Context, ContextFlags, PrimaryContext};

use super::element::Element;
use super::model::{Cells, Model};
use super::shrink::text;
use super::step::{Act, SLOTS, Step, THREADS};
use super::worker::{Answer, Tables, Worker, told};
use cuprum_testing::random::Random;

/// A step that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A thread as its master sees it.
struct Hired<T> {
    orders: Sender<(usize, Act)>,
    answers: Receiver<Answer<T>>,
    thread: JoinHandle<()>,
    /// The step that it does now, and the objects that this uses.
    busy: Option<(usize, u64)>,
}

/// Elements that were read, and the expected ones.
struct Seen<T> {
    number: usize,
    read: Vec<T>,
    expected: Cells<T>,
}

/// Steps of all programs of the process so far. The values that they write depend on their number,
/// so reused memory never holds by chance the values that a later program writes there.
static STEPS: AtomicUsize = AtomicUsize::new(0);

/// A program that runs.
struct Run<'a, T: Element> {
    program: &'a [Step],
    /// The number of its first step.
    first: usize,
    model: Model<T>,
    tables: Arc<Tables<T>>,
    threads: Vec<Hired<T>>,
    /// Values that steps that have begun must read.
    expected: HashMap<usize, Cells<T>>,
    seen: Vec<Seen<T>>,
}

/// Runs a program; the error describes the failure. Objects are dropped at the end in an order that
/// depends on `seed`.
pub(crate) fn run<T: Element>(driver: Driver, program: &[Step], seed: u64) -> Result<(), String> {
    let swallowed = cuprum::swallowed::count();
    let device = driver.device(0).map_err(told)?;
    let contexts = [
        Context::create(device, ContextFlags::empty()).map_err(told)?.share(),
        PrimaryContext::retain(device).map_err(told)?.share(),
    ];
    let tables = Arc::new(Tables::<T>::new(contexts));
    let threads = (0..THREADS).map(|thread| hire(&tables, (seed >> thread) & 1 == 0)).collect();
    let (expected, seen) = (HashMap::new(), Vec::new());
    let first = STEPS.fetch_add(program.len() + 1, Ordering::Relaxed);
    let mut run =
        Run { program, first, model: Model::new(), tables: Arc::clone(&tables), threads, expected, seen };
    let answer = run.all().and_then(|()| run.last_look());
    let ended = run.threads.drain(..).map(end).fold(Ok(()), Result::and);
    answer.and(ended)?;
    run.look_again()?;
    drop(run);
    let tables = Arc::into_inner(tables).ok_or("somebody keeps the objects")?;
    drop_all(tables, &mut Random::new(seed));
    match cuprum::swallowed::count() - swallowed {
        0 => Ok(()),
        count => Err(format!("drops swallowed {count} errors")),
    }
}

fn hire<T: Element>(tables: &Arc<Tables<T>>, by_stack: bool) -> Hired<T> {
    let ((orders, ordered), (answering, answers)) = (channel(), channel());
    let worker = Worker { tables: Arc::clone(tables), orders: ordered, answers: answering };
    Hired { orders, answers, thread: thread::spawn(move || worker.serve(by_stack)), busy: None }
}

/// Sends a thread no more steps.
fn end<T>(thread: Hired<T>) -> Result<(), String> {
    drop(thread.orders);
    thread.thread.join().map_err(|_| "a thread panicked".into())
}

/// Contexts, buffers, streams and events, in any order: the contexts go with the last of their
/// objects.
fn drop_all<T: Element>(tables: Tables<T>, random: &mut Random) {
    let mut objects: Vec<Box<dyn Send>> = Vec::new();
    tables.contexts.into_iter().for_each(|context| objects.push(Box::new(context)));
    tables.buffers.into_iter().for_each(|buffer| objects.push(Box::new(buffer)));
    tables.streams.into_iter().for_each(|stream| objects.push(Box::new(stream)));
    tables.events.into_iter().for_each(|event| objects.push(Box::new(event)));
    random.shuffle(&mut objects);
}

impl<T: Element> Run<'_, T> {
    /// Does all steps that make sense, then leaves the scopes and tokens that are open.
    fn all(&mut self) -> Result<(), String> {
        for (number, step) in (self.first..).zip(self.program) {
            self.step(number, step)?;
        }
        for thread in 0..THREADS {
            while self.model.depth(thread) > 0 {
                let end = Step { thread, beside: false, act: Act::End { panic: false } };
                self.step(self.first + self.program.len(), &end)?;
            }
            self.hear(thread)?;
        }
        Ok(())
    }

    fn step(&mut self, number: usize, step: &Step) -> Result<(), String> {
        let objects = self.model.objects(step);
        for thread in 0..THREADS {
            let in_the_way = self.threads[thread].busy.is_some_and(|(_, busy)| busy & objects != 0);
            if thread == step.thread || in_the_way {
                self.hear(thread)?;
            }
        }
        let Some(expected) = self.model.apply(number, step) else { return Ok(()) };
        if step.act == Act::Restart {
            return self.restart(step.thread);
        }
        self.expected.insert(number, expected);
        let thread = &mut self.threads[step.thread];
        thread.orders.send((number, step.act)).map_err(|_| format!("{step}: the thread is gone"))?;
        thread.busy = Some((number, objects));
        if step.beside { Ok(()) } else { self.hear(step.thread) }
    }

    /// Waits for the thread's current step, and compares the elements that it read.
    fn hear(&mut self, thread: usize) -> Result<(), String> {
        let Some((number, _)) = self.threads[thread].busy.take() else { return Ok(()) };
        let name = self.name(number);
        let answer = self.threads[thread].answers.recv_timeout(PATIENCE);
        // The thread could not be ended either.
        assert_ne!(
            answer.as_ref().err(),
            Some(&RecvTimeoutError::Timeout),
            "{name} hangs in\n{}",
            text(self.program)
        );
        let answer = answer.map_err(|_| format!("{name}: the thread is gone"))?;
        if let Some(error) = answer.error {
            return Err(format!("{name}: {error}"));
        }
        for (number, read) in answer.reads {
            let Some(expected) = self.expected.remove(&number) else { continue };
            compare(&self.name(number), &read, &expected)?;
            if let Some(Step { act: Act::ToVec(part) | Act::CopyToHost(part), .. }) =
                self.program.get(number - self.first)
            {
                self.model.pin(*part, &read);
            }
            self.seen.push(Seen { number, read, expected });
        }
        Ok(())
    }

    fn name(&self, number: usize) -> String {
        let at = number - self.first;
        self.program.get(at).map_or("the end".into(), |step| format!("step {at}, {step}"))
    }

    fn restart(&mut self, thread: usize) -> Result<(), String> {
        let another = hire(&self.tables, true);
        end(std::mem::replace(&mut self.threads[thread], another))
    }

    /// Reads all buffers that are left, on this thread.
    fn last_look(&mut self) -> Result<(), String> {
        for slot in 0..SLOTS {
            let Some(expected) = self.model.contents(slot) else { continue };
            let buffer = self.tables.buffer(slot);
            let buffer = buffer.as_ref().ok_or("a buffer is lost")?;
            let read = buffer.context().enter_as(|cx| buffer.to_vec(cx)).map_err(told)?;
            compare(&format!("at the end, buffer {slot}"), &read, &expected)?;
        }
        Ok(())
    }

    /// Host memory that was copied to must not change any more.
    fn look_again(&self) -> Result<(), String> {
        let again = |seen: &Seen<T>| {
            let name = format!("{}, when looked at again on the host", self.name(seen.number));
            compare(&name, &seen.read, &seen.expected)
        };
        self.seen.iter().try_for_each(again)
    }
}

/// Compares the elements read with the elements written.
fn compare<T: Element>(name: &str, read: &[T], expected: &Cells<T>) -> Result<(), String> {
    if read.len() != expected.len() {
        return Err(format!("{name}: {} elements, not {}", read.len(), expected.len()));
    }
    let differs = |(read, expected): (&T, &Option<T>)| expected.is_some_and(|expected| expected != *read);
    let Some(at) = read.iter().zip(expected).position(differs) else { return Ok(()) };
    let (read, right) = (read[at], expected[at].unwrap_or(read[at]));
    Err(format!("{name}: element {at} is {read:x?}, by the program's order it is {right:x?}"))
}
