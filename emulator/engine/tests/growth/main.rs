//! Costs of growing inputs, in the engine.
//!
//! Times are the thread's processor times, so that other programs on the machine do not count.

mod clock;
#[cfg(feature = "compile")]
mod compiled;
mod engine;
