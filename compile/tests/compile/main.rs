//! From CUDA C++ to code.
//!
//! Without a compiler: over an NVRTC in this process under the test's control (`nvrtc.rs`), a
//! script in the place of `nvcc`, and, with the feature `cache`, over folders of code. With one:
//! `releases`, whose tests are ignored otherwise, fetches every line of NVRTC that pip has.
//! `loading` and `shipped` test the table of NVRTC's functions alone.

/// A folder for files next to this program, which a child finds too, on any machine.
fn scratch(name: &str) -> std::path::PathBuf {
    let program = std::env::current_exe().expect("this program");
    program.parent().expect("it lies in a folder").join("scratch").join(name)
}

#[cfg(feature = "cache")]
mod cache;
mod compiler;
#[cfg(target_os = "linux")]
mod loading;
#[cfg(unix)]
mod nvcc;
mod nvrtc;
/// The releases that are fetched.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod nvrtc_releases;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod releases;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod shipped;
#[cfg(all(unix, feature = "cache"))]
mod trust;

use cuprum_testing::{child, common};
