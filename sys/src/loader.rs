//! Finds a driver and fills the table from it.
//!
//! A driver is never unloaded: some start a thread in `cuInit` that would go on running in unmapped
//! code. A loaded driver is therefore kept for the rest of the process, once per driver and stream
//! mode.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use std::ffi::CString;
use std::path::{Path, PathBuf};

use crate::dynamic::{dlopen, dlsym};
use crate::enums::{CUdriverProcAddress_flags, CUresult};
use crate::environment;
use crate::error::{Attempt, LoadError, Refusal};
use crate::fns::{FnId, Fns, Presence};
use crate::library::{Library, Source};
use crate::table::{StreamMode, Symbol};
use crate::version::Version;

/// Environment variable that, when set to a path, names the one driver to load in place of the
/// usual ones, unless this process has more rights than the user who started it (see
/// [`environment`]).
pub const DRIVER_VARIABLE: &str = "CUPRUM_DRIVER";

/// An export of drivers in software, which identifies them.
const SOFTWARE_MARK: &CStr = c"cuprum_software_device";

/// Names under which the driver is looked for, in this order.
///
/// The unversioned name comes last: outside a driver's own folder it is often the toolkit's link
/// stub.
#[cfg(unix)]
const USUAL_NAMES: &[&str] = &["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so"];
#[cfg(windows)]
const USUAL_NAMES: &[&str] = &["nvcuda.dll"];

impl Library {
    /// Opens the machine's driver with the legacy default stream.
    ///
    /// When `CUPRUM_DRIVER` is set, it names the only library tried. Otherwise these are tried in
    /// order: `libcuda.so.1`, the WSL library, `libcuda.so`; on Windows `nvcuda.dll`. All functions
    /// are looked up at once. `cuInit` is not called. Opening the same driver again returns the
    /// same table, under the name it had first.
    ///
    /// This is safe, and [`open_from`](Self::open_from) is not, although `CUPRUM_DRIVER` may name
    /// any file: the user who starts a process decides which libraries its loader loads, by
    /// `LD_LIBRARY_PATH` and `LD_PRELOAD` too, and vouches for them. A path in the code is a claim
    /// of the program. (Setting the variable from within is `unsafe` in Rust itself.) If the loader
    /// ignores those variables, as in a program with the setuid bit, `CUPRUM_DRIVER` is ignored too
    /// ([`environment`](crate::environment)).
    ///
    /// # Errors
    /// [`LoadError`] lists every library tried, each with the reason why it was refused.
    pub fn open() -> Result<Self, LoadError> {
        Self::options().open()
    }

    /// Opens the driver at a path, or by a name that the system's loader finds. Nothing else is
    /// tried.
    ///
    /// A library that is no driver is refused by its exports; but loading it runs its code first.
    ///
    /// # Safety
    /// 1. The library's initializers may run in this process.
    /// 2. An export under a name of the driver API is that function, with its ABI.
    ///
    /// # Errors
    /// [`LoadError`] says why this library was refused.
    pub unsafe fn open_from(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        // SAFETY: the caller vouches for the library.
        unsafe { Self::options().open_from(path) }
    }

    /// Fills the table from any source: a driver in software, a test's fake, a tracing wrapper.
    ///
    /// `resolve` is called once for each function; null means absent. `origin` names the source in
    /// messages. A source that returns the same addresses and version again counts as the same
    /// driver, whose table is not made twice and keeps its first name.
    ///
    /// # Safety
    /// 1. Each returned address must be a function with the ABI of the requested symbol.
    /// 2. It must stay valid until the process ends.
    /// 3. If the functions act on a driver that has another table, they have the same `cuInit`, or
    ///    [`OpenOptions::same_driver`] names that table: two drivers share no contexts.
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
}

/// Options of opening a driver; [`Library::options`] makes them.
///
/// ```
/// // In calls through this table, the null stream is a stream of the calling thread.
/// let library = cuprum_sys::Library::options().per_thread_default_stream(true).open();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    mode: StreamMode,
    is_software: bool,
    same_driver: Option<Library>,
}

impl OpenOptions {
    /// With `true`, the null stream means a stream of the calling thread's own (default: `false`).
    ///
    /// The mode holds for every call through this table. Functions whose per-thread twin is absent
    /// (all of them before CUDA 7.0) are absent from it.
    #[must_use]
    pub fn per_thread_default_stream(mut self, yes: bool) -> Self {
        self.mode = if yes { StreamMode::PerThread } else { StreamMode::Legacy };
        self
    }

    /// With `true`, a library from [`from_resolver`](Self::from_resolver) counts as a driver in
    /// software (default: `false`): see [`Library::is_software_device`]. A library that is a file
    /// says so itself.
    #[must_use]
    pub fn software_device(mut self, yes: bool) -> Self {
        self.is_software = yes;
        self
    }

    /// Says that the functions given to [`from_resolver`](Self::from_resolver) pass their calls on
    /// to the driver of `library`, so that both count as [one driver](Library::is_same_driver).
    /// Functions with the same `cuInit` do so anyway, and hooks too.
    #[must_use]
    pub fn same_driver(mut self, library: Library) -> Self {
        self.same_driver = Some(library);
        self
    }

    /// Opens the machine's driver; see [`Library::open`].
    ///
    /// # Errors
    /// [`LoadError`] lists every library tried.
    pub fn open(self) -> Result<Library, LoadError> {
        match environment::variable(DRIVER_VARIABLE) {
            Some(path) => self.open_first([PathBuf::from(path)]),
            None => self.open_first(USUAL_NAMES.iter().map(PathBuf::from)),
        }
    }

