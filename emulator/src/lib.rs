//! A CUDA driver in software.
//!
//! It runs PTX on the CPU and answers the CUDA driver API with the driver's own error codes. It
//! needs no GPU and no toolkit, and it never claims to be
//! NVIDIA's: the device is called "Software CUDA device".
//!
//! [`library`] gives the functions in-process, as the same table that a real driver fills;
//! [`open_driver_or_emulator`] prefers a GPU where there is one. The crate `cuprum-libcuda` exports
//! them as `libcuda.so.1` for programs in other languages.
//!
//! ```
//! let library = cuprum_emulator::library();
//! assert_eq!(library.version(), cuprum_sys::Version::new(13, 5));
//!
//! let fns = library.fns();
//! let mut count = 0;
//! // SAFETY: `cuInit` takes no pointer, and `count` is a place for the answer.
//! unsafe {
//!     assert_eq!((fns.cuInit)(0), cuprum_sys::CUresult::CUDA_SUCCESS);
//!     assert_eq!((fns.cuDeviceGetCount)(&mut count), cuprum_sys::CUresult::CUDA_SUCCESS);
//! }
//! assert_eq!(count, 1);
//! ```
//!
//! # What a wrong kernel does
//!
//! Memory is checked on every access. A kernel that leaves its allocations is stopped; the launch
//! itself succeeds and the context then answers `CUDA_ERROR_ILLEGAL_ADDRESS` to every call, as
//! hardware does. [`last_fault`] says more than hardware does: thread, line, and the allocation that
//! was missed.
//!
//! # Settings
//!
//! Version, compute capability, memory, number of devices and the time at which work runs are
//! [`Settings`], in code or in environment variables.
//!
//! # Rooms
//!
//! `cuprum-ptx` reads programs and `cuprum-engine` runs them; this crate is the driver around them. Each
//! room uses only those above it in this list (`ARCHITECTURE.md` draws them and follows a launch through
//! them; the test `arrows` reads the `use` lines):
//!
//! - [`opengl`]: contexts of OpenGL on the calling thread. It knows nothing else of the crate.
//! - `settings`, `message`; `client`: where in the client a call was made; `driver`: the driver's functions, on top of all of these.

mod choice;
mod client;
mod driver;
mod message;
pub mod opengl;
mod settings;

/// How kernels run.
pub mod exec {
    #[doc(inline)]
    pub use cuprum_engine::exec::Execution;
    pub(crate) use cuprum_engine::exec::*;
}

/// Allocations as reports name them, and memory and semaphores that stand in for those of other APIs.
pub mod memory {
    pub(crate) use cuprum_engine::memory::*;
    #[doc(inline)]
    pub use cuprum_engine::memory::{
        ExternalMemory, ExternalSemaphore, Neighbor, Position, Region, RegionKind,
    };
}

#[doc(inline)]
pub use cuprum_engine::report;

use cuprum_engine::served;
use cuprum_ptx::{ordered, program};

pub use choice::{Choice, ChoiceError, Reason, open_driver_or_emulator};
pub use message::{Message, set_message_hook};
pub use settings::{AlreadyInUse, ApiCheck, Mode, Settings, SettingsError};

use cuprum_sys::{FnId, Library, StreamMode, Symbol};

/// The emulator as a library, resolved in-process, with the legacy default stream.
///
/// The first use of the emulator fixes its [`Settings`] for the rest of the process.
pub fn library() -> Library {
    library_in(StreamMode::Legacy)
}

/// The emulator as a library, with either meaning of the null stream.
#[expect(clippy::missing_panics_doc, reason = "the table has what a driver must have")]
pub fn library_in(mode: StreamMode) -> Library {
    let per_thread = mode == StreamMode::PerThread;
    let options = Library::options().per_thread_default_stream(per_thread).software_device(true);
    // SAFETY: `resolve` gives null, or a function with the signature of the symbol, which the
    // compiler has compared with the table where it is defined.
    let library = unsafe { options.from_resolver("software device", resolve) };
    library.expect("the emulator has cuInit and cuDriverGetVersion in every version")
}

/// The address of one function of the emulator; null if the version that it poses as lacks it.
///
/// A function that the emulator does not implement has an address too. It answers
/// `CUDA_ERROR_NOT_SUPPORTED`; [`implements`] tells beforehand.
pub fn resolve(symbol: &Symbol) -> *const core::ffi::c_void {
    driver::resolve(symbol)
}

/// Sets the addresses that `cuGetProcAddress` hands out, for a library that exports the driver's functions: they are
/// its own then, as with any driver. The first publisher stays.
///
/// # Safety
///
/// The addresses that `publisher` gives are never null, and are of the function with the requested signature and stream
/// mode.
pub unsafe fn set_publisher(publisher: fn(FnId, StreamMode) -> *const core::ffi::c_void) {
    driver::set_publisher(publisher);
}

/// Restarts the order of [`Mode::Shuffled`] with this number, so that a test can be repeated that is not the first in
/// its process. Operations that are queued stay queued. Does nothing in other modes.
pub fn reseed(seed: u64) {
    driver::reseed(seed);
}

/// True if the emulator implements a function.
pub fn implements(function: FnId) -> bool {
    driver::implements(function)
}

/// Leaks of contexts that have ended: memory that was not freed, streams, events and modules that were not
/// destroyed. The newest few thousand.
///
/// A context with a sticky error is not examined, since nothing can be freed in it.
pub fn leaks() -> Vec<report::Leak> {
    driver::leaks()
}

/// Objects that would be leaks if the process ended now: all that the contexts hold, contexts other than the primary
/// ones, and objects of no context, such as graphs and libraries.
pub fn alive() -> Vec<report::Leak> {
    driver::alive()
}

/// Fault of the last kernel that failed, in any context of this process.
pub fn last_fault() -> Option<report::Fault> {
    driver::last_fault()
}
