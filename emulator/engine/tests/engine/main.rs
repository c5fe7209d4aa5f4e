//! The engine alone, without a driver around it: what is read, what runs, what is found, a module for each subject.
//!
//! Each test makes a device of its own (`tests/device`), so that they run beside each other in one process. What counts
//! time is in `tests/growth`, what needs contexts, streams or settings in `tests/driver`.

#[path = "../../../../tests/support/amount.rs"]
mod amount;
#[path = "../device/mod.rs"]
mod device;
#[path = "../hopper/mod.rs"]
mod hopper;
#[path = "../../../../tests/support/kernels/mod.rs"]
mod kernels;
mod recorded;

mod accepted;
mod accesses;
mod atomic_reads;
mod clusters;
mod control;
mod differential;
mod environment;
mod faults;
mod found;
mod goldens;
mod matrix;
mod named;
mod parser;
mod ptxas;
mod races;
mod reports;
mod shared_rows;
mod special_registers;
mod steps;
mod warp_group;
mod whole_kernels;
mod widening;
