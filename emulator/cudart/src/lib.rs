#![doc = include_str!("../README.md")]
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "everything has its name of C"
)]
#![recursion_limit = "512"]

// The rooms, from the bottom to the top. Each uses only rooms above it in this list.
//
// driver error      the driver, and the codes that both layers share
// release           whether this is the library of CUDA 12 or 13
// structs properties   structs that the driver does not have
// state             state per thread and per device
// image registry    fat binaries, and the kernels and variables of host addresses
// exported          macros that define functions from lines
// calls             the functions, by subject

mod calls;
mod driver;
mod error;
mod exported;
mod image;
mod properties;
mod registry;
mod release;
mod state;
mod structs;
#[cfg(test)]
mod tests;
