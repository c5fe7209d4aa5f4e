//! Tests of the engine without a driver, one module per subject.
//!
//! Each test creates its own device (`device`), so that they run in parallel in one process.
//! Tests that measure time are in `tests/growth`; tests that need contexts, streams or settings are
//! in `tests/driver`.

mod device;
mod recorded;

mod accepted;
mod accesses;
mod atomic_reads;
mod calls;
mod carry;
mod checked;
mod clusters;
mod committed;
mod compiled;
mod control;
mod declarations;
mod differential;
mod ends;
mod environment;
#[cfg(target_os = "linux")]
mod far_apart;
mod faults;
mod found;
mod goldens;
mod locks;
mod matrix;
mod named;
mod old_ptx;
mod parser;
mod ptxas;
mod races;
mod reports;
mod shared_rows;
mod special_registers;
mod steps;
mod subnormal;
mod tensor_core;
mod warp_group;
mod whole_kernels;
mod widening;
mod writers;

use cuprum_testing::{amount, hopper, kernels};
