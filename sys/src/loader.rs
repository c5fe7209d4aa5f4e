//! Finds a driver, fills the table from it, and keeps it for the rest of the process.
//!
//! A driver is never unloaded: some start a thread in `cuInit` that would go on running in unmapped code.
//! What was loaded is therefore leaked, once per driver and stream mode, and [`Library`] is a plain
//! reference to it.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::enums::{CUdriverProcAddress_flags, CUresult};
use crate::error::{Attempt, LoadError, MissingFunction, Refusal, TooOld};
use crate::fns::{COUNT, FnId, Fns};
use crate::fork;
use crate::table::{StreamMode, Symbol};
use crate::version::Version;

/// Names the one driver to load in place of the usual ones, when set to a path.
pub const DRIVER_VARIABLE: &str = "CUPRUM_DRIVER";

/// Where the driver is looked for, in this order.
///
/// The unversioned name comes last: outside a driver's own folder it is often the toolkit's link stub.
#[cfg(unix)]
const USUAL_NAMES: &[&str] = &["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so"];
#[cfg(windows)]
const USUAL_NAMES: &[&str] = &["nvcuda.dll"];

/// A loaded driver: its functions, its version, and where it came from.
///
/// Copying it copies a reference. It stays loaded until the process ends.
#[derive(Clone, Copy)]
pub struct Library(&'static Loaded);

struct Loaded {
    fns: Fns,
    present: Presence,
    version: Version,
    mode: StreamMode,
    origin: String,
    init: &'static Init,
    /// Keeps the driver mapped; `None` when a resolver filled the table.
    _handle: Option<libloading::Library>,
}

/// What became of `cuInit`; one for each driver, whatever its tables.
struct Init {
    /// The fork generation in which it was first called, or [`fork::NEVER`].
    generation: AtomicU32,
    result: OnceLock<CUresult>,
}

impl Default for Init {
    fn default() -> Self {
        Self { generation: AtomicU32::new(fork::NEVER), result: OnceLock::new() }
    }
}

/// One bit a function.
#[derive(Clone, PartialEq, Eq)]
struct Presence([u64; COUNT.div_ceil(64)]);

impl Presence {
    const NONE: Self = Self([0; COUNT.div_ceil(64)]);

    fn insert(&mut self, function: FnId) {
        let i = function as usize;
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn contains(&self, function: FnId) -> bool {
        let i = function as usize;
        self.0[i / 64] >> (i % 64) & 1 == 1
    }
}

/// Everything loaded so far, so that opening the same driver again leaks nothing.
static REGISTRY: Mutex<Vec<&'static Loaded>> = Mutex::new(Vec::new());

/// How to open a driver; [`Library::options`] makes one.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    mode: StreamMode,
}

impl OpenOptions {
    /// Whether the null stream means a stream of the calling thread's own (default: no).
    ///
    /// The mode holds for every call through this table. Functions whose per-thread twin is absent (all of
    /// them before CUDA 7.0) are absent from it.
    #[must_use]
    pub fn per_thread_default_stream(mut self, yes: bool) -> Self {
        self.mode = if yes { StreamMode::PerThread } else { StreamMode::Legacy };
        self
    }

    /// Opens the machine's driver; see [`Library::open`].
    ///
    /// # Errors
    /// [`LoadError`] lists what was tried.
    pub fn open(self) -> Result<Library, LoadError> {
        match std::env::var_os(DRIVER_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => self.open_from(PathBuf::from(path)),
            None => self.open_first(USUAL_NAMES.iter().map(PathBuf::from)),
        }
    }

    /// Opens the driver at a path, or by a name that the system's loader finds; see [`Library::open_from`].
    ///
    /// # Errors
    /// [`LoadError`] says why this library was refused.
    pub fn open_from(self, path: impl AsRef<Path>) -> Result<Library, LoadError> {
        self.open_first([path.as_ref().to_owned()])
    }

    /// Fills the table from `resolve`; see [`Library::from_resolver`].
    ///
    /// # Safety
    /// As for [`Library::from_resolver`].
    ///
    /// # Errors
    /// As for [`Library::from_resolver`].
    pub unsafe fn from_resolver(
        self,
        origin: &str,
        mut resolve: impl FnMut(&Symbol) -> *const c_void,
    ) -> Result<Library, LoadError> {
        let mut table = Table::new(self.mode);
        // SAFETY: the caller vouches for the addresses.
        unsafe { table.fill(&mut resolve) };
        // SAFETY: likewise.
        unsafe { table.publish(origin, None) }
            .map_err(|cause| LoadError::new(vec![Attempt::new(origin.into(), cause)]))
    }

    fn open_first(self, paths: impl IntoIterator<Item = PathBuf>) -> Result<Library, LoadError> {
        let mut attempts = Vec::new();
        for path in paths {
            match self.open_one(&path) {
                Ok(library) => return Ok(library),
                Err(cause) => attempts.push(Attempt::new(path.into_os_string(), cause)),
            }
        }
        Err(LoadError::new(attempts))
    }

    /// Opens one library. One that is refused is closed again: nothing was called that starts anything.
    fn open_one(self, path: &Path) -> Result<Library, Refusal> {
        let handle = dlopen(path)?;
        let mut table = Table::new(self.mode);
        // SAFETY: a symbol of this name in a CUDA driver is this function; NVIDIA keeps a name's ABI.
        unsafe { table.fill(&mut |symbol| dlsym(&handle, symbol.name)) };
        let origin = path.to_string_lossy();
        // SAFETY: likewise.
        unsafe { table.publish(&origin, Some(handle)) }
    }
}

impl Library {
    /// Opens the machine's driver with the legacy default stream.
    ///
    /// When `CUPRUM_DRIVER` is set, it names the only library tried. Otherwise these are tried in order:
    /// `libcuda.so.1`, the WSL library, `libcuda.so`; on Windows `nvcuda.dll`. All functions are looked up
    /// at once. `cuInit` is not called. Opening the same driver again gives the
    /// same table, under the name it had first.
    ///
    /// # Errors
    /// [`LoadError`] lists every library tried, each with the reason why it did not serve.
    pub fn open() -> Result<Self, LoadError> {
        Self::options().open()
    }

    /// Opens the driver at a path, or by a name that the system's loader finds. Nothing else is tried.
    ///
    /// The library's initializers run, as with every library that is loaded: name only what you trust.
    ///
    /// # Errors
    /// [`LoadError`] says why this library was refused.
    pub fn open_from(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Self::options().open_from(path)
    }

    /// Fills the table from any source: a driver in software, a test's fake, a tracing wrapper.
    ///
    /// `resolve` is asked once for each function; null means absent. `origin` names the source in messages.
    /// A source that gives the same addresses and version again is taken for the same driver, whose table
    /// is not made twice and keeps its first name.
    ///
    /// # Safety
    /// 1. Each address given must be a function with the ABI of the symbol asked for.
    /// 2. It must stay valid until the process ends.
    ///
    /// # Errors
    /// [`LoadError`] if `cuInit` or `cuDriverGetVersion` is missing, or the latter fails.
    pub unsafe fn from_resolver(
        origin: &str,
        resolve: impl FnMut(&Symbol) -> *const c_void,
    ) -> Result<Self, LoadError> {
        // SAFETY: the caller vouches for the addresses.
        unsafe { Self::options().from_resolver(origin, resolve) }
    }

    /// Choices to make before opening.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::default()
    }

    /// The functions.
    #[must_use]
    pub fn fns(self) -> &'static Fns {
        &self.0.fns
    }

    /// The CUDA version that the driver supports, as it said when it was opened.
    #[must_use]
    pub fn version(self) -> Version {
        self.0.version
    }

    /// Which stream the null stream is.
    #[must_use]
    pub fn stream_mode(self) -> StreamMode {
        self.0.mode
    }

    /// The path or name that this driver came from.
    #[must_use]
    pub fn origin(self) -> &'static str {
        &self.0.origin
    }

    /// Whether the driver has a function.
    #[must_use]
    pub fn has(self, function: FnId) -> bool {
        self.0.present.contains(function)
    }

    /// The address of a function, for a tracing wrapper or for C code; null if the driver lacks it.
    #[must_use]
    pub fn address(self, function: FnId) -> *const c_void {
        if self.has(function) { self.0.fns.slots()[function as usize] } else { ptr::null() }
    }

    /// Checks that the driver supports at least a version.
    ///
    /// # Errors
    /// [`TooOld`] names both versions.
    pub fn require(self, needed: Version) -> Result<(), TooOld> {
        if self.version() < needed {
            return Err(TooOld { needed, driver: self.version() });
        }
        Ok(())
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

    /// Calls `cuInit(0)` the first time, and answers the same ever after.
    ///
    /// Some drivers open files anew with each failing call, so the answer is kept. In a child that was
    /// forked after the first call the answer is `CUresult::FORKED`.
    pub fn init(self) -> CUresult {
        let here = fork::generation();
        let init = self.0.init;
        let first = init.generation.compare_exchange(fork::NEVER, here, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_err_and(|before| before != here) {
            return CUresult::FORKED;
        }
        // SAFETY: cuInit takes no pointer and may be called at any time, from any thread.
        *init.result.get_or_init(|| unsafe { (self.0.fns.cuInit)(0) })
    }

    /// Whether this process was forked after the driver was initialized, which makes the driver unusable
    /// here. Costs two loads and a compare.
    #[must_use]
    #[inline]
    pub fn forked(self) -> bool {
        let before = self.0.init.generation.load(Ordering::Relaxed);
        before != fork::NEVER && before != fork::generation()
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

/// A table on its way to becoming a [`Library`].
struct Table {
    fns: Fns,
    present: Presence,
    mode: StreamMode,
}

impl Table {
    fn new(mode: StreamMode) -> Self {
        Self { fns: Fns::STUBS, present: Presence::NONE, mode }
    }

    /// Asks for every function that is still absent.
    ///
    /// # Safety
    /// What `resolve` answers must be null or the function asked for.
    unsafe fn fill(&mut self, resolve: &mut dyn FnMut(&Symbol) -> *const c_void) {
        for &function in FnId::ALL {
            let address = resolve(&function.symbol_in(self.mode));
            if !address.is_null() {
                // SAFETY: not null, and by the caller's word this function.
                unsafe { self.fns.set(function, address) };
                self.present.insert(function);
            }
        }
    }

    /// Asks `cuGetProcAddress` for the functions that the driver should have and does not export by name.
    ///
    /// The query answers with the newest revision up to the version asked for, which may be an older ABI
    /// than the one wanted; an address that serves another function of the table is therefore no answer.
    ///
    /// # Safety
    /// The table holds the functions of a driver.
    unsafe fn fill_by_query(&mut self, version: Version) {
        for &function in FnId::ALL {
            let symbol = function.symbol_in(self.mode);
            if self.present.contains(function) || symbol.since > version {
                continue;
            }
            // SAFETY: the caller vouches for the table.
            let address = unsafe { self.query(&symbol) };
            if !address.is_null() && !self.fns.slots().contains(&address) {
                // SAFETY: not null, and the driver's answer for this name and version; that it is no other
                // revision was just checked.
                unsafe { self.fns.set(function, address) };
                self.present.insert(function);
            }
        }
    }

    /// The driver's own answer for one symbol; null if it knows none, or has no such query.
    ///
    /// # Safety
    /// The table holds the functions of a driver.
    unsafe fn query(&self, symbol: &Symbol) -> *const c_void {
        let Ok(base) = CString::new(symbol.base) else { return ptr::null() };
        let flags = match symbol.mode {
            StreamMode::Legacy => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_LEGACY_STREAM,
            StreamMode::PerThread => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
        };
        let (since, flags) = (symbol.since.as_raw() as c_int, u64::from(flags.0));
        let mut address = ptr::null_mut();
        let result = if self.present.contains(FnId::cuGetProcAddress_v2) {
            // SAFETY: the name is a C string, the address is ours to write, a null status is allowed.
            unsafe {
                (self.fns.cuGetProcAddress_v2)(base.as_ptr(), &mut address, since, flags, ptr::null_mut())
            }
        } else {
            // SAFETY: likewise; an absent function is a stub, which writes nothing.
            unsafe { (self.fns.cuGetProcAddress)(base.as_ptr(), &mut address, since, flags) }
        };
        if result == CUresult::CUDA_SUCCESS { address } else { ptr::null() }
    }

    /// What the driver says its version is.
    ///
    /// # Safety
    /// The table holds the functions of a driver.
    unsafe fn version(&self) -> Result<Version, Refusal> {
        let mut version = 0;
        // SAFETY: the place is ours to write; drivers answer this before `cuInit` as well.
        let result = unsafe { (self.fns.cuDriverGetVersion)(&mut version) };
        match (result, u32::try_from(version)) {
            (CUresult::CUDA_SUCCESS, Ok(version)) if version > 0 => Ok(Version::from_raw(version)),
            (CUresult::CUDA_ERROR_STUB_LIBRARY, _) => Err(Refusal::ToolkitStub),
            _ => Err(Refusal::NoVersion { result, version }),
        }
    }

    /// Checks that this is a driver, and makes it a library that lives for ever.
    ///
    /// # Safety
    /// The functions in the table stay valid for ever, or as long as `handle` is not closed.
    unsafe fn publish(
        mut self,
        origin: &str,
        handle: Option<libloading::Library>,
    ) -> Result<Library, Refusal> {
        if self.present == Presence::NONE {
            return Err(Refusal::NotADriver);
        }
        for function in [FnId::cuInit, FnId::cuDriverGetVersion] {
            if !self.present.contains(function) {
                return Err(Refusal::MissingFunction(function));
            }
        }
        // SAFETY: the caller vouches for the table.
        let version = unsafe { self.version() }?;
        if handle.is_some() {
            // SAFETY: likewise.
            unsafe { self.fill_by_query(version) };
        }
        let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        if registry.is_empty() && !fork::watch() {
            return Err(Refusal::OutOfMemory);
        }
        let known = registry.iter().copied().find(|known| {
            known.mode == self.mode && known.version == version && known.fns.slots() == self.fns.slots()
        });
        if let Some(known) = known {
            return Ok(Library(known));
        }
        let same_driver = registry.iter().find(|known| known.fns.cuInit as usize == self.fns.cuInit as usize);
        let loaded: &'static Loaded = Box::leak(Box::new(Loaded {
            fns: self.fns,
            present: self.present,
            version,
            mode: self.mode,
            origin: origin.to_owned(),
            init: same_driver.map_or_else(|| &*Box::leak(Box::default()), |known| known.init),
            _handle: handle,
        }));
        registry.push(loaded);
        Ok(Library(loaded))
    }
}

/// Loads a library with all that it needs, for itself alone.
fn dlopen(path: &Path) -> Result<libloading::Library, Refusal> {
    #[cfg(unix)]
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    #[cfg(windows)]
    use libloading::os::windows::{LOAD_LIBRARY_SEARCH_SYSTEM32, Library};

    // SAFETY: runs the initializers of the machine's driver, or of a library that the caller named.
    #[cfg(unix)]
    let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    // A bare name is looked for among the system's own libraries only.
    #[cfg(windows)]
    let flags = if path.is_absolute() { 0 } else { LOAD_LIBRARY_SEARCH_SYSTEM32 };
    // SAFETY: likewise.
    #[cfg(windows)]
    let opened = unsafe { Library::load_with_flags(path, flags) };

    opened.map(Into::into).map_err(|error| Refusal::NotLoaded(error.to_string()))
}

/// The address of an exported symbol; null if there is none.
fn dlsym(handle: &libloading::Library, name: &CStr) -> *const c_void {
    // SAFETY: the address is only looked at here; what type it has is for the table to know.
    let symbol = unsafe { handle.get::<*const c_void>(name.to_bytes_with_nul()) };
    symbol.map_or(ptr::null(), |symbol| *symbol)
}
