//! Runs a launch.

mod queue;
mod residents;
mod run;
mod shuffle;
mod team;
mod turn;
mod workers;

pub use run::{has_machine_code, launch};
