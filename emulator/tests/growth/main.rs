//! Costs of growing inputs, through the driver. `emulator/engine/tests/growth` tests the engine
//! alone.
//!
//! Times are the thread's processor times, so that other programs on the machine do not count.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../sys/tests/common/mod.rs"]
mod processes;

#[path = "../../engine/tests/growth/clock.rs"]
mod clock;
mod driver;
mod objects;
mod queue;
