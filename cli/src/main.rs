//! `cuprum`: examines this machine's CUDA driver; runs programs on the software device or traced.
//!
//! `cuprum help` lists the commands, and `README.md` of this crate describes them.

// The rooms, from the bottom to the top. The test `tests/rules/arrows/cli.rs` checks the arrows.
//
// json arguments exit terminal  input and output of text
// progress child signals   long-running work, and work that may crash, in a child process
// file elf program         contents of programs, and whether they can be run
// software                 locations of libraries that replace the driver
// doctor run trace         the commands

mod arguments;
mod child;
mod doctor;
mod elf;
mod exit;
mod file;
mod json;
mod program;
mod progress;
mod run;
mod signals;
mod software;
mod terminal;
mod trace;

use std::process::ExitCode;

use arguments::{Arguments, Usage};

const HELP: &str = "\
cuprum: the CUDA driver, seen from outside

usage: cuprum COMMAND [OPTIONS]

  doctor    tell what driver and devices this machine has, what they lack, and whether they work
  run       run a program on the software device, with checks
  trace     write down every driver call of a program
  help      print this; `cuprum COMMAND --help` says more
  version   print the version

exit code 7: all would be well, but what there is to say could not be written";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let command = words.next().unwrap_or_default();
    let arguments = Arguments::new(words);
    let command = command.to_string_lossy();
    let ended = match &*command {
        "doctor" => doctor::main(arguments),
        "run" => run::main(arguments),
        "trace" => trace::main(arguments),
        "help" | "--help" | "-h" => {
            terminal::print(HELP);
            Ok(ExitCode::SUCCESS)
        }
        "version" | "--version" | "-V" => {
            terminal::print(concat!("cuprum ", env!("CARGO_PKG_VERSION")));
            Ok(ExitCode::SUCCESS)
        }
        "" => Err(Usage::new("a command is missing")),
        _ => Err(Usage::new(format!("there is no command `{command}`"))),
    };
    let code = ended.unwrap_or_else(|usage| {
        let usage = terminal::Shown(usage);
        terminal::say(format_args!(
            "cuprum: {usage}; `cuprum help` and `cuprum COMMAND --help` say what there is"
        ));
        ExitCode::from(exit::USAGE)
    });
    if code == ExitCode::SUCCESS && terminal::has_lost_text() {
        return ExitCode::from(exit::UNWRITTEN);
    }
    code
}
