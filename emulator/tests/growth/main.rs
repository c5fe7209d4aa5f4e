//! Costs of growing inputs in the driver. `emulator/engine/tests/growth` tests only the engine.
//!
//! Times are the thread's processor times, so that other programs on the machine do not count.

mod driver;
mod objects;
mod queue;
