//! A program that is run, while this one stays to write down what it did.

use std::io;
use std::process::{Command, ExitStatus};

/// Runs a program to its end. A signal that is meant to end both of them, such as Ctrl-C, ends the program alone.
pub(crate) fn run(command: &mut Command, started: impl FnOnce(u32)) -> io::Result<ExitStatus> {
    #[cfg(unix)]
    signals::pass_on();
    let mut child = command.spawn()?;
    #[cfg(unix)]
    signals::to(child.id());
    started(child.id());
    child.wait()
}

#[cfg(unix)]
mod signals {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicI32, Ordering};

    const SIGHUP: c_int = 1;
    const SIGINT: c_int = 2;
    const SIGQUIT: c_int = 3;
    const SIGTERM: c_int = 15;

    unsafe extern "C" {
        fn signal(number: c_int, handler: usize) -> usize;
        fn kill(process: c_int, number: c_int) -> c_int;
    }

    /// The program; 0 before it has started.
    static CHILD: AtomicI32 = AtomicI32::new(0);

    /// Signals from the terminal reach the program by themselves; one that was sent to this process alone goes on to it.
    extern "C" fn pass(number: c_int) {
        let child = CHILD.load(Ordering::Relaxed);
        if child > 0 && matches!(number, SIGTERM | SIGHUP) {
            // SAFETY: takes no pointer, and may be called in a handler.
            unsafe { kill(child, number) };
        }
    }

    /// Has this process outlive signals. A handler, unlike ignoring, does not pass to the program that is started.
    pub(super) fn pass_on() {
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            // SAFETY: the handler does only what handlers may.
            unsafe { signal(number, pass as *const () as usize) };
        }
    }

    /// Names the program that signals are passed on to.
    pub(super) fn to(child: u32) {
        CHILD.store(child as i32, Ordering::Relaxed);
    }
}
