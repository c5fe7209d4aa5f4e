//! The command itself: arguments, the program's environment, and its end.

use super::check::Wrong;
use super::processes::{Ended, Processes};
use super::reports::Reports;
use super::{assembler, check, processes, sarif, settings};
use crate::arguments::{Arguments, Usage};
use crate::program::{self, Program};
use crate::software::{self, Folder};
use crate::terminal::{self, Shown};
use crate::{exit, signals};
use cuprum::diagnosis::Machine;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

pub(super) const REPORTS: &str = "CUPRUM_REPORT_FILE";

pub(super) const HELP: &str = "\
usage: cuprum run [OPTIONS] -- PROGRAM [ARGUMENTS...]

Runs a program on the software device: a CUDA driver that runs PTX on the processor and checks every access to memory. It
needs no GPU, and says which kernel, thread and line went wrong. Nothing is installed or changed.

  --initcheck      reads of memory that nobody wrote
  --racecheck      accesses of threads that nothing puts in order
  --racecheck-atomic-reads   plain reads beside atomics too
  --synccheck      barriers that not all threads reach
  --streamcheck    operations of streams that touch the same bytes and that no event or wait orders
  --leakcheck      what was never freed in contexts that ended (lists what the process holds to its end, too)
  --apicheck       launches that ask for more than their kernel allows, which programs may try on purpose. Other misuse of
                   the API is always reported: memory freed twice, destroyed handles, copies beyond an allocation, addresses
                   cut to 32 bits, other contexts' objects, impossible launches (CUPRUM_EMULATOR_APICHECK=0: none)
  --all-checks     all of these but --racecheck-atomic-reads
  --nancheck       stores of NaNs that a kernel has made of numbers; programs may mean them

  --fail-fast      ends a launch and its context with the first finding; without it they go on, as the exit code tells

  --mode MODE      when work runs: eager, async, deferred, shuffled, shuffled:SEED (finds waits that are missing)
  --seed N         another order of blocks and warps
  --time-limit SECONDS   ends launches that take longer (default: 300 seconds; `none` for no limit)
  --budget N             ends launches of more instructions
  --devices N, --memory SIZE, --capability 9.0, --driver-version 12.2, --workers N,
  --multiprocessors N

  --processes N        starts N processes, 1 to 16, with the variables of torchrun: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR,
                       MASTER_PORT. There are N devices then, unless --devices gives another number. If one process fails,
                       its number is reported, and the others are ended 5 seconds later
  --library PATH       the software device's library (default: CUPRUM_SOFTWARE_LIBRARY, or beside this program, or the
                       Python package cuda-software of the active environment)
  --error-exitcode N   exit code if something was found and the program itself ended with 0 (default 99)
  --sarif FILE         writes the reports in SARIF 2.1.0 too, in which forges show them at their lines
  --quiet              no summary; there is none of a program that ends with 0 and of which there are no reports either

exit codes: the program's own, if it is not 0 (of several processes that of the first one that failed); else 99 if something was found; 2 if an
  option makes no sense, 125 if the program cannot be run so, 126 if it cannot be executed, 127 if it is not there, and
  then it was not started; 128 + N if signal N ended it; 7 as 0, but what there is to say could not be written

It runs what loads libcuda.so.1: the driver API from C and Python (PyCUDA, cuda.bindings, Numba, Triton) and from Rust. With
our libcudart.so.12 and .13 beside the software device's library (emulator/cudart/link.sh makes them) it runs what loads the
CUDA runtime, too: they are set in LD_PRELOAD, and PYTORCH_NO_CUDA_MEMORY_CACHING=1. Kernels need PTX: Triton and torch.compile
make it; PyTorch's own operators, cuBLAS and cuDNN are machine code. Programs with the runtime inside (CuPy, nvcc without
`-cudart shared`) and programs that are linked statically cannot run.";

/// The exit code of a program that succeeded but has reports.
const FOUND: u8 = 99;

