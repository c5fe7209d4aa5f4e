//! Half precision: IEEE's (`f16`), and the upper half of single precision (`bf16`), also in pairs.

mod number;
mod operations;

pub(crate) use super::pair::Both;
pub(in crate::semantics) use number::encode;
pub use number::{Bf16, F16, Half};
pub(crate) use operations::*;
