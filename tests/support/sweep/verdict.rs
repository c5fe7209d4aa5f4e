//! What is wrong with a run that has ended.

use std::fmt;

use cuprum::Error;
use cuprum::sys::{CUresult, FnId};

use super::plan::Run;
use crate::program::{Outcome, Step, by_step};
use crate::tracer::{Called, Session};

/// Something that should not have happened.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// `Panic`, `Abort`, `AbortInFlight`, the name of a watcher's `Trouble`; or one of those below.
    pub(crate) kind: String,
    pub(crate) step: String,
    pub(crate) text: String,
}

/// An error names another call than the one that failed.
const MISNAMED: &str = "Misnamed";
/// A failure was neither returned nor swallowed with notice.
const SILENT: &str = "Silent";
/// A step after the one that failed fails as well, although the driver works again.
const NOT_RECOVERED: &str = "NotRecovered";

/// Something is left that could have been freed.
const LEAK: &str = "Leak";

/// True if an object stays when this function is not done: it frees, or a drop elsewhere needs it.
fn leaks_by_itself(run: &Run) -> bool {
    let name = run.function.to_string();
    // What a wait that fails for good leaves in flight is never freed.
    let stays = matches!(
        run.injection.code,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS | CUresult::CUDA_ERROR_LAUNCH_FAILED
    );
    if stays && name.contains("Synchronize") {
        return true;
    }
    // What is mapped stays if the context in which it may be in use cannot be waited for.
    if run.function == FnId::cuCtxSynchronize {
        return true;
    }
    // A capture forbids to free what was in it, unless the thread is exempted.
    if run.function == FnId::cuThreadExchangeStreamCaptureMode {
        return true;
    }
    let parts = ["Destroy", "Free", "Unload", "Unmap", "Unregister", "Release", "PushCurrent"];
    parts.iter().any(|part| name.contains(part))
}

impl Finding {
    pub(super) fn new(kind: &str, step: &str, text: String) -> Self {
        Self { kind: kind.to_owned(), step: step.to_owned(), text: text.replace('\n', " ") }
    }

    /// As `Display` writes it.
    pub(super) fn read(text: &str) -> Self {
        let mut parts = text.splitn(3, '\t').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Self { kind: part(), step: part(), text: part() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.kind, self.step, self.text)
    }
}

/// Complaints about a run.
pub(super) fn of(run: &Run, steps: &[Step], session: &Session) -> Vec<Finding> {
    let mut findings: Vec<Finding> = session
        .violations()
        .into_iter()
        .map(|violation| {
            let text = format!("{}: {}", violation.function, violation.text);
            Finding::new(&format!("{:?}", violation.trouble), "", text)
        })
        .collect();
    if !run.injection.done && !run.injection.lasting && !leaks_by_itself(run) {
        findings.extend(session.alive().into_iter().map(|left| Finding::new(LEAK, "", left)));
    }
    let log = session.log();
    let first = log.iter().find(|call| call.injected).map(|call| call.at);
    for (step, calls) in steps.iter().zip(by_step(steps, &log)) {
        let failed: Vec<&Called> = calls.iter().filter(|call| call.injected).collect();
        let failed_before = failed.first().is_some_and(|call| Some(call.at) != first);
        let failed: Vec<FnId> = failed.iter().map(|call| call.function).collect();
        findings.extend(judge(run, step, &failed, failed_before));
    }
    findings
}

/// Complaints about a step in which the calls `failed` were made to fail.
fn judge(run: &Run, step: &Step, failed: &[FnId], failed_before: bool) -> Option<Finding> {
    let code = run.injection.code;
    let ours = |error: &Error| error.code() == code && failed.contains(&error.call());
    let finding = |kind, text| Some(Finding::new(kind, step.name, text));
    match &step.outcome {
        Outcome::Failed(error, text) if failed.is_empty() => {
            // What a driver lacks fails before and after.
            let expected = run.injection.lasting || error.is_some_and(Error::is_unresolved);
            if expected { None } else { finding(NOT_RECOVERED, text.clone()) }
        }
        Outcome::Failed(Some(error), _) if ours(error) || error.is_out_of_order() => None,
        Outcome::Failed(Some(error), text) => {
            finding(MISNAMED, format!("{failed:?} failed, the error names {}: {text}", error.call()))
        }
        Outcome::Failed(None, text) => finding(SILENT, format!("{failed:?} failed: {text}")),
        Outcome::Done if failed.is_empty() || step.swallowed.iter().any(ours) => None,
        Outcome::Done if step.allowed == Some(code) => None,
        Outcome::Done => {
            let sticky = Error::new(code, run.function).is_some_and(Error::is_sticky);
            // Documented: the end of the driver, and the echo of a fault that was told before.
            let quiet = code == CUresult::CUDA_ERROR_DEINITIALIZED || (sticky && failed_before);
            if quiet { None } else { finding(SILENT, format!("{failed:?} failed, and nothing was said")) }
        }
    }
}
