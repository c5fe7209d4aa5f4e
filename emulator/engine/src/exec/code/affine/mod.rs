//! Finds registers whose lanes differ regularly.
//!
//! Most integer registers have the same value in all threads of a warp, or a value that grows by a
//! fixed amount per coordinate of the thread: loop counters, indices, addresses. Such a register
//! needs no vector register of 32 values. Its value in the first lane and its growth, called its
//! *shape*, are sufficient. The shape is constant during a launch, so only the first lane's value
//! is computed, for eight warps at once.
//!
//! This is valid as long as all lanes that need a register get its new value together. The analysis
//! assigns rows to registers for which this does not hold. Cases that it cannot see are detected at
//! run time ([`crate::exec::vector::scalar`]).

mod analysis;
mod divergence;
mod expr;
mod find;
mod linear;
mod warps;

pub(in crate::exec) use analysis::{Affine, Scalar, TestKind, reads_row};
pub(in crate::exec) use expr::{Expr, evaluate};
pub(in crate::exec) use warps::is_sign;
