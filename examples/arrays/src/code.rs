//! From results to codes, and the text of each thread's last error.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_char;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{ARRAYS_BUG, ARRAYS_DEVICE, ARRAYS_FORKED, ARRAYS_INVALID, ARRAYS_OK};

/// A code that is not [`ARRAYS_OK`], and its text.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: i32,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(code: i32, text: impl Display) -> Self {
        Self { code, text: text.to_string() }
    }
}

/// Invalid arguments.
pub(crate) fn invalid(text: &str) -> Failure {
    Failure::new(ARRAYS_INVALID, text)
}

/// Every error of cuprum and of the choice of a device.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(ARRAYS_DEVICE, error)
    }
}

/// The error in a forked child, returned before it can reach a lock that a thread of its parent
/// held.
pub(crate) fn forked() -> Failure {
    Failure::new(
        ARRAYS_FORKED,
        "this process is a fork of one that had used the device; start it anew instead",
    )
}

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The text of this thread's last error.
pub(crate) fn with_last<R>(use_it: impl FnOnce(&str) -> R) -> R {
    // While the thread ends, it no longer exists.
    let mut use_it = Some(use_it);
    let used = LAST.try_with(|last| use_it.take().map(|use_it| use_it(&last.borrow())));
    match (used, use_it) {
        (Ok(Some(result)), _) => result,
        (_, Some(use_it)) => use_it(""),
        (_, None) => unreachable!("either it was used or it is left"),
    }
}

/// Runs the body of a function of C: keeps the text of its error, and a panic inside.
pub(crate) fn answer(body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return ARRAYS_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::new(ARRAYS_BUG, message(&*panic)),
    };
    // While the thread ends, no code can read it any more.
    let _ = LAST.try_with(|last| last.replace(failure.text));
    failure.code
}

fn message(panic: &dyn Any) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

/// Writes a text for C, cut if necessary.
///
/// # Safety
/// `to` is writable for `bytes` bytes.
pub(crate) unsafe fn write_text(text: &str, to: *mut c_char, bytes: usize) {
    let Some(room) = bytes.checked_sub(1) else { return };
    let len = text.len().min(room);
    // SAFETY: less than the bytes that the caller has, from a text that is at least as long.
    unsafe { text.as_ptr().copy_to_nonoverlapping(to.cast::<u8>(), len) };
    // SAFETY: within the bytes that the caller has.
    unsafe { to.wrapping_add(len).write(0) };
}
