//! What things cost as they grow, in the engine.
//!
//! Times are those that the thread worked, so that other work on the machine does not count.

#[path = "../device/mod.rs"]
mod device;

mod clock;
mod engine;
