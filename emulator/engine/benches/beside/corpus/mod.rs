//! Kernels of many kinds, each with the same work in scalar Rust. A file for each source of
//! kernels.

pub(crate) mod clients;
pub(crate) mod grids;
pub(crate) mod numbers;
pub(crate) mod parting;
pub(crate) mod paths;
pub(crate) mod tables;
pub(crate) mod warps;
