//! Reports of calls that no correct program makes, whether or not it looks at their codes.
//!
//! A function that refuses a call notes the mistake ([`misuse`]), which becomes a report if the call is refused indeed, once
//! per place in the client. A question that programs ask to learn whether something is possible is no mistake, and is not
//! noted.

use std::cell::RefCell;

use cuprum_sys::{CUresult, FnId};

use crate::client;
use crate::message::{self, Message};
use crate::report::Misuse;
use crate::settings::{ApiCheck, Settings};

use crate::driver::answer::{Answer, ensure};

thread_local! {
    /// The mistake of this thread's call.
    static NOTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes the mistake of a call that is about to be refused, if the check asks for mistakes of this rank. The latest counts.
pub(crate) fn misuse(rank: ApiCheck, what: impl FnOnce() -> String) {
    let check = Settings::in_force().as_ref().map_or(ApiCheck::Off, |settings| settings.check_api);
    if check >= rank {
        // Fails only while the thread ends.
        let _ = NOTED.try_with(|noted| noted.replace(Some(what())));
    }
}

/// Refuses a call unless the condition holds; that it does not is a mistake of the client.
pub(crate) fn demand(
    condition: bool,
    code: CUresult,
    rank: ApiCheck,
    what: impl FnOnce() -> String,
) -> Answer {
    if !condition {
        misuse(rank, what);
    }
    ensure(condition, code)
}

/// Reports the mistake that was noted if the call is refused, and forgets it otherwise. No lock of the driver is held.
pub(super) fn judge(call: FnId, answer: Answer) {
    let noted = NOTED.try_with(RefCell::take).ok().flatten();
    let (Some(what), Err(code)) = (noted, answer) else { return };
    tell(call, code, what);
}

#[cold]
fn tell(call: FnId, code: CUresult, what: String) {
    let site = client::here();
    let frames = client::frames(site);
    // One line of a loop has as many addresses as the compiler made copies of it.
    let key = match site {
        Some(_) if frames.iter().any(|frame| frame.line > 0) => format!("{call:?} {frames:?}"),
        Some(site) => format!("{call:?} {site:?}"),
        None => format!("{call:?} {what}"),
    };
    let misuse = Misuse::new(call, code, what, frames);
    message::tell_once(key, &Message::Misuse(&misuse));
}

/// True if objects that a call may make are to be known by its place in the client. Copies, launches, questions and calls that
/// give objects back make none.
pub(super) fn wants_site(call: FnId) -> bool {
    const MAKE_NONE: [&str; 5] = ["cuLaunch", "cuMemcpy", "cuMemset", "cuMemFree", "cuEventRecord"];
    const NOTHING: [&str; 4] = ["Get", "Query", "Destroy", "Synchronize"];
    let check_leaks = Settings::in_force().as_ref().is_ok_and(|settings| settings.check_leaks);
    let base = call.symbol().base;
    let makes_none = MAKE_NONE.iter().any(|start| base.starts_with(start));
    check_leaks && !makes_none && !NOTHING.iter().any(|part| base.contains(part))
}
