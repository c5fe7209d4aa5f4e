//! The newest fault of any kernel, for the client to ask.

use std::sync::{Mutex, PoisonError};

use crate::message::{self, Message};
use crate::report::Fault;

static LAST: Mutex<Option<Fault>> = Mutex::new(None);

/// Keeps the newest fault.
pub(super) fn remember(fault: Fault) {
    message::tell(&Message::Fault(&fault));
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
}

pub(crate) fn last() -> Option<Fault> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
