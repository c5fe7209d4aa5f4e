//! What the checks that are off by default remember: which registers and bytes were ever written, who touched them last,
//! and what happened before what.

pub(in crate::exec) mod clocks;
pub(in crate::exec) mod registers;
pub(in crate::exec) mod traces;
