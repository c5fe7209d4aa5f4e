//! Reports of calls that no correct program makes, even if it checks the codes.
//!
//! A function that refuses a call notes the mistake ([`misuse`]). The note becomes a report if the
//! call is indeed refused, once per call site in the client. Queries by which programs find out
//! whether something is possible are not mistakes and are not noted.

use std::cell::RefCell;

use cuprum_sys::{CUresult, FnId};

use crate::client;
use crate::message::{self, Message};
use crate::report::Misuse;
use crate::settings::{ApiCheck, Settings};

use crate::driver::answer::{Answer, ensure};

thread_local! {
    /// The mistake of this thread's current call.
    static NOTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes the mistake of a call that is about to be refused, if the check covers this rank. A later
/// note replaces an earlier one.
pub(crate) fn misuse(rank: ApiCheck, what: impl FnOnce() -> String) {
    let check = Settings::in_force().as_ref().map_or(ApiCheck::Off, |settings| settings.check_api);
    if check >= rank {
        // Fails only while the thread ends.
        let _ = NOTED.try_with(|noted| noted.replace(Some(what())));
    }
}

/// Refuses a call and notes a mistake of the client unless `condition` holds.
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

/// Reports the noted mistake if the call is refused, else drops it. Called without driver locks.
pub(super) fn judge(call: FnId, answer: Answer) {
    let noted = NOTED.try_with(RefCell::take).ok().flatten();
    let (Some(what), Err(code)) = (noted, answer) else { return };
    tell(call, code, what);
}

#[cold]
fn tell(call: FnId, code: CUresult, what: String) {
    let site = client::here();
    let frames = client::frames(site);
    // The compiler may copy a loop, which gives one line several addresses.
    let key = match site {
        Some(_) if frames.iter().any(|frame| frame.line > 0) => format!("{call:?} {frames:?}"),
        Some(site) => format!("{call:?} {site:?}"),
        None => format!("{call:?} {what}"),
    };
    let misuse = Misuse::new(call, code, what, frames);
    message::tell_once(key, &Message::Misuse(&misuse));
}

/// True if the call may create objects whose call site a report would show. Copies, launches,
/// queries and calls that free objects create none.
pub(super) fn wants_site(call: FnId) -> bool {
    const MAKE_NONE: [&str; 5] = ["cuLaunch", "cuMemcpy", "cuMemset", "cuMemFree", "cuEventRecord"];
    const NOTHING: [&str; 4] = ["Get", "Query", "Destroy", "Synchronize"];
    if !Settings::in_force().as_ref().is_ok_and(|settings| settings.check_leaks) {
        return false;
    }
    let base = call.symbol().base;
    let makes_none = MAKE_NONE.iter().any(|start| base.starts_with(start));
    !makes_none && !NOTHING.iter().any(|part| base.contains(part))
}
