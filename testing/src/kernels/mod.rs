//! Kernels of `kernels/` with inputs, launch geometry and expected results, for any harness to run.
//! Kernels with faults or bugs, and the kernels of textures, training, vector types and the corpus,
//! are left out.
//!
//! The expectations are plain Rust, written from the launch contracts and not from the kernels: in
//! the order of the mathematics where the contract fixes it, in f64 where the kernel may reorder.
//! The same cases, from the same generator, are recorded on real GPUs by `tests/gpu/record.py`;
//! `golden` reads those records.

mod case;
pub mod cases;
pub mod golden;
pub mod inputs;
pub mod reference;

pub use self::case::{Argument, Bounded, Case, Expected};
