//! Mistakes of a run that has ended.

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
    // Work that a wait leaves in flight when it fails for good is never freed. A driver that says
    // that it has ended is not asked for another wait.
    let stays = matches!(
        run.injection.code,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_DEINITIALIZED
    );
    if stays && name.contains("Synchronize") {
        return true;
    }
    // Mapped memory stays mapped if the context that may use it cannot be waited for.
    if run.function == FnId::cuCtxSynchronize {
        return true;
    }
    // A capture forbids freeing the memory used in it, unless the thread is exempted.
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
    if run.second.is_none() && !run.injection.done && !run.injection.lasting && !leaks_by_itself(run) {
        findings.extend(session.alive().into_iter().map(|left| Finding::new(LEAK, "", left)));
    }
    let log = session.log();
    let fault = log.iter().find(|call| is_sticky(call)).map(|call| call.at);
    for (step, calls) in steps.iter().zip(by_step(steps, &log)) {
        let failed: Vec<Called> = calls.into_iter().filter(|call| call.injected.is_some()).collect();
        findings.extend(judge(run, step, &failed, fault));
    }
    findings
}

/// True if a call returned a fault that stays.
fn is_sticky(call: &Called) -> bool {
    call.injected.and_then(|code| Error::new(code, call.function)).is_some_and(Error::is_sticky)
}

/// Complaints about a step in which the calls `failed` were made to fail. The call at `fault` was
/// the first to answer with a fault that stays.
fn judge(run: &Run, step: &Step, failed: &[Called], fault: Option<usize>) -> Option<Finding> {
    let answered =
        |error: &Error, call: &Called| (call.function, call.injected) == (error.call(), Some(error.code()));
    let ours = |error: &Error| failed.iter().any(|call| answered(error, call));
    let functions: Vec<FnId> = failed.iter().map(|call| call.function).collect();
    let finding = |kind, text| Some(Finding::new(kind, step.name, text));
    match &step.outcome {
        Outcome::Failed(error, text) if failed.is_empty() => {
            // Functions that a driver lacks fail before and after.
            let expected =
                run.injection.lasting || error.is_some_and(|error| error.code() == cuprum::Error::UNRESOLVED);
            if expected { None } else { finding(NOT_RECOVERED, text.clone()) }
        }
        Outcome::Failed(Some(error), _) if ours(error) || error.code() == cuprum::Error::OUT_OF_ORDER => None,
        Outcome::Failed(Some(error), text) => {
            finding(MISNAMED, format!("{functions:?} failed, the error names {}: {text}", error.call()))
        }
        Outcome::Failed(None, text) => finding(SILENT, format!("{functions:?} failed: {text}")),
        Outcome::Done if failed.is_empty() || step.swallowed.iter().any(ours) => None,
        Outcome::Done => {
            // Documented: the end of the driver, and the echo of a fault that was reported before.
            let is_quiet = |call: &Called| {
                call.injected == Some(CUresult::CUDA_ERROR_DEINITIALIZED)
                    || (is_sticky(call) && fault.is_some_and(|first| first < call.at))
            };
            if failed.iter().all(|call| call.injected == step.allowed || is_quiet(call)) {
                return None;
            }
            finding(SILENT, format!("{functions:?} failed, and nothing was said"))
        }
    }
}
