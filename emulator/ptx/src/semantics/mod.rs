//! The result of each opcode, as small pure functions on typed scalars.
//!
//! An operation is a type that implements `Pure` or `Test`. The code generated from its function
//! depends on how often kernels run it: a loop over whole vector registers and a plain loop over
//! lanes; only the plain loop; or, for rare operations, a function of one lane for a shared loop
//! (`each`). The decoder selects an operation by the instruction's type. The register's declared
//! type has no effect.
//!
//! A vector register, called a row, has 32 lanes of 32 bits. A 64-bit value takes two consecutive
//! rows, used as 32 lanes of 64 bits. Values of 8 and 16 bits use the low bits of a lane; the
//! others are unspecified and never read.

pub(crate) mod approximate;
pub mod atomic;
pub mod barrier;
pub(crate) mod bits;
pub(crate) mod convert;
pub mod double;
mod each;
pub mod elementary;
pub mod equal;
pub mod float;
pub mod float8;
pub mod format;
pub mod half;
mod info;
pub(crate) mod integer;
pub mod known;
mod lane;
pub mod lower;
mod numbers;
mod operation;
mod packed;
mod pair;
mod permute;
mod register;
mod rounding;
pub mod rows;
pub mod shuffle;
mod soft;
mod subnormal;
pub mod video;

pub use self::info::{PureInfo, TestInfo};
pub(crate) use self::info::{pure, test};
pub use self::lane::Lane;
pub(crate) use self::operation::{Comparison, Pure, Test, operations};
pub use self::register::{LANES, Predicate, Register, Width, lanes_of};
