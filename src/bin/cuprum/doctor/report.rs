//! All that was found, and the verdict on it.

use std::path::PathBuf;

use cuprum::diagnosis::Machine;

use super::features::{self, Verdict};
use super::libraries::Candidate;
use super::needs::Need;
use super::probe::{Kind, Probe};
use super::smoke::Smoke;
use super::variables::Variable;

/// Exit codes of `cuprum doctor`, beside those of all commands.
pub(crate) mod code {
    pub(crate) const NEEDS: u8 = 1;
    pub(crate) const NO_DRIVER: u8 = 3;
    pub(crate) const NO_DEVICE: u8 = 4;
    pub(crate) const SMOKE: u8 = 5;
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    /// All files that could be drivers, each with what it is.
    pub(crate) libraries: Vec<(Candidate, Probe)>,
    /// The driver that programs get, or that was asked for.
    pub(crate) chosen: Probe,
    /// Why it is that one.
    pub(crate) why: String,
    pub(crate) nvrtc: Result<(String, String), String>,
    pub(crate) nvcc: Option<(PathBuf, Option<String>)>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) needs: Vec<Need>,
    /// One for each device; none if there is no device, or none was asked for.
    pub(crate) smoke: Vec<Smoke>,
}

/// The answer in one sentence, with what is wrong and an exit code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) code: u8,
    pub(crate) summary: String,
    pub(crate) reasons: Vec<String>,
}

impl Report {
    /// True if the driver that was chosen can be initialized.
    pub(crate) fn starts(&self) -> bool {
        matches!(self.chosen.init, Some(Ok(())))
    }

    pub(crate) fn features(&self) -> Vec<Verdict> {
        match self.chosen.kind {
            Kind::Real | Kind::Software => features::verdicts(&self.chosen.absent),
            Kind::Stub | Kind::Unusable => Vec::new(),
        }
    }

    /// The verdict: the first thing that is wrong, from the driver to what it is to do.
    pub(crate) fn answer(&self) -> Answer {
        let (code, summary, mut reasons) = self.first_wrong();
        // Below a driver that does not start nothing else can be told.
        if code == 0 || code == code::SMOKE {
            let missing = self
                .needs
                .iter()
                .flat_map(|need| need.missing.iter().map(move |missing| format!("{}: {missing}", need.what)));
            let missing: Vec<_> = missing.collect();
            if !missing.is_empty() {
                let summary = "CUDA works here, but not all that was asked for".to_owned();
                reasons.extend(missing);
                let code = if code == 0 { code::NEEDS } else { code };
                return Answer {
                    code,
                    summary: if code == code::NEEDS { summary } else { self.first_wrong().1 },
                    reasons,
                };
            }
        }
        Answer { code, summary, reasons }
    }

    fn first_wrong(&self) -> (u8, String, Vec<String>) {
        let chosen = &self.chosen;
        let version = chosen.version.map_or_else(String::new, |version| version.to_string());
        match chosen.kind {
            Kind::Unusable | Kind::Stub => {
                let summary = match chosen.kind {
                    Kind::Stub => {
                        "CUDA does not work here: only the toolkit's stub library was found, which is no driver"
                    }
                    _ => "CUDA does not work here: no driver can be loaded",
                };
                let mut reasons: Vec<_> = chosen.error.iter().cloned().collect();
                reasons.extend(self.machine.no_device());
                return (code::NO_DRIVER, summary.to_owned(), reasons);
            }
            Kind::Real | Kind::Software => {}
        }
        if let Some(error) = &chosen.error {
            let reasons =
                vec![format!("the driver was asked for its devices in a process of its own: {error}")];
            return (
                code::NO_DEVICE,
                format!("CUDA does not work here: the driver of CUDA {version} fails"),
                reasons,
            );
        }
        if let Some(Err(error)) = &chosen.init {
            let summary = match chosen.init_code.as_deref() {
                Some("CUDA_ERROR_NO_DEVICE") => {
                    format!("CUDA does not work here: the driver of CUDA {version} sees no device")
                }
                _ => format!("CUDA does not work here: the driver of CUDA {version} does not start"),
            };
            return (code::NO_DEVICE, summary, vec![error.clone()]);
        }
        if chosen.devices.is_empty() {
            let reasons = self.machine.no_device().into_iter().collect();
            return (
                code::NO_DEVICE,
                format!("CUDA does not work here: the driver of CUDA {version} has no device"),
                reasons,
            );
        }
        let failed: Vec<_> =
            self.smoke.iter().filter_map(|smoke| Some((smoke.device, smoke.error.as_ref()?))).collect();
        if !failed.is_empty() {
            let reasons = failed.iter().map(|(device, error)| format!("device {device}: {error}")).collect();
            return (
                code::SMOKE,
                format!("CUDA starts here, but the smoke test fails on {} device(s)", failed.len()),
                reasons,
            );
        }
        let first = &chosen.devices[0];
        let others = match chosen.devices.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let kind = if chosen.kind == Kind::Software { "the software driver" } else { "driver" };
        let tested = if self.smoke.is_empty() { "not tested" } else { "the smoke test passes" };
        (
            0,
            format!("CUDA works here: {kind} of CUDA {version}, {}{others}; {tested}", first.name),
            Vec::new(),
        )
    }
}
