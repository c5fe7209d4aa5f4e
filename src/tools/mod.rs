//! What debuggers and tools around a program do through the driver, for programs that do it themselves: dumps of a device's
//! state after a fault, checkpoints of whole processes, and notices.
//!
//! Measured on an H100 with driver 580 (`tests/data/goldens/tools.txt`, made by `tests/gpu/tools.cpp`): a context has no
//! requests for core dumps of its own, nor a pipe for them. Names are read up to their NUL and written with 1024 bytes,
//! whatever size is told. A process is locked, checkpointed, restored and unlocked by another one, and also by itself; its
//! memory of devices and its page-locked memory are as before. A step out of turn answers `CUDA_ERROR_ILLEGAL_STATE`, and a
//! process that is none `CUDA_ERROR_OPERATING_SYSTEM`. Nothing has to be initialized for it.

mod checkpoint;
mod coredump;
mod notice;

pub use self::checkpoint::{CheckpointProcess, ProcessState};
pub use self::coredump::{Coredump, CoredumpCallback, CoredumpFlags, CoredumpSwitch};
pub use self::notice::BudgetNotice;
