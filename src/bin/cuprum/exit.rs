//! Exit codes of all commands, for scripts.

/// The command line makes no sense.
pub(crate) const USAGE: u8 = 2;
/// All would be well, but a text could not be written to standard output or standard error.
pub(crate) const UNWRITTEN: u8 = 7;
/// `run` and `trace`: the program could not be started as asked, for a reason that is not the program's.
pub(crate) const CANNOT: u8 = 125;
/// `run` and `trace`: the program is there and cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// `run` and `trace`: there is no such program.
pub(crate) const NOT_FOUND: u8 = 127;
/// `run` and `trace`: a signal with this number less ended the program.
pub(crate) const SIGNAL: u8 = 128;
