//! The driver call that each thread is serving, to which new objects are attributed.

use cuprum_sys::FnId;
use std::cell::Cell;

/// Number of a call site in the client, assigned by the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Site(u32);

impl Site {
    /// Returns the call site with this number.
    pub fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number of the call site.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// The origin of an object.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Made {
    /// The driver call that created it.
    pub call: Option<FnId>,
    /// The call site in the client, if it is known.
    pub site: Option<Site>,
}

thread_local! {
    static SERVED: Cell<Made> = const { Cell::new(Made { call: None, site: None }) };
}

/// Records the call that begins on this thread, and its call site if that is known.
pub fn begin(call: FnId, site: Option<Site>) {
    // Fails only while the thread ends, when no more objects are created.
    let _ = SERVED.try_with(|served| served.set(Made { call: Some(call), site }));
}

/// Returns the call that this thread is serving, or served last.
pub fn call() -> Option<FnId> {
    made().call
}

/// Returns the origin of an object created now.
pub fn made() -> Made {
    SERVED.try_with(Cell::get).unwrap_or_default()
}
