//! A CUDA driver in software.
//!
//! It runs PTX on the CPU and implements the CUDA driver API, with the driver's error codes. It
//! needs no GPU and no toolkit, and does not pretend to be NVIDIA's driver: the device is called
//! "Software CUDA device".
//!
//! [`library`] returns the functions in-process, in the same table that a real driver fills.
//! [`open_driver_or_emulator`] prefers a GPU if the machine has one. The crate `cuprum-libcuda`
//! exports the functions as `libcuda.so.1` for programs in other languages.
//!
//! ```
//! let library = cuprum_emulator::library();
//! assert_eq!(library.version(), cuprum_sys::Version::new(13, 5));
//!
//! let fns = library.fns();
//! let mut count = 0;
//! // SAFETY: `cuInit` takes no pointer, and `count` is a valid output.
//! unsafe {
//!     assert_eq!((fns.cuInit)(0), cuprum_sys::CUresult::CUDA_SUCCESS);
//!     assert_eq!((fns.cuDeviceGetCount)(&mut count), cuprum_sys::CUresult::CUDA_SUCCESS);
//! }
//! assert_eq!(count, 1);
//! ```
//!
//! # Faulty kernels
//!
//! Every memory access is checked. A kernel that accesses memory outside of its allocations is
//! stopped. As on hardware, the launch itself succeeds, and every later call of the context returns
//! `CUDA_ERROR_ILLEGAL_ADDRESS`. Unlike hardware, [`last_fault`] reports the thread, the line and
//! the nearest allocation.
//!
//! # Settings
//!
//! [`Settings`] determine the version, compute capability, memory, number of devices, and the time
//! at which work runs. They come from code or from environment variables.
//!
//! # Rooms
//!
//! `cuprum-ptx` reads programs and `cuprum-engine` runs them; this crate is the driver on top of
//! them. Each room uses only rooms above it in this list. `ARCHITECTURE.md` contains a diagram of
//! the rooms and follows a launch through them. The test `arrows` checks the `use` lines.
//!
//! - [`opengl`]: the OpenGL context of the calling thread. Uses no other room.
//! - `settings`, `message`.
//! - `client`: call sites in the client.
//! - `driver`: the driver's functions, which use all rooms above.

#![deny(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod choice;
mod client;
mod driver;
mod message;
pub mod opengl;
mod settings;

/// The execution of kernels.
pub mod exec {
    #[doc(inline)]
    pub use cuprum_engine::exec::Execution;
    pub(crate) use cuprum_engine::exec::*;
}

/// Allocations in reports, and stand-ins for memory and semaphores of other APIs.
pub mod memory {
    pub(crate) use cuprum_engine::memory::*;
    #[doc(inline)]
    pub use cuprum_engine::memory::{
        ExternalMemory, ExternalSemaphore, Neighbor, Position, Region, RegionKind,
    };
}

#[doc(inline)]
pub use cuprum_engine::report;

use std::sync::OnceLock;

use cuprum_engine::served;
use cuprum_ptx::{ordered, program};

pub use choice::{Choice, ChoiceError, Reason, open_driver_or_emulator};
pub use message::{Message, set_message_hook};
pub use settings::{AlreadyInUse, ApiCheck, Mode, Settings, SettingsError};

use cuprum_sys::{FnId, Library, StreamMode, Symbol};

/// Returns the emulator as an in-process library, with the legacy default stream.
///
/// The first use of the emulator fixes its [`Settings`] for the rest of the process.
///
/// From then on, the emulator writes its reports to standard error: faults with their thread and
/// line, findings of checks, code that it refuses, and functions that it lacks. Programs that only
/// pass on errors therefore show them. [`set_message_hook`], called before or after, or
/// `CUPRUM_EMULATOR_REPORTS=0` changes this.
pub fn library() -> Library {
    library_in(StreamMode::Legacy)
}

/// Returns the emulator as a library, with either meaning of the null stream.
#[expect(clippy::missing_panics_doc, reason = "the table has what a driver must have")]
pub fn library_in(mode: StreamMode) -> Library {
    // Resolving takes as long as many calls, and always has the same result: the first resolution
    // fixes the settings.
    static LIBRARIES: [OnceLock<Library>; 2] = [const { OnceLock::new() }; 2];
    let per_thread = mode == StreamMode::PerThread;
    let open = || {
        message::print_by_default();
        let options = Library::options().per_thread_default_stream(per_thread).software_device(true);
        // SAFETY: `resolve` returns null or a function with the signature of the symbol, because
        // the compiler compares it with the table at its definition.
        let library = unsafe { options.from_resolver("software device", resolve) };
        library.expect("the emulator has cuInit and cuDriverGetVersion in every version")
    };
    *LIBRARIES[usize::from(per_thread)].get_or_init(open)
}

/// Returns the address of a function; null if the emulated driver version lacks it.
///
/// A function that is not implemented also has an address. It returns `CUDA_ERROR_NOT_SUPPORTED`;
/// [`implements`] reports this in advance.
pub fn resolve(symbol: &Symbol) -> *const core::ffi::c_void {
    driver::resolve(symbol)
}

/// Sets the addresses that `cuGetProcAddress` returns. A library that exports the driver's
/// functions uses it to return its own exports, like any driver. Only the first call has an effect.
///
/// # Safety
///
/// `publisher` returns functions with the requested signature and stream mode, never null.
pub unsafe fn set_publisher(publisher: fn(FnId, StreamMode) -> *const core::ffi::c_void) {
    driver::set_publisher(publisher);
}

/// Restarts the random sequence of [`Mode::Shuffled`] with this seed, to repeat a test even if it
/// is not the first in its process. Queued operations stay queued. No effect in other modes.
pub fn reseed(seed: u64) {
    driver::reseed(seed);
}

/// Returns true if the emulator implements a function.
pub fn implements(function: FnId) -> bool {
    driver::implements(function)
}

/// Returns the leaks of contexts that have ended: memory that was not freed, and streams, events
/// and modules that were not destroyed. Only the latest few thousand are kept.
///
/// A context with a sticky error is not examined, because nothing can be freed in it.
pub fn leaks() -> Vec<report::Leak> {
    driver::leaks()
}

/// Returns the objects that would be leaks if the process ended now: all objects of contexts,
/// non-primary contexts, and objects without a context, such as graphs and libraries.
pub fn alive() -> Vec<report::Leak> {
    driver::alive()
}

/// Returns the fault of the last kernel that failed, in any context of this process.
pub fn last_fault() -> Option<report::Fault> {
    driver::last_fault()
}
