//! What things cost as they grow, in the engine and through the driver.
//!
//! A program of its own, since these tests take the time: nothing else may take their processors meanwhile.

#[path = "../common/mod.rs"]
mod common;
#[path = "../device/mod.rs"]
mod device;

mod driver;
mod engine;