    /// Opens the driver at a path, or by a name that the system's loader finds; see
    /// [`Library::open_from`].
    ///
    /// # Safety
    /// The duties of [`Library::open_from`].
    ///
    /// # Errors
    /// [`LoadError`] says why this library was refused.
    pub unsafe fn open_from(self, path: impl AsRef<Path>) -> Result<Library, LoadError> {
        self.open_first([path.as_ref().to_owned()])
    }

    /// Fills the table from `resolve`; see [`Library::from_resolver`].
    ///
    /// # Safety
    /// The duties of [`Library::from_resolver`].
    ///
    /// # Errors
    /// Same as [`Library::from_resolver`].
    pub unsafe fn from_resolver(
        self,
        origin: &str,
        mut resolve: impl FnMut(&Symbol) -> *const c_void,
    ) -> Result<Library, LoadError> {
        let mut table = Table::new(self.mode);
        // SAFETY: the caller vouches for the addresses.
        unsafe { table.fill(&mut resolve) };
        let Self { is_software, same_driver, .. } = self;
        let source = Source { origin, is_software, same_driver, handle: None };
        // SAFETY: likewise.
        unsafe { table.publish(source) }
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

    /// Opens one library. A refused one is closed again: none of the functions called starts
    /// anything.
    fn open_one(self, path: &Path) -> Result<Library, Refusal> {
        let handle = dlopen(path).map_err(Refusal::NotLoaded)?;
        let mut table = Table::new(self.mode);
        // SAFETY: a symbol of this name in a CUDA driver is this function; NVIDIA keeps a name's
        // ABI.
        unsafe { table.fill(&mut |symbol| dlsym(&handle, symbol.name)) };
        let origin = path.to_string_lossy();
        let is_software = !dlsym(&handle, SOFTWARE_MARK).is_null();
        if is_software {
            // The exports of a file are fixed; a library that poses as an older driver says so by
            // its version alone.
            // SAFETY: the table was filled from a driver.
            let posed = unsafe { table.version() }?;
            table = Table::new(self.mode);
            let mut resolve = |symbol: &Symbol| {
                if symbol.since <= posed { dlsym(&handle, symbol.name) } else { ptr::null() }
            };
            // SAFETY: as above.
            unsafe { table.fill(&mut resolve) };
        }
        // SAFETY: likewise.
        unsafe {
            table.publish(Source { origin: &origin, is_software, same_driver: None, handle: Some(handle) })
        }
    }
}

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

    /// Resolves every function that is still absent.
    ///
    /// # Safety
    /// Each result of `resolve` must be null or the requested function.
    unsafe fn fill(&mut self, resolve: &mut dyn FnMut(&Symbol) -> *const c_void) {
        for &function in FnId::ALL {
            let address = resolve(&function.symbol_in(self.mode));
            if !address.is_null() {
                // SAFETY: not null, and by the caller's word this function.
                unsafe { self.fns.set(function, address) };
                self.present.insert(function as usize);
            }
        }
    }

    /// Queries `cuGetProcAddress` for the functions that the driver should have and does not export
    /// by name.
    ///
    /// The query returns the newest revision up to the requested version, which may be an older ABI
    /// than the wanted one; so an address of another function of the table is not used.
    ///
    /// # Safety
    /// The table holds the functions of a driver.
    unsafe fn fill_by_query(&mut self, version: Version) {
        for &function in FnId::ALL {
            let symbol = function.symbol_in(self.mode);
            if self.present.contains(function as usize) || symbol.since > version {
                continue;
            }
            // SAFETY: the caller vouches for the table.
            let address = unsafe { self.query(&symbol) };
            if !address.is_null() && !self.fns.slots().contains(&address) {
                // SAFETY: not null, and the driver's answer for this name and version; the check
                // above excludes another revision.
                unsafe { self.fns.set(function, address) };
                self.present.insert(function as usize);
            }
        }
    }

    /// The driver's own address of one symbol; null if it knows none, or has no such query.
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
        let result = if self.present.contains(FnId::cuGetProcAddress_v2 as usize) {
            // SAFETY: the name is a C string, the address is ours to write, a null status is
            // allowed.
            unsafe {
                (self.fns.cuGetProcAddress_v2)(base.as_ptr(), &mut address, since, flags, ptr::null_mut())
            }
        } else {
            // SAFETY: likewise; an absent function is a stub, which writes nothing.
            unsafe { (self.fns.cuGetProcAddress)(base.as_ptr(), &mut address, since, flags) }
        };
        if result == CUresult::CUDA_SUCCESS { address } else { ptr::null() }
    }

    /// Version that the driver reports.
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

    /// Checks that this is a driver, and makes it a library that lives forever.
    ///
    /// # Safety
    /// The functions in the table stay valid forever, or as long as the source's handle is not
    /// closed.
    unsafe fn publish(mut self, source: Source<'_>) -> Result<Library, Refusal> {
        if self.present == Presence::NONE {
            return Err(Refusal::NotADriver);
        }
        for function in [FnId::cuInit, FnId::cuDriverGetVersion] {
            if !self.present.contains(function as usize) {
                return Err(Refusal::MissingFunction(function));
            }
        }
        // SAFETY: the caller vouches for the table.
        let version = unsafe { self.version() }?;
        if source.handle.is_some() {
            // SAFETY: likewise.
            unsafe { self.fill_by_query(version) };
        }
        Library::publish(self.fns, self.present, version, self.mode, source)
    }
}
