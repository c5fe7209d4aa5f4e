//! The thread's stack of contexts under programs made at random, in each of which each call fails
//! once, done or not.
//!
//! The programs push, forget, drop, enter, attach, end contexts and drop objects of another
//! context, in any order that the types allow, over one driver, two tables of one, or two drivers.
//! A reference computes the expected result. After any program and any failure, a token that is
//! used meets its own context or returns an error, which it may do only after a failure, or inside
//! of an `enter`. Once no token is left, a failure is forgotten: the next push begins anew.
//! Contexts that other code has pushed below stay there.

use std::cell::{Cell, RefCell};

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::sys::{CUcontext, CUresult, FnId};
use cuprum::{Buffer, ContextRef, Current, Driver, Shared};

use crate::amount;
use crate::tracer::{Backing, Injection, Pick, Session};

/// Programs that are tried, and the runs that they come to at least.
const PROGRAMS: u64 = 10_000;
const RUNS: usize = 30_000;
/// One in so many of them is a sample. If [`EACH_CALL`] divided it, each call would fail in all of
/// them.
const SAMPLE: usize = 124;
/// Of one in so many programs, each call fails in turn.
const EACH_CALL: u64 = 25;
/// A second call that fails comes at most so many calls after the first.
const MOST_APART: u64 = 12;

/// Objects that a program works with.
struct World<'a> {
    session: &'a Session,
    random: Cell<u64>,
    /// Steps that are left.
    steps: Cell<u32>,
    /// Tokens that returned an error.
    refused: Cell<u32>,
    /// True if a token of the code outside of an `enter` was used in it.
    used_outside: Cell<bool>,
    /// Contexts that stay, of one driver and perhaps of another.
    lasting: [Shared<ContextRef>; 3],
    /// Contexts that end in the middle.
    passing: RefCell<Vec<Shared<ContextRef>>>,
    /// Objects that are dropped while other contexts are current.
    buffers: RefCell<Vec<Buffer<'static, u8>>>,
    drivers: [Driver; 2],
}

fn context(driver: Driver) -> Option<Shared<ContextRef>> {
    Some(Context::create(driver.device(0).ok()?, ContextFlags::empty()).ok()?.share())
}

impl<'a> World<'a> {
    fn new(session: &'a Session, seed: u64, drivers: [Driver; 2], lasting: [Shared<ContextRef>; 3]) -> Self {
        World {
            session,
            random: Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            steps: Cell::new(12),
            refused: Cell::new(0),
            used_outside: Cell::new(false),
            lasting,
            passing: RefCell::default(),
            buffers: RefCell::default(),
            drivers,
        }
    }

