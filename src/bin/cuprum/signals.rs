//! Signals: which one ended a program, and those that are meant for the program alone.

use std::process::ExitStatus;

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

/// From now on an interrupt from the terminal ends the programs that were started before, and not this one, which then
/// has something to say of them.
#[cfg(unix)]
pub(crate) fn ignore_interrupts() {
    // From the C library, which every program has: `SIG_IGN` is 1, and so are these two numbers on every Unix.
    const IGNORE: usize = 1;
    const INTERRUPT: i32 = 2;
    const QUIT: i32 = 3;
    unsafe extern "C" {
        fn signal(number: i32, handler: usize) -> usize;
    }
    for number in [INTERRUPT, QUIT] {
        // SAFETY: both signals may be ignored, and this program has no handler of its own for them.
        unsafe { signal(number, IGNORE) };
    }
}

#[cfg(not(unix))]
pub(crate) fn ignore_interrupts() {}
