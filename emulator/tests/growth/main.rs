//! Costs of growing inputs in the driver. `emulator/engine/tests/growth` tests only the engine.
//!
//! Times are the thread's processor times, so that other programs on the machine do not count.

#[path = "../common/mod.rs"]
mod common;

#[path = "../../engine/tests/growth/clock.rs"]
mod clock;
mod driver;
mod objects;
mod queue;
