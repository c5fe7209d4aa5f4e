//! A `libcuda.so.1` that writes down every call and forwards it to the real driver, and the timeline of what it wrote.
//!
//! The library itself is the file `cuprum-trace-library` beside the programs that `cargo install` installs; `cuprum trace`
//! starts programs on it. It exports every function of `cuprum-sys`, and stands in for every function that the driver gives
//! out through `cuGetProcAddress`; what it does not know goes to the driver unseen, and so does all that is reached
//! through the undocumented tables of `cuGetExportTable`.
//!
//! Nothing is collected at the end: each thread writes into a file that is mapped into its memory, so that all calls up to
//! the last are there however a process ends. No lock is taken on the way, and a call costs 0.2 to 0.4 microseconds
//! more.

// The rooms, from the bottom to the top.
//
// variables     what the environment tells the library
// format        how calls lie in files
// read          calls, read from files
// roles         what functions do: which queue work, and which wait
// work          what calls queued on streams, and what waited for it
// show          a recording as files for people
// os            files in memory, a clock, forks
// driver        the real driver, and which of our functions stands for which of its
// segment       files that threads write
// extras times  what is told of calls beside their arguments; when the device works
// record        calls on their way to the driver
// fns table     the exported functions

#[cfg_attr(
    not(all(target_os = "linux", feature = "library")),
    allow(dead_code, reason = "half of it is for writing")
)]
mod format;
mod read;
mod roles;
mod show;
pub mod variables;
mod work;

pub use self::read::Recording;
pub use self::show::Timeline;

#[cfg(all(target_os = "linux", feature = "library"))]
mod driver;
#[cfg(all(target_os = "linux", feature = "library"))]
mod extras;
#[cfg(all(target_os = "linux", feature = "library"))]
mod os;
#[cfg(all(target_os = "linux", feature = "library"))]
mod record;
#[cfg(all(target_os = "linux", feature = "library"))]
mod segment;
#[cfg(all(target_os = "linux", feature = "library"))]
mod times;

/// The list of functions, expanded by [`table::driver_fns`] instead of the macro of `cuprum-sys`.
#[cfg(all(target_os = "linux", feature = "library"))]
#[allow(
    non_snake_case,
    unused_imports,
    reason = "the names are C's, and one macro needs less than the other"
)]
mod fns;
#[cfg(all(target_os = "linux", feature = "library"))]
mod table;

/// Names that the list takes from its own crate.
mod enums {}
mod structs {}
mod types {}

#[cfg(all(target_os = "linux", feature = "library"))]
use {driver::answer, record::functions};

/// The addresses of an exported function and of its per-thread twin, by its place in the list; `None` behind the last.
#[cfg(all(target_os = "linux", feature = "library"))]
#[doc(hidden)]
pub fn exported(function: usize) -> Option<[*const std::ffi::c_void; 2]> {
    fns::ADDRESSES.get(function).copied()
}
