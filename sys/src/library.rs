//! A loaded driver and its properties.

use core::ffi::c_void;
use core::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::enums::CUresult;
use crate::error::{MissingFunction, Refusal};
use crate::fns::{FnId, Fns, Presence};
use crate::fork;
use crate::table::StreamMode;
use crate::version::Version;

/// A loaded driver: its functions, its version, and its origin.
///
/// Copying it copies a reference. It stays loaded until the process ends.
///
/// # Example
/// ```
/// use cuprum_sys::{FnId, Library};
///
/// match Library::open() {
///     Ok(library) => println!(
///         "CUDA {} from {}, graphs: {}",
///         library.version(),
///         library.origin(),
///         library.has(FnId::cuGraphCreate),
///     ),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Library(&'static Loaded);

struct Loaded {
    fns: Fns,
    present: Presence,
    version: Version,
    mode: StreamMode,
    origin: String,
    is_software: bool,
    driver: &'static Driver,
    /// Result of this table's `cuInit`.
    init: &'static OnceLock<CUresult>,
    /// Keeps the driver mapped; `None` when a resolver filled the table.
    _handle: Option<libloading::Library>,
}

/// The source of a table's functions.
pub(crate) struct Source<'a> {
    pub(crate) origin: &'a str,
    pub(crate) is_software: bool,
    /// A library of the driver to which the functions pass their calls on.
    pub(crate) same_driver: Option<Library>,
    pub(crate) handle: Option<libloading::Library>,
}

/// State that all tables of one driver share; its address identifies the driver.
struct Driver {
    /// The fork generation in which `cuInit` was first called, or [`fork::NEVER`].
    initialized_in: AtomicU32,
}

/// Everything loaded so far, so that opening the same driver again leaks nothing.
static REGISTRY: Mutex<Vec<&'static Loaded>> = Mutex::new(Vec::new());

impl Library {
    /// True if both are tables of one driver, for example with another default stream, or with
    /// hooks. They then share contexts and handles, and each thread's stack of contexts. `==`
    /// compares the tables.
    ///
    /// ```
    /// use cuprum_sys::Library;
    ///
    /// if let (Ok(legacy), Ok(per_thread)) =
    ///     (Library::open(), Library::options().per_thread_default_stream(true).open())
    /// {
    ///     assert!(legacy.is_same_driver(per_thread) && legacy != per_thread);
    /// }
    /// ```
    #[must_use]
    #[inline]
    pub fn is_same_driver(self, other: Self) -> bool {
        ptr::eq(self.0, other.0) || self.is_another_table_of(other)
    }

    #[cold]
    #[inline(never)]
    fn is_another_table_of(self, other: Self) -> bool {
        ptr::eq(self.0.driver, other.0.driver)
    }

    /// The functions.
    #[must_use]
    pub fn fns(self) -> &'static Fns {
        &self.0.fns
    }

    /// The CUDA version that the driver supports, as it reported when it was opened.
    #[must_use]
    pub fn version(self) -> Version {
        self.0.version
    }

    /// Meaning of the null stream.
    #[must_use]
    pub fn stream_mode(self) -> StreamMode {
        self.0.mode
    }

    /// The path or name from which this driver was loaded.
    #[must_use]
    pub fn origin(self) -> &'static str {
        &self.0.origin
    }

    /// True if this is a driver in software: it says so by an export named
    /// `cuprum_software_device`, or by
    /// [`OpenOptions::software_device`](crate::OpenOptions::software_device). NVIDIA's drivers do
    /// not.
    #[must_use]
    pub fn is_software_device(self) -> bool {
        self.0.is_software
    }

    /// True if the driver has a function.
    #[must_use]
    pub fn has(self, function: FnId) -> bool {
        self.0.present.contains(function as usize)
    }

    /// The address of a function, for a tracing wrapper or for C code; null if the driver lacks it.
    #[must_use]
    pub fn address(self, function: FnId) -> *const c_void {
        if self.has(function) { self.0.fns.slots()[function as usize] } else { ptr::null() }
    }

    /// Checks that the driver has a function.
    ///
    /// # Errors
    /// [`MissingFunction`] names the function, the version it came with, and the driver's.
    pub fn require_fn(self, function: FnId) -> Result<(), MissingFunction> {
        if self.has(function) {
            return Ok(());
        }
        Err(MissingFunction {
            function,
            since: function.symbol_in(self.stream_mode()).since,
            driver: self.version(),
        })
    }

    /// Calls `cuInit(0)` the first time, and returns the same result from then on.
    ///
    /// Some drivers open files anew with each failing call, so the result is kept. In a child that
    /// was forked after the first call the result is `CUresult::FORKED`.
    pub fn init(self) -> CUresult {
        let here = fork::generation();
        let generation = &self.0.driver.initialized_in;
        let first = generation.compare_exchange(fork::NEVER, here, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_err_and(|before| before != here) {
            return CUresult::FORKED;
        }
        // SAFETY: cuInit takes no pointer and may be called at any time, from any thread.
        *self.0.init.get_or_init(|| unsafe { (self.0.fns.cuInit)(0) })
    }

    /// True if this process was forked after the driver was initialized, which makes the driver
    /// unusable here. Costs two loads and a compare.
    #[must_use]
    #[inline]
    pub fn forked(self) -> bool {
        // Generations only grow, and none is above `NEVER`.
        fork::generation() > self.0.driver.initialized_in.load(Ordering::Relaxed)
    }

    /// Makes a library of a filled table that lives forever, unless there is one already.
    pub(crate) fn publish(
        fns: Fns,
        present: Presence,
        version: Version,
        mode: StreamMode,
        source: Source<'_>,
    ) -> Result<Self, Refusal> {
        let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        if registry.is_empty() && !fork::watch() {
            return Err(Refusal::OutOfMemory);
        }
        let same_functions = |known: &Loaded| {
            // Absent functions are left out: each crate may have stubs of its own.
            let mut slots = known.fns.slots().iter().zip(fns.slots()).zip(FnId::ALL);
            known.present == present && slots.all(|((a, b), id)| a == b || !present.contains(*id as usize))
        };
        let known = registry
            .iter()
            .copied()
            .find(|known| known.mode == mode && known.version == version && same_functions(known));
        if let Some(known) = known {
            return Ok(Self(known));
        }
        let same_init = registry.iter().find(|known| known.fns.cuInit as usize == fns.cuInit as usize);
        let same_driver = source.same_driver.map(|library| library.0).or(same_init.copied());
        let new_driver = || Driver { initialized_in: AtomicU32::new(fork::NEVER) };
        let loaded: &'static Loaded = Box::leak(Box::new(Loaded {
            fns,
            present,
            version,
            mode,
            origin: source.origin.to_owned(),
            is_software: source.is_software,
            driver: same_driver.map_or_else(|| &*Box::leak(Box::new(new_driver())), |known| known.driver),
            init: same_init.map_or_else(|| &*Box::leak(Box::default()), |known| known.init),
            _handle: source.handle,
        }));
        registry.push(loaded);
        Ok(Self(loaded))
    }
}

impl core::fmt::Debug for Library {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Library")
            .field("origin", &self.origin())
            .field("version", &self.version())
            .field("stream_mode", &self.stream_mode())
            .finish()
    }
}

impl PartialEq for Library {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Library {}
