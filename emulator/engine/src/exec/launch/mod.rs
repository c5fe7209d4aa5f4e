//! Runs a launch.

mod queue;
mod run;
mod shuffle;
mod team;
mod turn;
mod workers;

pub use run::{has_machine_code, launch};