    /// A number below `below`.
    fn pick(&self, below: u64) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x >> 20) % below
    }

    fn any_lasting(&self) -> &Shared<ContextRef> {
        &self.lasting[self.pick(3) as usize]
    }

    /// One that stays or one that may end; a handle of it is out as long as it is used.
    fn any_context(&self) -> Shared<ContextRef> {
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
    fn beside(&self, outside: &Current<'_, 'static>) {
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
                let _ = context.enter_as::<cuprum::Error, _>(|cx| {
                    let refused =
                        outside.synchronize().is_err_and(|error| error.code() == cuprum::Error::OUT_OF_ORDER);
                    self.used_outside.set(self.used_outside.get() || !refused);
                    self.run(cx);
                    Ok(())
                });
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
                3 => self.push(cx, End::Forget),
                4 => self.push(cx, End::Pop),
                5 => self.push(cx, End::Drop),
                _ => self.beside(cx),
            }
        }
        self.try_out(cx);
    }

    /// Steps of a thread that is attached to a context, on top of which others are entered.
    fn run_attached(&self, context: &Shared<ContextRef>, is_wanted: bool) {
        let Some(cx) = is_wanted.then(|| context.attach().ok()).flatten() else { return };
        while self.steps.get() > 0 {
            self.steps.set(self.steps.get() - 1);
            match self.pick(6) {
                0 => break,
                1 | 2 => self.try_out(&cx),
                3 => {
                    // The record agrees with the driver.
                    let entered = context.enter_as::<cuprum::Error, _>(|cx| {
                        self.try_out(cx);
                        Ok(())
                    });
                    if entered.is_err() {
                        self.refused.set(self.refused.get() + 1);
                    }
                }
                _ => self.beside(&cx),
            }
        }
        self.try_out(&cx);
    }

    fn push(&self, cx: &mut Current<'_, 'static>, end: End) {
        let context = self.any_context();
        let mut upper = match cx.push(&context) {
            Ok(upper) => upper,
            // Two drivers have two stacks.
            Err(error) if error.code() == cuprum::Error::WRONG_CONTEXT => return,
            Err(_) => return self.refused.set(self.refused.get() + 1),
        };
        self.run(&mut upper);
        match end {
            End::Drop => drop(upper),
            End::Pop => drop(upper.pop()),
            End::Forget => std::mem::forget(upper),
        }
    }

    /// A stack that is taken after all tokens are dropped knows nothing of earlier failures.
    fn begin_anew(&self) {
        for context in &self.lasting {
            let mut stack = ContextStack::take().expect("it was given back");
            let answer = stack.push(context).and_then(|mut cx| {
                self.try_out(&cx);
                let upper = cx.push(context)?;
                self.try_out(&upper);
                upper.pop()?;
                self.try_out(&cx);
                cx.pop()
            });
            if answer.is_err() {
                self.refused.set(self.refused.get() + 1);
            }
        }
    }
}

/// End of a token.
#[derive(Clone, Copy)]
enum End {
    Drop,
    Pop,
    Forget,
}

