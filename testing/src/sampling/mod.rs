//! Kernels of one instruction on a texture or a surface, and the expected texture values in plain
//! Rust.

mod program;
pub mod reference;

pub use self::program::{WORDS, access, fetch, first_channels, sample, sample_bits};
