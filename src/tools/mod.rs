//! Functions of debuggers and similar tools, for programs that call them directly: core dumps of
//! devices, checkpoints of processes, the driver's log, and notices.
//!
//! Measured on an H100 with driver 580 (`tests/data/goldens/tools.txt`, made by
//! `tests/gpu/tools.cpp`): a context has no separate requests for core dumps, and no separate pipe.
//! Names are read up to their NUL and written with 1024 bytes, regardless of the given size. A
//! process can be locked, checkpointed, restored and unlocked by another process or by itself; its
//! device memory and page-locked memory are unchanged afterwards. Calls in the wrong order return
//! `CUDA_ERROR_ILLEGAL_STATE`, and unknown processes `CUDA_ERROR_OPERATING_SYSTEM`. Nothing has to
//! be initialized.

mod callback;
mod checkpoint;
mod coredump;
mod log;
mod notice;

pub use self::callback::Callback;
pub use self::checkpoint::{CheckpointProcess, ProcessState};
pub use self::coredump::{Coredump, CoredumpFlags, CoredumpSetting};
pub use self::log::LogPosition;
