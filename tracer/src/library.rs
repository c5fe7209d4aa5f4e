//! `libcuda.so.1` that records calls: a shared library in the form of a program, which `cargo
//! install` installs.
//!
//! `cuprum trace` runs programs on it.

/// The library's exports, all of which are in the crate's library and have to be linked.
#[cfg(target_os = "linux")]
#[used]
static EXPORTED: fn(usize) -> Option<[*const std::ffi::c_void; 2]> = cuprum_tracer::exported;

/// Never called on Linux, where there is no program.
fn main() {}
