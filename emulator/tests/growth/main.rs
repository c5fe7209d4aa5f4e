//! What things cost as they grow, through the driver. `emulator/engine/tests/growth` has the engine alone.
//!
//! Times are those that the thread worked, so that other work on the machine does not count.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../sys/tests/common/mod.rs"]
mod processes;

#[path = "../../engine/tests/growth/clock.rs"]
mod clock;
mod driver;
mod objects;
mod queue;
