//! Exit codes of all commands, for scripts.

pub(crate) const USAGE: u8 = 2;
/// Success, except that text could not be written to standard output or standard error.
pub(crate) const UNWRITTEN: u8 = 7;
/// `run` and `trace`: the program could not be started, for a reason outside of the program.
pub(crate) const CANNOT: u8 = 125;
/// `run` and `trace`: the program exists but cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// `run` and `trace`: the program does not exist.
pub(crate) const NOT_FOUND: u8 = 127;
/// `run` and `trace`: plus the number of the signal that ended the program.
pub(crate) const SIGNAL: u8 = 128;
