//! The command itself: arguments, the traced program, and the files that are written.

use super::{driver, mirror, watch};
use crate::arguments::{Arguments, Usage};
use crate::progress::Progress;
use crate::terminal::{self, Shown};
use crate::{exit, program, signals, software};
use cuprum_tracer::{Recording, Timeline, variables};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::{fs, io};

const HELP: &str = "\
usage: cuprum trace [OPTIONS] [--] PROGRAM [ARGUMENT]...
       cuprum trace --recover FOLDER [--output NAME]

Runs a program with a library in place of libcuda.so.1 that writes down every call and forwards it to the real driver.
Afterwards NAME.html is a timeline with a lane per thread and stream, and NAME.json the same for Perfetto and Chromium's
viewer. A program that crashes or is killed loses nothing. Processes that it starts are traced too.

  --output NAME       the files to write, without their endings (default: trace)
  --software          forward to the software device instead of the machine's driver
  --driver FILE       forward to this driver
  --library FILE      the library that writes down (default: cuprum-trace-library beside this program)
  --most-mib NUMBER   per process, write down no more than this (default: 1024)
  --device-times      measure when the device works, with events around each piece of work: slower, and no longer what
                      the program alone would do
  --recover FOLDER    make the files of what an interrupted `cuprum trace` left in FOLDER

The exit code is the program's; 125 if it could not be started so, 126 and 127 if it could not be started at all.";

const LIBRARY_VARIABLE: &str = "CUPRUM_TRACE_LIBRARY";

pub(super) const LIBRARY: &str = "cuprum-trace-library";

/// Default limit of a process's record in MiB.
const MOST_MIB: u64 = 1024;

/// Maximum limit: 1 TiB.
const MOST_MOST_MIB: u64 = 1 << 20;

type Refusal = (u8, String);

pub(crate) fn main(mut arguments: Arguments) -> Result<ExitCode, Usage> {
    if arguments.flag("--help") || arguments.flag("-h") {
        terminal::print(HELP);
        return Ok(ExitCode::SUCCESS);
    }
    let output = arguments.value("--output")?.unwrap_or_else(|| "trace".into());
    let recover = arguments.value("--recover")?;
    let options = Options {
        library: arguments.value("--library")?,
        driver: arguments.value("--driver")?,
        software: arguments.flag("--software"),
        device_times: arguments.flag("--device-times"),
        most_mib: arguments.parsed(
            "--most-mib",
            &format!("a number of MiB from 1 to {MOST_MOST_MIB}"),
            |text| text.parse().ok().filter(|mib| (1..=MOST_MOST_MIB).contains(mib)),
        )?,
    };
    if options.software && options.driver.is_some() {
        return Err(Usage::new("--software and --driver name two drivers"));
    }
    let program = arguments.program();
    let rest = arguments.rest()?;
    let program = program.unwrap_or(rest);
    let ended = match (recover, program.as_slice()) {
        (Some(folder), []) => recovered(Path::new(&folder), &output),
        (Some(_), _) => return Err(Usage::new("--recover takes no program")),
        (None, []) => {
            return Err(Usage::new("a program is missing, as in `cuprum trace -- python script.py`"));
        }
        (None, program) => traced(program, &output, &options),
    };
    Ok(ended.unwrap_or_else(|(code, why)| {
        say(why);
        ExitCode::from(code)
    }))
}

struct Options {
    library: Option<OsString>,
    driver: Option<OsString>,
    software: bool,
    device_times: bool,
    most_mib: Option<u64>,
}

fn say(text: impl std::fmt::Display) {
    terminal::say(format_args!("cuprum trace: {text}"));
}

fn cannot(why: impl ToString) -> Refusal {
    (exit::CANNOT, why.to_string())
}

fn traced(words: &[OsString], output: &OsString, options: &Options) -> Result<ExitCode, Refusal> {
    let program = program::find(&words[0]).map_err(|refused| (refused.code, refused.to_string()))?;
    let library = software::find(options.library.clone(), LIBRARY_VARIABLE, LIBRARY)
        .map_err(|why| cannot(format!("{why}; `cargo install cuprum-tracer` installs it")))?;
    let driver = match (&options.driver, options.software) {
        (Some(path), _) => driver::at(Path::new(path)),
        (None, true) => software::find(None, software::VARIABLE, software::BUILT),
        (None, false) => driver::of_this_machine(),
    };
    let driver = driver.map_err(cannot)?;
    let files = Files::create(output).map_err(cannot)?;
    let folder = software::Folder::with(Path::new(LIBRARY)).map_err(cannot)?;
    // The links above point to it.
    mirror::write(&library, &driver, &folder.path().join(LIBRARY)).map_err(cannot)?;
    let calls = folder.path().join("calls");
    fs::create_dir(&calls).map_err(|error| cannot(format!("{}: {error}", calls.display())))?;

    let mut command = Command::new(&program.path);
    command.args(&words[1..]).env(variables::DRIVER, &driver).env(variables::FOLDER, &calls);
    command.env(variables::MOST_BYTES, (options.most_mib.unwrap_or(MOST_MIB) << 20).to_string());
    if options.device_times {
        command.env(variables::DEVICE_TIMES, "1");
    }
    // It has named the driver above, and would make our programs bypass the recording library.
    command.env_remove(cuprum::sys::DRIVER_VARIABLE);
    folder.give_to(&mut command);
    say(format_args!(
        "calls go to {}, and their timeline to {}",
        Shown(driver.display()),
        Shown(files.page.display())
    ));
    let seen = watch::Watch::new();
    let mut child = signals::spawn(&mut command)
        .map_err(|error| (exit::NOT_EXECUTABLE, format!("{}: {error}", program.path.display())))?;
    seen.begin(child.id());
    let status = child.wait().map_err(|error| cannot(format!("the program is not waited for: {error}")))?;
    let others = seen.end();

    let recording = read(&calls)?;
    if recording.is_empty() {
        say(nothing(&words[0], &program, &others, &calls));
    } else {
        let title: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        files.write(&recording, &title.join(" "), status)?;
    }
    Ok(ExitCode::from(signals::code(status)))
}

