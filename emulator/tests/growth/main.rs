//! What things cost as they grow, in the engine and through the driver.
//!
//! Times are those that the thread worked, so that other work on the machine does not count.

#[path = "../common/mod.rs"]
mod common;
#[path = "../device/mod.rs"]
mod device;

mod clock;
mod driver;
mod engine;
