//! Memory of the checks that are off by default: registers and bytes that were ever written, their last accesses,
//! and the happens-before order.

pub(in crate::exec) mod clocks;
pub(in crate::exec) mod registers;
pub(in crate::exec) mod traces;