/// Writes the timeline of another run's record.
fn recovered(folder: &Path, output: &OsString) -> Result<ExitCode, Refusal> {
    let calls = folder.join("calls");
    let recording = read(if calls.is_dir() { &calls } else { folder })?;
    if recording.is_empty() {
        return Err(cannot(format!("there are no calls in {}", folder.display())));
    }
    let files = Files::create(output).map_err(cannot)?;
    files.write(&recording, &format!("recovered from {}", folder.display()), ExitStatus::default())?;
    Ok(ExitCode::SUCCESS)
}

fn read(calls: &Path) -> Result<Recording, Refusal> {
    let _progress = Progress::new("reading the calls");
    Recording::read(calls).map_err(|error| cannot(format!("{}: {error}", calls.display())))
}

fn nothing(name: &OsString, program: &program::Program, others: &[watch::Other], calls: &Path) -> String {
    // A process without room on the disk records nothing, not even that it called the driver.
    if let Err(error) = fs::write(calls.join("room"), [0; 1 << 17]) {
        return format!(
            "nothing was written down: there is no room in {} ({error}); TMPDIR names another folder",
            Shown(calls.display())
        );
    }

    let mut said =
        format!("`{}` has ended, and no process of it called libcuda.so.1", Shown(name.to_string_lossy()));
    for other in others {
        said += &format!(
            "\n  process {} opened {}, by its path or a RPATH of its own: that is not traced",
            other.process,
            Shown(&other.library)
        );
    }
    for warning in &program.warnings {
        said += &format!("\n  {warning}");
    }
    if others.is_empty() {
        said += "\n  it did not use CUDA, ended before it did, or ran it elsewhere: in a container, or on a server";
    }
    said
}

/// The output files. Files of an earlier run stay until they can be replaced.
struct Files {
    page: PathBuf,
    trace: PathBuf,
}

impl Files {
    /// Makes them under temporary names, so that a missing folder is detected at the start.
    fn create(name: &OsString) -> Result<Self, String> {
        let files = Self { page: with(name, ".html"), trace: with(name, ".json") };
        for path in [&files.page, &files.trace] {
            File::create(unfinished(path)).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(files)
    }

    fn write(&self, recording: &Recording, title: &str, status: ExitStatus) -> Result<(), Refusal> {
        let timeline = {
            let _progress = Progress::new(format!("following {} calls", recording.calls()));
            Timeline::of(recording)
        };
        let notes = notes(recording, status);
        let _progress =
            Progress::new(format!("writing {} and {}", self.page.display(), self.trace.display()));
        let write = |path: &Path, text: &dyn std::fmt::Display| -> io::Result<()> {
            let mut file = BufWriter::new(File::create(unfinished(path))?);
            write!(file, "{text}")?;
            file.flush()?;
            fs::rename(unfinished(path), path)
        };
        let pair: [(&Path, &dyn std::fmt::Display); 2] =
            [(&self.page, &timeline.page(title, &notes)), (&self.trace, &timeline.trace_events())];
        for (path, text) in pair {
            write(path, text).map_err(|error| cannot(format!("{}: {error}", path.display())))?;
        }
        drop(_progress);
        say(timeline.summary());
        notes.iter().for_each(say);
        say(format_args!(
            "{} for a browser, {} for Perfetto",
            Shown(self.page.display()),
            Shown(self.trace.display())
        ));
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in [&self.page, &self.trace] {
            // It does not exist after success.
            let _ = fs::remove_file(unfinished(path));
        }
    }
}

fn with(name: impl Into<OsString>, ending: &str) -> PathBuf {
    let mut path = name.into();
    path.push(ending);
    PathBuf::from(path)
}

fn unfinished(path: &Path) -> PathBuf {
    with(path, ".part")
}

fn notes(recording: &Recording, status: ExitStatus) -> Vec<String> {
    let mut notes = Vec::new();
    if !status.success() {
        notes.push(format!("The program ended with {status}; all calls up to then are here."));
    }
    let (lost, unread) = (recording.lost(), recording.unread());
    if lost > 0 {
        notes.push(format!("{lost} calls more are not here, for lack of room: --most-mib allows for more."));
    }
    if unread > 0 {
        notes.push(format!(
            "{unread} files were not read: another version of cuprum-trace-library wrote them."
        ));
    }
    for process in recording.running() {
        notes.push(format!("Process {process} is still running; what it calls from now on is not here."));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_had_no_room_is_not_called_one_without_cuda() {
        let program = program::Program { path: "p".into(), warnings: Vec::new(), runtime: None };
        let said = |calls: &Path| nothing(&"p".into(), &program, &[], calls);
        assert!(said(Path::new("/no/such/folder")).starts_with("nothing was written down: there is no room"));
        assert!(said(&std::env::temp_dir()).contains("no process of it called libcuda.so.1"));
        let _ = fs::remove_file(std::env::temp_dir().join("room"));
    }
}
