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

/// Tells of the finding of a check with which the launch goes on, once per kind and line of a kernel.
pub(super) fn report(finding: &Fault) {
    let key = format!("{} {} {} {}", finding.kind, finding.kernel, finding.ptx_line, finding.ptx_text);
    message::tell_once(key, &Message::Fault(finding));
}
