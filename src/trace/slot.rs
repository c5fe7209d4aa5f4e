//! The places for traced libraries: each has hooked functions of its own, which know their place by their type.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use cuprum_sys::hook::{Call, Hook};
use cuprum_sys::{CUresult, Fns, Library, LoadError};

use super::TraceError;
use super::entry::Entry;
use super::value;

/// Number of places.
pub(super) const COUNT: usize = 4;

static PLACES: [OnceLock<State>; COUNT] = [const { OnceLock::new() }; COUNT];

/// A traced library and its trace.
#[derive(Debug)]
pub(super) struct State {
    library: Library,
    /// The library with hooks; not there until it was asked for its version.
    traced: OnceLock<Library>,
    pub(super) is_on: AtomicBool,
    begun: Instant,
    pub(super) log: Mutex<Log>,
}

/// What was written down.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) entries: Vec<Entry>,
    /// Names of threads, by number.
    pub(super) threads: BTreeMap<u32, String>,
    /// Names of kernels, by handle.
    kernels: HashMap<u64, String>,
}

/// The place of a library, and the library with hooks.
pub(super) fn take(library: Library) -> Result<(&'static State, Library), TraceError> {
    static TAKING: Mutex<()> = Mutex::new(());
    let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
    for (number, place) in PLACES.iter().enumerate() {
        let state = place.get_or_init(|| State {
            library,
            traced: OnceLock::new(),
            is_on: AtomicBool::new(true),
            begun: Instant::now(),
            log: Mutex::default(),
        });
        let traced = state.traced.get().copied();
        if state.library == library || traced == Some(library) {
            let traced = match traced {
                Some(traced) => traced,
                None => hooked(number, library)?,
            };
            return Ok((state, *state.traced.get_or_init(|| traced)));
        }
    }
    Err(TraceError::TooMany)
}

/// The library with the hooks of a place.
fn hooked(number: usize, library: Library) -> Result<Library, LoadError> {
    match number {
        0 => hooked_at::<0>(library),
        1 => hooked_at::<1>(library),
        2 => hooked_at::<2>(library),
        _ => hooked_at::<3>(library),
    }
}

fn hooked_at<const NUMBER: usize>(library: Library) -> Result<Library, LoadError> {
    let origin = format!("{} (traced)", library.origin());
    // SAFETY: the place has this library for ever, and its hook passes each call on, unchanged, and answers as the driver.
    unsafe { library.hooked::<Hooked<NUMBER>>(&origin) }
}

/// Hook of a slot.
struct Hooked<const NUMBER: usize>;

impl<const NUMBER: usize> Hook for Hooked<NUMBER> {
    fn target() -> &'static Fns {
        PLACES[NUMBER].get().map_or(const { &Fns::STUBS }, |state| state.library.fns())
    }

    fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
        match PLACES[NUMBER].get() {
            Some(state) if state.is_on.load(Ordering::Relaxed) => state.write_down(call, pass_on),
            _ => pass_on(),
        }
    }
}

impl State {
    fn write_down(&self, call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
        // Before the call: what it is told may be gone after it.
        let arguments: Vec<_> =
            call.arguments().map(|argument| (argument.name(), value::written(&argument))).collect();
        let start = Instant::now();
        let result = pass_on();
        let time = start.elapsed();
        if self.traced.get().is_none() {
            return result;
        }
        let thread = this_thread();
        // SAFETY: the call has been passed on, and succeeded.
        let gave = if result == CUresult::CUDA_SUCCESS { unsafe { call.given() } } else { None };
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.threads.entry(thread).or_insert_with(name_of_this_thread);
        if let (Some(gave), Some(name)) = (gave, value::kernel_name(call)) {
            log.kernels.insert(gave, name);
        }
        let kernel = value::kernel(call).and_then(|handle| log.kernels.get(&handle).cloned());
        let (function, start) = (call.function(), start.saturating_duration_since(self.begun));
        let gave = gave.and_then(|gave| Some(call.arguments().next()?.parameter().given_text(gave)));
        log.entries.push(Entry { function, arguments, kernel, result, gave, thread, start, time });
        result
    }
}

/// Number of this thread, counted from 1 in the order of first calls.
fn this_thread() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.try_with(|number| *number).unwrap_or(0)
}

fn name_of_this_thread() -> String {
    // After the last destructors of a thread's own data its name cannot be asked for, and C is waiting for an answer.
    let name = std::panic::catch_unwind(|| std::thread::current().name().map(str::to_owned));
    name.ok().flatten().unwrap_or_default()
}
