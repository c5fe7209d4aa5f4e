//! The command itself: arguments, children that examine, and the report.

use super::needs::Need;
use super::probe::Kind;
use super::report::Report;
use super::{libraries, probe, schema, smoke, text, toolkit, variables};
use crate::arguments::{Arguments, Usage};
use crate::progress::Progress;
use crate::{software, terminal};
use cuprum::diagnosis::Machine;
use cuprum::sys::Version;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const HELP: &str = "\
usage: cuprum doctor [OPTIONS] [FILE...]

Says whether CUDA works here, and if not, why: the driver libraries that there are and the one that is chosen, devices,
features with the version each needs, compilers, device nodes, containers, variables; and a smoke test of each device.

  FILE...          PTX, cubin, fatbin, programs and libraries: what they need from the driver, and what of it is missing
  --cuda VERSION   a CUDA version that is needed, such as 12.2
  --driver PATH    examine this driver library in place of the machine's
  --software       examine the software device
  --no-smoke-test  make no context, and launch nothing
  --all            show everything: all attributes and features
  --json           write the report as JSON; cli/src/doctor/SCHEMA.md says what it has
  --limit SECONDS  longest time for each question to a driver (default 60)

Files are regular ones; of code up to 1 GiB is read. What is cut off, or contradicts itself, is damaged.

exit codes: 0 CUDA works and nothing is missing; 1 it works, but something asked for is missing; 2 wrong usage;

  3 no driver can be loaded; 4 the driver does not start, or has no device; 5 the smoke test fails;
  6 it works, but a file is damaged; 7 as 0, but the report could not be written";

struct Options {
    /// The driver to examine; empty for the machine's own.
    driver: OsString,
    version: Option<Version>,
    files: Vec<OsString>,
    smoke: bool,
    json: bool,
    all: bool,
    limit: Duration,
}

pub(crate) fn main(mut arguments: Arguments) -> Result<ExitCode, Usage> {
    if arguments.flag("--help") {
        terminal::print(HELP);
        return Ok(ExitCode::SUCCESS);
    }
    if be_a_child(&mut arguments)? {
        return Ok(ExitCode::SUCCESS);
    }
    let options = Options::read(arguments)?;
    let report = examine(&options);
    if options.json {
        terminal::print(schema::json(&report));
    } else {
        terminal::print(text::Text { report: &report, all: options.all }.to_string().trim_end());
    }
    Ok(ExitCode::from(report.answer().code))
}

fn be_a_child(arguments: &mut Arguments) -> Result<bool, Usage> {
    if let Some(path) = arguments.value(probe::OPTION)? {
        let whole = arguments.flag("--whole");
        probe::child_main(&path, whole);
        return Ok(true);
    }
    if arguments.flag(probe::COMPILER_OPTION) {
        probe::compiler_main();
        return Ok(true);
    }
    let Some(path) = arguments.value(smoke::OPTION)? else { return Ok(false) };
    let number = std::mem::replace(arguments, Arguments::new([])).rest()?.pop();
    let number = number.and_then(|number| number.to_str()?.parse().ok());
    smoke::child_main(&path, number.ok_or_else(|| Usage::new("the number of a device is missing"))?);
    Ok(true)
}

impl Options {
    fn read(mut arguments: Arguments) -> Result<Self, Usage> {
        let mut driver = arguments.value("--driver")?.unwrap_or_default();
        if arguments.flag("--software") {
            if !driver.is_empty() {
                return Err(Usage::new("--driver and --software name two drivers"));
            }
            let found = software::find(None, software::VARIABLE, software::BUILT);
            driver = found.map_err(Usage::new)?.into_os_string();
        }
        Ok(Self {
            driver,
            version: arguments.parsed("--cuda", "a CUDA version such as 12.2", version)?,
            smoke: !arguments.flag("--no-smoke-test"),
            json: arguments.flag("--json"),
            all: arguments.flag("--all"),
            limit: arguments
                .parsed("--limit", "a number of seconds above 0", |text| {
                    text.parse().ok().filter(|limit| *limit > 0)
                })?
                .map_or(Duration::from_secs(60), Duration::from_secs),
            files: arguments.rest()?,
        })
    }
}

fn version(text: &str) -> Option<Version> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    ((1..1000).contains(&major) && minor < 100).then(|| Version::new(major, minor))
}

fn examine(options: &Options) -> Report {
    let given = !options.driver.is_empty();
    let chosen = {
        let _progress = Progress::new("starting the driver");
        probe::probe(&options.driver, true, options.limit)
    };
    let libraries = {
        let _progress = Progress::new("looking at driver libraries");
        let candidates = libraries::candidates().into_iter();
        let probed = candidates.map(|candidate| {
            let probe = probe::probe(candidate.path.as_os_str(), false, options.limit);
            (candidate, probe)
        });
        probed.collect()
    };
    let nvrtc = {
        let _progress = Progress::new("looking for compilers");
        probe::compiler(options.limit)
    };
    let file = chosen.file.as_deref().or(chosen.origin.as_deref().map(Path::new));
    let mut report = Report {
        why: libraries::reason(file, given),
        machine: Machine::look(),
        libraries,
        nvrtc,
        nvcc: toolkit::nvcc(),
        variables: variables::set(),
        needs: needs(options),
        smoke: Vec::new(),
        chosen,
    };
    if options.smoke && report.starts() {
        report.smoke = smoke(&options.driver, report.chosen.devices.len(), options.limit);
    }
    let devices: Vec<_> = report.chosen.devices.iter().filter_map(|device| device.capability).collect();
    let known = report.chosen.version;
    for need in &mut report.needs {
        need.compare(known, &report.chosen.absent, &devices, report.chosen.kind == Kind::Software);
    }
    report
}

fn needs(options: &Options) -> Vec<Need> {
    let _progress = Progress::new("reading files");
    let files = options.files.iter().map(|file| Need::of_file(Path::new(file)));
    options.version.map(Need::of_version).into_iter().chain(files).collect()
}

fn smoke(driver: &OsStr, devices: usize, limit: Duration) -> Vec<smoke::Smoke> {
    let test = |device| {
        let _progress = Progress::new(format!("testing device {device}"));
        smoke::smoke(driver, device, limit)
    };
    (0..devices).map(test).collect()
}