/// Pushes a context as other code does.
fn push_as_other_code(context: &Shared<ContextRef>) {
    // SAFETY: the context outlives the program.
    let (code, _) = unsafe {
        cuprum::sys::call!(context.driver().library().fns(), cuCtxPushCurrent_v2(context.as_raw()))
    };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

/// Pops the contexts that a program has left on a driver's stack, until the context that other code
/// had pushed is current.
fn is_still_there(context: &Shared<ContextRef>, backing: Backing) -> bool {
    let mut popped = CUcontext::null();
    (0..64).any(|_| {
        let found = backing.current() == context.as_raw().0.addr() as u64;
        // SAFETY: the out-parameter outlives the call, and no token is left.
        let (_, _): (CUresult, FnId) = unsafe {
            cuprum::sys::call!(context.driver().library().fns(), cuCtxPopCurrent_v2(&raw mut popped))
        };
        found
    })
}

/// A call that fails: its number, and whether it is done all the same.
type Failure = (usize, bool);

/// Two drivers and their backings.
type Drivers = [(Driver, Backing); 2];

/// Runs the program of a number with calls failing. Returns the number of calls and the mistakes
/// found.
fn run(seed: u64, drivers: Drivers, failures: &[Failure]) -> (usize, Vec<String>) {
    let session = Session::watched();
    std::thread::scope(|scope| {
        let body = || session.enter(|| program(&session, seed, drivers, failures));
        let (calls, mut found) = scope.spawn(body).join().expect("no panic");
        found.extend(session.violations().iter().map(|violation| format!("{violation:?}")));
        (calls, found)
    })
}

fn program(session: &Session, seed: u64, drivers: Drivers, failures: &[Failure]) -> (usize, Vec<String>) {
    let (drivers, backings) = (drivers.map(|(driver, _)| driver), drivers.map(|(_, backing)| backing));
    let lasting = [drivers[0], drivers[0], drivers[1]].map(|driver| context(driver).expect("a context"));
    let foreign = drivers.map(|driver| context(driver).expect("a context"));
    let world = World::new(session, seed, drivers, lasting);
    // Contexts of other code below all tokens.
    foreign.iter().for_each(push_as_other_code);
    let before = session.len();
    let code = CUresult::CUDA_ERROR_UNKNOWN;
    session.inject(failures.iter().map(|&(at, done)| Injection {
        pick: Pick::Nth(at),
        code,
        done,
        lasting: false,
    }));
    {
        let lowest = world.any_lasting().clone();
        // In some programs, after or before the tokens of a stack.
        let attach_at = world.pick(4);
        world.run_attached(&lowest, attach_at == 0);
        let mut stack = ContextStack::take().expect("a thread of its own");
        if let Ok(mut cx) = stack.push(&lowest) {
            world.run(&mut cx);
        }
        // The steps that are left, with the tokens of another round.
        if let Ok(mut cx) = stack.push(&lowest) {
            world.run(&mut cx);
        }
        drop(stack);
        world.run_attached(&lowest, attach_at == 1);
    }
    session.inject(None);
    let (calls, mut found) = (session.len() - before, Vec::new());
    if failures.is_empty() && world.refused.get() != 0 {
        found.push("nothing failed, and a token was refused".to_owned());
    }
    if world.used_outside.get() {
        found.push("a token of the code outside was used inside of an `enter`".to_owned());
    }
    world.refused.set(0);
    world.begin_anew();
    if world.refused.get() != 0 {
        found.push("a new stack was refused for what had failed before".to_owned());
    }
    // The last one that was pushed is on top, if both are of one driver.
    for (context, backing) in foreign.iter().zip(backings).rev() {
        if !is_still_there(context, backing) {
            found.push("what other code had pushed was popped".to_owned());
        }
    }
    (calls, found)
}

/// The failures with which a program is run: of one in so many, each call in turn, done and not; of
/// the others one call; and two of each.
fn failures(seed: u64, calls: usize) -> Vec<Vec<Failure>> {
    let pick = |salt: u64, below: u64| (seed.wrapping_mul(salt) >> 24) % below.max(1);
    let at = pick(0x9E37_79B9_7F4A_7C15, calls as u64) as usize;
    let apart = 1 + pick(0xC2B2_AE3D_27D4_EB4F, MOST_APART) as usize;
    let ways = pick(0x1656_67B1_9E37_79F9, 4);
    let (done, second_done) = (ways & 1 == 1, ways & 2 == 2);
    let single = if seed % EACH_CALL == 1 { 0..calls } else { at..at + 1 };
    let single = single.flat_map(|at| [vec![(at, done)], vec![(at, !done)]]);
    single.chain([vec![(at, done), (at + apart, second_done)]]).collect()
}

/// Runs all programs, each with all failures of one call and some of two.
fn try_all(second: Backing) {
    // Opening a driver resolves each function, which takes longer than a program.
    let drivers = [Backing::Emulator, second].map(|backing| (backing.driver(), backing));
    let (mut runs, mut found) = (0, Vec::new());
    let sample = if amount::all() { 1 } else { SAMPLE };
    for seed in (1..=PROGRAMS).step_by(sample) {
        let (calls, wrong) = run(seed, drivers, &[]);
        found.extend(wrong.into_iter().map(|text| format!("program {seed}: {text}")));
        for failures in failures(seed, calls) {
            let (_, wrong) = run(seed, drivers, &failures);
            let told = wrong.into_iter().map(|text| format!("program {seed}, failing {failures:?}: {text}"));
            found.extend(told);
            runs += 1;
        }
    }
    let least = if amount::all() { RUNS } else { RUNS / 100 };
    assert!(runs > least, "hardly anything was tried: {runs}");
    found.sort_by_key(String::len);
    assert!(found.is_empty(), "{} of {runs}:\n{}", found.len(), found[..found.len().min(10)].join("\n"));
}

#[test]
fn tokens_of_one_driver_meet_their_own_context() {
    try_all(Backing::Emulator);
}

#[test]
fn tokens_of_two_tables_of_one_driver_meet_their_own_context() {
    try_all(Backing::EmulatorPerThread);
}

#[test]
fn tokens_of_two_drivers_meet_their_own_context() {
    try_all(Backing::OtherNothing);
}
