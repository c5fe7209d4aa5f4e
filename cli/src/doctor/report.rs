//! All results, and the verdict.

use std::path::PathBuf;

use cuprum::diagnosis::Machine;

use super::features::{self, Verdict};
use super::libraries::Candidate;
use super::needs::Need;
use super::probe::{Kind, Probe};
use super::smoke::Smoke;
use super::variables::Variable;

pub(crate) mod code {
    pub(crate) const NEEDS: u8 = 1;
    pub(crate) const NO_DRIVER: u8 = 3;
    pub(crate) const NO_DEVICE: u8 = 4;
    pub(crate) const SMOKE: u8 = 5;
    pub(crate) const DAMAGED: u8 = 6;
}

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) libraries: Vec<(Candidate, Probe)>,
    /// The driver that programs get, or the requested one.
    pub(crate) chosen: Probe,
    pub(crate) why: String,
    pub(crate) nvrtc: Result<(String, String), String>,
    pub(crate) nvcc: Option<(PathBuf, Option<String>)>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) needs: Vec<Need>,
    /// One result per device; empty without a device or without the test.
    pub(crate) smoke: Vec<Smoke>,
}

/// The verdict in one sentence, with the problems and an exit code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) code: u8,
    pub(crate) summary: String,
    pub(crate) reasons: Vec<String>,
}

impl Report {
    /// True if the chosen driver can be initialized.
    pub(crate) fn starts(&self) -> bool {
        matches!(self.chosen.init, Some(Ok(())))
    }

    pub(crate) fn features(&self) -> Vec<Verdict> {
        match self.chosen.kind {
            Kind::Real | Kind::Software => features::verdicts(&self.chosen.absent),
            Kind::Stub | Kind::Unusable => Vec::new(),
        }
    }

    /// The verdict: the first problem, from the driver to its requirements.
    pub(crate) fn answer(&self) -> Answer {
        let (code, summary, mut reasons) = self.first_wrong();
        // Damage does not depend on the driver.
        let damaged = |need: &Need| Some(format!("{} is damaged: {}", need.what, need.damaged.as_ref()?));
        let damaged: Vec<_> = self.needs.iter().filter_map(damaged).collect();
        let count = damaged.len();
        reasons.extend(damaged);
        // Without a working driver nothing else is known.
        if code == 0 || code == code::SMOKE {
            let of = |need: &'_ Need| {
                need.missing.iter().map(|missing| format!("{}: {missing}", need.what)).collect::<Vec<_>>()
            };
            reasons.extend(self.needs.iter().flat_map(of));
        }
        if code == 0 && count > 0 {
            let summary = format!("CUDA works here, but {count} of the files are damaged");
            return Answer { code: code::DAMAGED, summary, reasons };
        }
        if code == 0 && !reasons.is_empty() {
            let summary = "CUDA works here, but not all that was asked for".to_owned();
            return Answer { code: code::NEEDS, summary, reasons };
        }
        Answer { code, summary, reasons }
    }

    fn first_wrong(&self) -> (u8, String, Vec<String>) {
        if let Some(wrong) = self.wrong_driver() {
            return wrong;
        }
        let failed = self.smoke.iter().filter_map(|smoke| Some((smoke.device, smoke.error.as_ref()?)));
        let reasons: Vec<_> = failed.map(|(device, error)| format!("device {device}: {error}")).collect();
        if !reasons.is_empty() {
            let summary =
                format!("CUDA starts here, but the smoke test fails on {} device(s)", reasons.len());
            return (code::SMOKE, summary, reasons);
        }
        let Probe { kind, devices, .. } = &self.chosen;
        let first = devices.first().map_or("", |device| &device.name);
        let others = match devices.len() {
            0 | 1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let driver = if *kind == Kind::Software { "the software driver" } else { "driver" };
        let tested = if self.smoke.is_empty() { "not tested" } else { "the smoke test passes" };
        let summary =
            format!("CUDA works here: {driver} of CUDA {}, {first}{others}; {tested}", self.version());
        (0, summary, Vec::new())
    }

    /// A problem of the driver itself: it cannot be loaded, does not start, or has no device.
    fn wrong_driver(&self) -> Option<(u8, String, Vec<String>)> {
        let Probe { kind, error, init, init_code, devices, .. } = &self.chosen;
        let not_here =
            |code, what: String, reasons| Some((code, format!("CUDA does not work here: {what}"), reasons));
        let of_version = format!("the driver of CUDA {}", self.version());
        if matches!(kind, Kind::Stub | Kind::Unusable) {
            let what = match kind {
                Kind::Stub => "only the toolkit's stub library was found, which is no driver",
                _ => "no driver can be loaded",
            };
            let reasons = error.iter().cloned().chain(self.machine.no_device()).collect();
            return not_here(code::NO_DRIVER, what.to_owned(), reasons);
        }
        if let Some(error) = error {
            let reason = format!("the driver was asked for its devices in a process of its own: {error}");
            return not_here(code::NO_DEVICE, format!("{of_version} fails"), vec![reason]);
        }
        if let Some(Err(error)) = init {
            let how = match init_code.as_deref() {
                Some("CUDA_ERROR_NO_DEVICE") => "sees no device",
                _ => "does not start",
            };
            return not_here(code::NO_DEVICE, format!("{of_version} {how}"), vec![error.clone()]);
        }
        if devices.is_empty() {
            let reasons = self.machine.no_device().into_iter().collect();
            return not_here(code::NO_DEVICE, format!("{of_version} has no device"), reasons);
        }
        None
    }

    fn version(&self) -> String {
        self.chosen.version.map_or_else(String::new, |version| version.to_string())
    }
}
