//! Driver call that a thread is serving, so that new objects can be attributed to that call.

use cuprum_sys::FnId;
use std::cell::Cell;

/// Number of a place in the client, under which the driver knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Site(u32);

impl Site {
    /// The place of this number.
    pub fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// The origin of an object.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Made {
    /// The driver call that made it.
    pub call: Option<FnId>,
    /// The lines of the client that made that call, if they are known.
    pub site: Option<Site>,
}

thread_local! {
    static SERVED: Cell<Made> = const { Cell::new(Made { call: None, site: None }) };
}

/// Notes the call that begins on this thread, and where the client made it, if that is known.
pub fn begin(call: FnId, site: Option<Site>) {
    // Fails only while the thread ends, when no objects are made any more.
    let _ = SERVED.try_with(|served| served.set(Made { call: Some(call), site }));
}

/// The call that this thread is serving, or served last.
pub fn call() -> Option<FnId> {
    made().call
}

/// The origin of an object that is made now.
pub fn made() -> Made {
    SERVED.try_with(Cell::get).unwrap_or_default()
}
