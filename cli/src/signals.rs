//! Signals: the one that ended a program, and those to pass on to the started program.

use std::io;
use std::process::{Child, Command, ExitStatus};

use crate::exit;

/// The exit code of a program that has ended, as in shells.
pub(crate) fn code(status: ExitStatus) -> u8 {
    match (status.code(), of(status)) {
        (Some(code), _) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        (None, Some(signal)) => exit::SIGNAL.saturating_add(u8::try_from(signal).unwrap_or(0)),
        (None, None) => u8::MAX,
    }
}

#[cfg(unix)]
pub(crate) fn of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.signal()
}

#[cfg(not(unix))]
pub(crate) fn of(_status: ExitStatus) -> Option<i32> {
    None
}

/// Returns the status of a started program if it has ended. No signal is passed to its number from
/// then on, because another process may get it.
pub(crate) fn try_wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let ended = child.try_wait()?;
    #[cfg(unix)]
    if ended.is_some() {
        handlers::forget(child.id());
    }
    Ok(ended)
}

/// Starts a program. From then on, a signal that would end both, such as Ctrl-C, ends only the
/// program, so that the user still gets the results so far.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    #[cfg(unix)]
    handlers::set();
    let child = command.spawn()?;
    #[cfg(unix)]
    handlers::pass_to(child.id());
    Ok(child)
}

#[cfg(unix)]
mod handlers {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicI32, Ordering};

    const SIGHUP: c_int = 1;
    const SIGINT: c_int = 2;
    const SIGQUIT: c_int = 3;
    const SIGTERM: c_int = 15;
    const SIG_IGN: usize = 1;

    unsafe extern "C" {
        fn signal(number: c_int, handler: usize) -> usize;
        fn kill(process: c_int, number: c_int) -> c_int;
    }

    /// Largest number of programs that receive signals.
    const MOST: usize = 16;
    /// The programs, or 0.
    static CHILDREN: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];
    /// For each, a signal that arrived before the program was known, or 0.
    static EARLY: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];

    /// Passes on a signal sent only to this process; the terminal's signals also reach the program.
    extern "C" fn pass(number: c_int) {
        if matches!(number, SIGTERM | SIGHUP) {
            for (child, early) in CHILDREN.iter().zip(&EARLY) {
                early.store(number, Ordering::SeqCst);
                pass_on(child, early);
            }
        }
    }

    /// Passes a signal on once the program is known. Only the code that takes the signal sends it.
    fn pass_on(child: &AtomicI32, early: &AtomicI32) {
        let child = child.load(Ordering::SeqCst);
        if child > 0 {
            let number = early.swap(0, Ordering::SeqCst);
            if number != 0 {
                // SAFETY: takes no pointer, and is allowed in a handler.
                unsafe { kill(child, number) };
            }
        }
    }

    /// Makes this process survive signals. Unlike ignoring, a handler is not inherited by the
    /// started program. Signals that were already ignored (`nohup`) stay ignored for both.
    pub(super) fn set() {
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            // SAFETY: the handler makes only calls allowed in handlers.
            let before = unsafe { signal(number, pass as *const () as usize) };
            if before == SIG_IGN {
                // SAFETY: these signals may be ignored, and were.
                unsafe { signal(number, SIG_IGN) };
            }
        }
    }

    /// Adds a program that receives signals. A signal may already have arrived.
    pub(super) fn pass_to(child: u32) {
        let place = CHILDREN.iter().position(|other| other.load(Ordering::SeqCst) == 0);
        let Some(place) = place else { return };
        CHILDREN[place].store(child as i32, Ordering::SeqCst);
        pass_on(&CHILDREN[place], &EARLY[place]);
    }

    /// Stops passing signals to a program. Its place is not reused.
    pub(super) fn forget(child: u32) {
        for other in &CHILDREN {
            let _ = other.compare_exchange(child as i32, -1, Ordering::SeqCst, Ordering::SeqCst);
        }
    }
}
