//! The latest fault of any kernel, which clients can query.

use std::sync::{Mutex, PoisonError};

use crate::message::{self, Message};
use crate::report::Fault;

static LAST: Mutex<Option<Fault>> = Mutex::new(None);

pub(super) fn remember(fault: Fault) {
    message::tell(&Message::Fault(&fault));
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
}

pub(crate) fn last() -> Option<Fault> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Reports a finding after which the launch continues, once per kind and line of a kernel.
pub(super) fn report(finding: &Fault) {
    let key = format!("{} {} {} {}", finding.kind, finding.kernel, finding.ptx_line, finding.ptx_text);
    message::tell_once(key, &Message::Fault(finding));
}
