//! This program, to be started once more by a test that needs a process of its own.

use std::env;
use std::process::Command;

/// Set where the machine does not run this program by itself: the program that does, as
/// `tests/platforms/qemu.sh`.
const RUNNER: &str = "CUPRUM_TEST_RUNNER";

/// The command that starts this program, without arguments yet.
pub fn itself() -> Command {
    let program = env::current_exe().expect("this program knows where it is");
    let Some(runner) = env::var_os(RUNNER) else { return Command::new(program) };
    let mut command = Command::new(runner);
    command.arg(program);
    command
}
