//! State of optional checks: written registers and bytes, last accesses, happens-before, NaNs.

pub(in crate::exec) mod clocks;
mod lines;
pub(in crate::exec) mod nans;
mod past;
pub(in crate::exec) mod registers;
pub(in crate::exec) mod shadow;
pub(in crate::exec) mod suspects;
pub(in crate::exec) mod traces;