struct Options {
    library: Option<OsString>,
    variables: Vec<(&'static str, OsString)>,
    found: u8,
    quiet: bool,
    sarif: Option<OsString>,
    processes: Option<u32>,
    program: Vec<OsString>,
}

pub(crate) fn main(mut arguments: Arguments) -> Result<ExitCode, Usage> {
    if arguments.flag("--help") {
        terminal::print(HELP);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(library) = arguments.value(check::OPTION)? {
        check::child_main(Path::new(&library));
        return Ok(ExitCode::SUCCESS);
    }
    let program = arguments.program().unwrap_or_default();
    let mut variables = settings::variables(&mut arguments)?;
    settings::limit_time(&mut variables, std::env::var_os(settings::TIME_LIMIT).is_some());
    settings::go_on(&mut variables, std::env::var_os(settings::FAIL_FAST).is_some());
    let processes = arguments.parsed("--processes", "a number from 1 to 16", processes::count)?;
    settings::devices(&mut variables, std::env::var_os(settings::DEVICES).is_some(), processes);
    let options = Options {
        library: arguments.value("--library")?,
        variables,
        found: arguments
            .parsed("--error-exitcode", "a number from 0 to 255", |text| text.parse().ok())?
            .unwrap_or(FOUND),
        quiet: arguments.flag("--quiet"),
        sarif: arguments.value("--sarif")?,
        processes,
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
    options.run().map(ExitCode::from)
}

impl Options {
    fn run(&self) -> Result<u8, Usage> {
        let (name, arguments) = (&self.program[0], &self.program[1..]);
        let library = match software::find(self.library.clone(), software::VARIABLE, software::BUILT) {
            Ok(library) => library,
            Err(why) => return Ok(refuse(exit::CANNOT, &format!("{why}. {GET}"))),
        };
        let program = match program::find(name) {
            Ok(program) => program,
            Err(refused) => return Ok(refuse(refused.code, &refused.to_string())),
        };
        let folder = Folder::with(&library).and_then(|mut folder| {
            folder.add_runtimes(&library)?;
            Ok(folder)
        });
        let folder = match folder {
            Ok(folder) => folder,
            Err(error) => return Ok(refuse(exit::CANNOT, &format!("a folder for the library: {error}"))),
        };
        match check::check(&library, &self.variables, &folder.path().join("check")) {
            Ok(()) => {}
            Err(Wrong::Option(usage)) => return Err(usage),
            Err(Wrong::Other(why)) => return Ok(refuse(exit::CANNOT, &why)),
        }
        if !self.quiet {
            let gpu = check::unused_gpu(&Machine::look());
            let runtime =
                program.runtime.iter().filter(|runtime| !runtime.is_loaded || !folder.has_runtimes());
            gpu.iter()
                .chain(runtime.map(|runtime| &runtime.why))
                .chain(&program.warnings)
                .for_each(|text| say(Shown(text)));
        }
        Ok(match self.run_with(&folder, &program, arguments) {
            Ok(code) => code,
            Err(error) => refuse(exit::CANNOT, &format!("`{}` was not run: {error}", name.to_string_lossy())),
        })
    }

    fn run_with(&self, folder: &Folder, program: &Program, arguments: &[OsString]) -> io::Result<u8> {
        let file = folder.path().join("reports");
        let mut command = Command::new(&program.path);
        command.args(arguments).env(REPORTS, &file);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // A program of cuprum uses the given library, not the one built into it.
        command.env_remove("CUPRUM_DRIVER");
        folder.give_to(&mut command);
        assembler::give_to(&mut command, folder.path())?;
        let start = Instant::now();
        let processes = match Processes::start(&mut command, self.processes) {
            Ok(processes) => processes,
            Err(error) => {
                let why = format!("`{}` cannot be executed: {error}", program.path.display());
                return Ok(refuse(exit::NOT_EXECUTABLE, &why));
            }
        };
        let Ended { status, .. } =
            processes.wait(progress(&file, start), |ended| self.report_member(ended))?;
        let reports = Reports::read(&file);
        // A correct program gets no remarks.
        let is_right = status.success() && reports.count() == 0 && reports.users > 0;
        if !self.quiet && !is_right {
            self.sum_up(status, &reports, start.elapsed());
        }
        let is_written = self.write_sarif(&reports);
        Ok(match signals::code(status) {
            0 if reports.is_failure() => self.found,
            0 if !is_written => exit::UNWRITTEN,
            code => code,
        })
    }

    /// Reports the member of a group that failed first.
    fn report_member(&self, Ended { rank, status }: Ended) {
        if let Some(size) = self.processes {
            say(format_args!("member {rank} of {size} {}", end_of(status)));
        }
    }

    /// Writes the file of `--sarif`. Returns false on failure.
    fn write_sarif(&self, reports: &Reports) -> bool {
        let Some(path) = &self.sarif else { return true };
        let root = std::env::current_dir().unwrap_or_default();
        let written = std::fs::write(path, format!("{}\n", sarif::log(reports, &root)));
        if let Err(error) = &written {
            say(format_args!("{}: {error}", Shown(path.to_string_lossy())));
        }
        written.is_ok()
    }

    fn sum_up(&self, status: ExitStatus, reports: &Reports, time: Duration) {
        let name = Shown(self.program[0].to_string_lossy());
        let ended = end_of(status);
        let seconds = time.as_secs_f64();
        say(format!("`{name}` {ended} after {seconds:.1} s; the software device reported {reports}"));
        if reports.is_of_the_runtime() && signals::code(status) == 0 {
            say("it has the CUDA runtime in it, which takes no driver but NVIDIA's, and went on without it");
        } else if reports.is_of_the_runtime() {
            say(
                "it is a program of the CUDA runtime with NVIDIA's library of it inside, which takes no driver but NVIDIA's: \
                 it cannot run here; build it with `nvcc -cudart shared`, or use the driver API",
            );
        } else if reports.users == 0 {
            say(
                "it did not call the driver: either it uses no CUDA, or it found another libcuda.so.1 by a path of its own",
            );
        }
    }
}

const GET: &str = "Install its Python package (pip install emulator/python in cuprum's repository), or build it with `cargo build --release -p cuprum-libcuda` there, and name \
                   target/release/libcuprum_libcuda.so with --library or CUPRUM_SOFTWARE_LIBRARY, or put it beside this \
                   program";

fn end_of(status: ExitStatus) -> String {
    match signals::of(status) {
        Some(signal) => format!("was ended by signal {signal}"),
        None => format!("ended with {}", signals::code(status)),
    }
}

fn say(text: impl std::fmt::Display) {
    terminal::say(format_args!("cuprum run: {text}"));
}

fn refuse(code: u8, why: &str) -> u8 {
    say(Shown(why));
    code
}

/// Reports on a terminal after 2, 4, 8... seconds that the program still runs.
fn progress(file: &Path, start: Instant) -> impl FnMut() + '_ {
    let is_terminal = io::stderr().is_terminal();
    let mut next = Duration::from_secs(2);
    move || {
        if is_terminal && start.elapsed() >= next {
            let count = Reports::read(file).count();
            say(format_args!("still running after {} s, {count} report(s) so far", next.as_secs()));
            next *= 2;
        }
    }
}
