//! The thread's stack of contexts under programs made at random, in each of which each call fails once, done or not.
//!
//! The programs push, forget, drop, enter, end contexts and drop what lies in another context, in any order that the
//! types allow, over one driver or two. Whatever they do and whatever fails, a token that is used meets its own context
//! or answers with an error.

use std::cell::{Cell, RefCell};

use cuprum::sys::CUresult;
use cuprum::{Buffer, Context, ContextFlags, ContextStack, Current, Driver, SharedContext};

use crate::amount;
use crate::tracer::{Backing, Injection, Pick, Session};

/// Programs that are tried, and the runs that they come to at least.
const PROGRAMS: u64 = 300;
const RUNS: usize = 5_000;
/// One in so many of them is a sample.
const SAMPLE: usize = 8;

/// Objects that a program works with.
struct World<'a> {
    session: &'a Session,
    random: Cell<u64>,
    /// Steps that are left.
    steps: Cell<u32>,
    /// Tokens that answered with an error.
    refused: Cell<u32>,
    /// Contexts that stay, of one driver and perhaps of another.
    lasting: [SharedContext; 3],
    /// Contexts that end in the middle.
    passing: RefCell<Vec<SharedContext>>,
    /// What is dropped where other contexts are current.
    buffers: RefCell<Vec<Buffer<'static, u8>>>,
    drivers: [Driver; 2],
}

fn context(driver: Driver) -> Option<SharedContext> {
    Some(Context::create(driver.device(0).ok()?, ContextFlags::empty()).ok()?.share())
}

impl World<'_> {
    /// A number below `below`.
    fn pick(&self, below: u64) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x >> 20) % below
    }

    fn any_lasting(&self) -> &SharedContext {
        &self.lasting[self.pick(3) as usize]
    }

    /// One that stays or one that may end; a handle of it is out as long as it is used.
    fn any_context(&self) -> SharedContext {
        let passing = self.passing.borrow();
        match self.pick(5) {
            0 | 1 if !passing.is_empty() => passing[self.pick(passing.len() as u64) as usize].clone(),
            _ => self.any_lasting().clone(),
        }
    }

    /// Calls of the driver with a token: meant for its context, or refused.
    fn try_out(&self, cx: &Current<'_, 'static>) {
        self.session.expect(Some(cx.context().as_raw()));
        let made = Buffer::<u8>::alloc(cx, 16);
        self.session.expect(None);
        match made {
            Ok(buffer) => self.buffers.borrow_mut().push(buffer),
            Err(_) => self.refused.set(self.refused.get() + 1),
        }
    }

    /// A step that needs no token.
    fn beside(&self) {
        match self.pick(5) {
            0 => drop(self.buffers.borrow_mut().pop()),
            1 => {
                let made = context(self.drivers[self.pick(2) as usize]);
                self.passing.borrow_mut().extend(made);
            }
            2 => drop(self.passing.borrow_mut().pop()),
            3 => {
                // A context that another thread ends stays on this thread's stack, if it is there.
                let context = self.passing.borrow_mut().pop();
                let (session, end) = (self.session, move || drop(context));
                std::thread::scope(|threads| threads.spawn(|| session.enter(end)).join().expect("no panic"));
            }
            _ => {
                let context = self.any_context();
                let _ = context.enter(|cx| self.run(cx));
            }
        }
    }

    /// Steps with a token, until the program is over or the token is to go.
    fn run(&self, cx: &mut Current<'_, 'static>) {
        while self.steps.get() > 0 {
            self.steps.set(self.steps.get() - 1);
            match self.pick(8) {
                0 => break,
                1 | 2 => self.try_out(cx),
                3 => self.push(cx, true),
                4 | 5 => self.push(cx, false),
                _ => self.beside(),
            }
        }
        self.try_out(cx);
    }

    fn push(&self, cx: &mut Current<'_, 'static>, forgotten: bool) {
        let context = self.any_context();
        let Ok(mut upper) = cx.push(&context) else { return };
        self.run(&mut upper);
        if forgotten {
            std::mem::forget(upper);
        }
    }
}

/// Runs the program of a number with the call of a number failing. Answers how many calls there were, and what was
/// found wrong.
fn run(seed: u64, drivers: [Driver; 2], failure: Option<(usize, bool)>) -> (usize, Vec<String>) {
    let session = Session::watched();
    std::thread::scope(|scope| {
        let body = || session.enter(|| program(&session, seed, drivers, failure));
        let calls = scope.spawn(body).join().expect("no panic");
        let violations = session.violations().iter().map(|violation| format!("{violation:?}")).collect();
        (calls, violations)
    })
}

fn program(session: &Session, seed: u64, drivers: [Driver; 2], failure: Option<(usize, bool)>) -> usize {
    let lasting = [drivers[0], drivers[0], drivers[1]].map(|driver| context(driver).expect("a context"));
    let foreign = drivers.map(|driver| context(driver).expect("a context"));
    let world = World {
        session,
        random: Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
        steps: Cell::new(12),
        refused: Cell::new(0),
        lasting,
        passing: RefCell::default(),
        buffers: RefCell::default(),
        drivers,
    };
    // Somebody else's contexts below all tokens.
    for context in &foreign {
        // SAFETY: the context outlives the program.
        let (code, _) = unsafe {
            cuprum::sys::call!(context.driver().library().fns(), cuCtxPushCurrent_v2(context.as_raw()))
        };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
    }
    let before = session.len();
    session.inject(failure.map(|(at, done)| Injection {
        pick: Pick::Nth(at),
        code: CUresult::CUDA_ERROR_UNKNOWN,
        done,
        lasting: false,
    }));
    {
        let mut stack = ContextStack::take().expect("a thread of its own");
        let lowest = world.any_lasting().clone();
        if let Ok(mut cx) = stack.push(&lowest) {
            world.run(&mut cx);
        }
        // The steps that are left, with the tokens of another round.
        if let Ok(mut cx) = stack.push(&lowest) {
            world.run(&mut cx);
        }
    }
    session.inject(None);
    let calls = session.len() - before;
    assert!(
        failure.is_some() || world.refused.get() == 0,
        "program {seed}: nothing failed, and a token was refused"
    );
    calls
}

/// Tries all programs and all failures of one call.
fn try_all(second: Backing) {
    let drivers = [Backing::Emulator.driver(), second.driver()];
    let (mut runs, mut found) = (0, Vec::new());
    let sample = if amount::all() { 1 } else { SAMPLE };
    for seed in (1..=PROGRAMS).step_by(sample) {
        let (calls, violations) = run(seed, drivers, None);
        found.extend(violations.into_iter().map(|text| format!("program {seed}: {text}")));
        for (at, done) in (0..calls).flat_map(|at| [(at, false), (at, true)]) {
            let (_, violations) = run(seed, drivers, Some((at, done)));
            let told =
                violations.into_iter().map(|text| format!("program {seed}, call {at}, done {done}: {text}"));
            found.extend(told);
            runs += 1;
        }
    }
    assert!(runs > RUNS / sample, "hardly anything was tried: {runs}");
    found.sort_by_key(String::len);
    assert!(found.is_empty(), "{} of {runs}:\n{}", found.len(), found[..found.len().min(10)].join("\n"));
}

#[test]
fn tokens_of_one_driver_meet_their_own_context() {
    try_all(Backing::Emulator);
}

#[test]
fn tokens_of_two_drivers_meet_their_own_context() {
    try_all(Backing::OtherNothing);
}
