//! A CUDA driver in software.

pub mod memory;
pub mod report;
