//! `libcuda.so.1` that writes down calls: a shared library in the form of a program, which `cargo install` installs.
//!
//! Programs are run on it by `cuprum trace`.

/// What the library exports, all of which lies in the crate's library and has to be linked.
#[cfg(target_os = "linux")]
#[used]
static EXPORTED: fn(usize) -> Option<[*const std::ffi::c_void; 2]> = cuprum_tracer::exported;

/// Never called on Linux, where there is no program.
fn main() {}
