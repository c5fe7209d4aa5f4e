//! A CUDA driver in software.

pub mod memory;
pub mod ptx;
pub mod report;
