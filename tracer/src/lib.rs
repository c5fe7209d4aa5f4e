//! A `libcuda.so.1` that records every call and forwards it to the real driver, and the timeline of
//! its records.
//!
//! The library itself is the file `cuprum-trace-library` in the folder of the programs that `cargo
//! install` installs; `cuprum trace` starts programs on it. It exports every function of
//! `cuprum-sys`, and replaces every such function that the driver returns from `cuGetProcAddress`.
//! Calls of other functions, and calls through the undocumented tables of `cuGetExportTable`, go to
//! the driver unseen.
//!
//! Nothing is collected at the end: each thread writes into a file that is mapped into its memory,
//! so that all calls up to the last are there however a process ends. No lock is taken on the way,
//! and a call costs 0.2 to 0.4 microseconds more.

// The rooms, from the bottom to the top.
//
// variables     environment variables of the library
// format        the format of calls in files
// read          calls, read from files
// roles         roles of functions: queue work, or wait
// work          work queued on streams, and waits for it
// show          a recording as files for people
// os            files in memory, a clock, forks
// driver        the real driver
// segment       files that threads write
// extras times  data of calls beyond their arguments; times of the device's work
// record        calls on their way to the driver
// exports       the functions of the driver API, and our functions by the driver's addresses

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
mod exports;
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

#[cfg(all(target_os = "linux", feature = "library"))]
#[doc(hidden)]
pub use self::exports::exported;
