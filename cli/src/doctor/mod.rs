//! `cuprum doctor`: examines this machine's driver and devices, and whether they work.
//!
//! Each driver is opened in a child, so that a crash or a hang is reported and does not end the
//! report.

mod command;
mod device;
mod features;
mod libraries;
mod needs;
mod probe;
mod report;
mod schema;
mod smoke;
mod text;
mod toolkit;
mod variables;

pub(crate) use self::command::main;
