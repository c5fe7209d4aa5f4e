//! `cuprum run`: a program on the software device, with checks.

mod reports;
mod settings;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use crate::arguments::{Arguments, Usage};
use crate::program::{self, Program};
use crate::software::{self, Folder};
use crate::{exit, signals};
use reports::Reports;

const HELP: &str = "\
usage: cuprum run [OPTIONS] -- PROGRAM [ARGUMENTS...]

Runs a program on the software device: a CUDA driver that runs PTX on the processor and checks every access to memory. It
needs no GPU, and says which kernel, thread and line went wrong. Nothing is installed or changed.

  --initcheck      reads of memory that nobody wrote
  --racecheck      accesses of threads that nothing puts in order
  --racecheck-atomic-reads   plain reads beside atomics too
  --synccheck      barriers that not all threads reach
  --leakcheck      what was never freed
  --all-checks     all of these but --racecheck-atomic-reads
  --nancheck       stores of NaNs that a kernel has made of numbers; programs may mean them

  --mode MODE      when work runs: eager, async, deferred, shuffled, shuffled:SEED (finds waits that are missing)
  --seed N         another order of blocks and warps
  --budget N, --time-limit SECONDS   ends kernels that do not end
  --devices N, --memory SIZE, --capability 9.0, --driver-version 12.2, --workers N

  --library PATH       the software device's library (default: CUPRUM_SOFTWARE_LIBRARY, or beside this program, or the
                       Python package cuda-software of the active environment)
  --error-exitcode N   exit code if something was found and the program itself ended with 0 (default 99)
  --quiet              no summary

exit codes: the program's own, if it is not 0; else 99 if a kernel went wrong or something was left behind; 125 if the
  program cannot be run so, 126 if it cannot be executed, 127 if it is not there; 128 + N if signal N ended it

It runs what loads libcuda.so.1: the driver API from C and Python (PyCUDA, cuda.bindings, Numba, Triton) and from Rust.
It cannot run programs of the CUDA runtime (PyTorch, CuPy), machine code without PTX, programs that are linked statically.";

/// The code of a program that ended well and was found to do wrong.
const FOUND: u8 = 99;

/// What the command line asks for.
struct Options {
    library: Option<OsString>,
    variables: Vec<(&'static str, OsString)>,
    found: u8,
    quiet: bool,
    program: Vec<OsString>,
}

pub(crate) fn main(mut arguments: Arguments) -> Result<ExitCode, Usage> {
    if arguments.flag("--help") {
        println!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let program = arguments.program().unwrap_or_default();
    let options = Options {
        library: arguments.value("--library")?,
        variables: settings::variables(&mut arguments)?,
        found: arguments
            .parsed("--error-exitcode", "a number from 0 to 255", |text| text.parse().ok())?
            .unwrap_or(FOUND),
        quiet: arguments.flag("--quiet"),
        program,
    };
    let stray = arguments.rest()?;
    if options.program.is_empty() {
        let hint = stray.first().map(|word| format!(" -- {}", word.to_string_lossy())).unwrap_or_default();
        return Err(Usage::new(format!("no program stands behind `--`: cuprum run [OPTIONS]{hint} ...")));
    }
    if let Some(word) = stray.first() {
        return Err(Usage::new(format!("`{}` stands before `--` and is no option", word.to_string_lossy())));
    }
    Ok(ExitCode::from(options.run()))
}

impl Options {
    /// Runs the program and says what became of it.
    fn run(&self) -> u8 {
        let (name, arguments) = (&self.program[0], &self.program[1..]);
        let library = match software::find(self.library.clone(), software::VARIABLE, software::BUILT) {
            Ok(library) => library,
            Err(why) => return refuse(exit::CANNOT, &format!("{why}. {GET}")),
        };
        let program = match program::find(name) {
            Ok(program) => program,
            Err(refused) => return refuse(refused.code, &refused.to_string()),
        };
        if !self.quiet {
            for warning in &program.warnings {
                eprintln!("cuprum run: {warning}");
            }
        }
        match self.run_with(&library, &program, arguments) {
            Ok(code) => code,
            Err(error) => refuse(exit::CANNOT, &format!("`{}` was not run: {error}", name.to_string_lossy())),
        }
    }

    fn run_with(&self, library: &Path, program: &Program, arguments: &[OsString]) -> io::Result<u8> {
        let folder = Folder::with(library)?;
        let file = folder.path().join("reports");
        let mut command = Command::new(&program.path);
        command.args(arguments).env("CUPRUM_REPORT_FILE", &file);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // A program of cuprum's own takes the library that it is given, not the one built into it.
        command.env_remove("CUPRUM_DRIVER");
        folder.give_to(&mut command);
        let start = Instant::now();
        let child = match signals::spawn(&mut command) {
            Ok(child) => child,
            Err(error) => {
                let why = format!("`{}` cannot be executed: {error}", program.path.display());
                return Ok(refuse(exit::NOT_EXECUTABLE, &why));
            }
        };
        let status = wait(child, &file, start)?;
        let reports = Reports::read(&file);
        if !self.quiet {
            self.sum_up(status, &reports, start.elapsed());
        }
        Ok(match signals::code(status) {
            0 if reports.is_failure() => self.found,
            code => code,
        })
    }

    fn sum_up(&self, status: ExitStatus, reports: &Reports, time: Duration) {
        let name = self.program[0].to_string_lossy();
        let ended = match signals::of(status) {
            Some(signal) => format!("was ended by signal {signal}"),
            None => format!("ended with {}", signals::code(status)),
        };
        eprintln!(
            "cuprum run: `{name}` {ended} after {:.1} s; the software device reported {reports}",
            time.as_secs_f64()
        );
        if reports.is_of_the_runtime() {
            eprintln!(
                "cuprum run: it is a program of the CUDA runtime, which asks the driver for tables that are not documented: \
                 it cannot run here"
            );
        } else if reports.users == 0 {
            eprintln!(
                "cuprum run: it did not call the driver: either it uses no CUDA, or it found another libcuda.so.1 by a path \
                 of its own"
            );
        }
    }
}

/// How to get the software device's library.
const GET: &str = "Install its Python package (pip install emulator/python in cuprum's repository), or build it with `cargo build --release -p cuprum-libcuda` there, and name \
                   target/release/libcuprum_libcuda.so with --library or CUPRUM_SOFTWARE_LIBRARY, or put it beside this \
                   program";

fn refuse(code: u8, why: &str) -> u8 {
    eprintln!("cuprum run: {why}");
    code
}

/// Waits for the program. On a terminal it is told after 2, 4, 8... seconds that it still runs.
fn wait(mut child: Child, file: &Path, start: Instant) -> io::Result<ExitStatus> {
    if !io::stderr().is_terminal() {
        return child.wait();
    }
    let mut next = Duration::from_secs(2);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() >= next {
            let count = Reports::read(file).count();
            eprintln!("cuprum run: still running after {} s, {count} report(s) so far", next.as_secs());
            next *= 2;
        }
        thread::sleep(Duration::from_millis(10));
    }
}
