//! Checks that a software device accepts the settings, before the program starts.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use cuprum::Library;
use cuprum::diagnosis::Machine;

use super::reports::Reports;
use super::settings;
use crate::arguments::Usage;
use crate::child;

/// The task of a child of this program: it opens a library and starts its driver.
pub(super) const OPTION: &str = "--try-library";

const LIMIT: Duration = Duration::from_secs(60);

/// Tries a library with the program's variables, in a child: this process is not affected, and a
/// crash becomes an error. `scratch` is a writable file.
///
/// # Errors
/// The invalid option, or else the library or variable, with the reason.
pub(super) fn check(
    library: &Path,
    variables: &[(&'static str, OsString)],
    scratch: &Path,
) -> Result<(), Wrong> {
    let mut environment: Vec<(&str, &OsStr)> =
        variables.iter().map(|(name, value)| (*name, value.as_os_str())).collect();
    environment.push((super::command::REPORTS, scratch.as_os_str()));
    let arguments = [OsStr::new("run"), OsStr::new(OPTION), library.as_os_str()];
    let ended = child::run(&arguments, &environment, LIMIT);
    if let Some(why) = Reports::read(scratch).texts("settings").next() {
        return Err(match settings::option_of(why, variables) {
            Some(why) => Wrong::Option(Usage::new(why)),
            None => Wrong::Other(format!(
                "the environment asks for what the software device does not have: {why}"
            )),
        });
    }
    match ended.get("error").or(ended.failed.as_deref()) {
        None => Ok(()),
        Some(why) => Err(Wrong::Other(format!("{} does not serve: {why}", library.display()))),
    }
}

#[derive(Debug)]
pub(super) enum Wrong {
    Option(Usage),
    Other(String),
}

pub(super) fn child_main(library: &Path) {
    // SAFETY: the user named the library, or it was built or installed with this program; this
    // process exists to find out its effects.
    match unsafe { Library::open_from(library) } {
        Err(error) => child::tell("error", error),
        Ok(library) if !library.is_software_device() => {
            child::tell("error", "it is a driver of hardware, and no software device");
        }
        // Its reports contain the reason why it refuses a setting.
        Ok(library) => _ = library.init(),
    }
}

/// Reports that the machine, according to its files, has a GPU that a run does not use.
pub(super) fn unused_gpu(machine: &Machine) -> Option<String> {
    let is_gpu = |node: &&String| *node == "dxg" || node.ends_with(|end: char| end.is_ascii_digit());
    let nodes = machine.nodes.iter().filter(is_gpu).count();
    match machine.gpus.unwrap_or(0).max(nodes) {
        0 => None,
        1 => Some(
            "this machine has an NVIDIA GPU, which is not used: this runs on the software device".to_owned(),
        ),
        count => Some(format!(
            "this machine has {count} NVIDIA GPUs, which are not used: this runs on the software device"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_that_is_there_is_told_of() {
        let mut machine = Machine::default();
        machine.nodes = vec!["nvidiactl".to_owned(), "nvidia-uvm".to_owned()];
        assert_eq!(unused_gpu(&machine), None);
        machine.gpus = Some(2);
        assert!(unused_gpu(&machine).unwrap().contains("2 NVIDIA GPUs"));
        machine.gpus = None;
        machine.nodes.push("nvidia0".to_owned());
        assert!(unused_gpu(&machine).unwrap().contains("an NVIDIA GPU, which is not used"));
    }
}
