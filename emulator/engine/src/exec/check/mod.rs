//! Memory of the checks that are off by default: registers and bytes that were ever written, their last accesses,
//! the happens-before order, and NaNs.

pub(in crate::exec) mod clocks;
pub(in crate::exec) mod nans;
pub(in crate::exec) mod registers;
pub(in crate::exec) mod traces;
