//! Signals: which one ended a program, and those that are meant for the program that was started here.

use std::io;
use std::process::{Child, Command, ExitStatus};

use crate::exit;

/// The exit code of a program that has ended, as shells count it.
pub(crate) fn code(status: ExitStatus) -> u8 {
    match (status.code(), of(status)) {
        (Some(code), _) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        (None, Some(signal)) => exit::SIGNAL.saturating_add(u8::try_from(signal).unwrap_or(0)),
        (None, None) => u8::MAX,
    }
}

/// The signal that ended a program.
#[cfg(unix)]
pub(crate) fn of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.signal()
}

#[cfg(not(unix))]
pub(crate) fn of(_status: ExitStatus) -> Option<i32> {
    None
}

/// Starts a program. From then on a signal that is meant to end both of them, such as Ctrl-C, ends the program alone: who
/// interrupts it wants to see what it did until then.
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

    /// The program; 0 before it has started.
    static CHILD: AtomicI32 = AtomicI32::new(0);
    /// A signal that came before the program was known, or 0.
    static EARLY: AtomicI32 = AtomicI32::new(0);

    /// Signals from the terminal reach the program by themselves; one that was sent to this process alone goes on to it.
    extern "C" fn pass(number: c_int) {
        if matches!(number, SIGTERM | SIGHUP) {
            EARLY.store(number, Ordering::SeqCst);
            pass_on();
        }
    }

    /// Passes a signal on once the program is known. Who takes the signal sends it.
    fn pass_on() {
        let child = CHILD.load(Ordering::SeqCst);
        if child > 0 {
            let number = EARLY.swap(0, Ordering::SeqCst);
            if number != 0 {
                // SAFETY: takes no pointer, and may be called in a handler.
                unsafe { kill(child, number) };
            }
        }
    }

    /// Has this process outlive signals. A handler, unlike ignoring, does not pass to the program that is started; what
    /// whoever started us has had ignored (`nohup`) stays so, for both.
    pub(super) fn set() {
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            // SAFETY: the handler does only what handlers may.
            let before = unsafe { signal(number, pass as *const () as usize) };
            if before == SIG_IGN {
                // SAFETY: these signals may be ignored, and were.
                unsafe { signal(number, SIG_IGN) };
            }
        }
    }

    /// Names the program that signals are passed on to. A signal may have come since the program began.
    pub(super) fn pass_to(child: u32) {
        CHILD.store(child as i32, Ordering::SeqCst);
        pass_on();
    }
}
