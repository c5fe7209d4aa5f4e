//! State of the checks that are off by default: written registers and bytes, last accesses, the
//! happens-before order, and NaNs.

pub(in crate::exec) mod clocks;
pub(in crate::exec) mod nans;
pub(in crate::exec) mod registers;
pub(in crate::exec) mod traces;
