//! Driver call that a thread is serving, so that new objects can be attributed to that call.

use cuprum_sys::FnId;
use std::cell::Cell;

thread_local! {
    static SERVED: Cell<Option<FnId>> = const { Cell::new(None) };
}

/// Notes the call that begins on this thread.
pub(crate) fn begin(call: FnId) {
    // Fails only while the thread ends, when no objects are made any more.
    let _ = SERVED.try_with(|served| served.set(Some(call)));
}

/// The call that this thread is serving, or served last.
pub(crate) fn call() -> Option<FnId> {
    SERVED.try_with(Cell::get).ok().flatten()
}
