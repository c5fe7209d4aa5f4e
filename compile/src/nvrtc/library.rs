//! A loaded NVRTC and its properties.

use core::ffi::{CStr, c_void};
use core::fmt;
use core::ptr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cuprum_sys::dynamic::{Handle, dlopen, dlsym};
use cuprum_sys::{Version, environment, mapped_at};

use super::error::{Attempt, LoadError, MissingFunction, Refusal};
use super::fns::{FnId, Fns, Presence};
use super::{nvrtcResult, search};

/// Environment variable that, when set to a path, names the one NVRTC to load in place of the usual
/// ones.
pub const NVRTC_VARIABLE: &str = "CUPRUM_NVRTC";

/// A loaded NVRTC: its functions, its version, and its origin.
///
/// Copying it copies a reference. It stays loaded until the process ends.
///
/// ```
/// use cuprum_compile::nvrtc::Library;
///
/// match Library::open() {
///     Ok(library) => println!("NVRTC {} from {}", library.version(), library.origin()),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Library(&'static Loaded);

struct Loaded {
    fns: Fns,
    present: Presence,
    version: Version,
    origin: PathBuf,
    /// Keep NVRTC and its second library of built-in code mapped; `None` when a resolver filled the
    /// table, or if there is no second.
    _handles: [Option<Handle>; 2],
}

/// Everything loaded so far, so that opening the same library again leaks nothing.
static REGISTRY: Mutex<Vec<&'static Loaded>> = Mutex::new(Vec::new());

/// Options of looking for NVRTC; [`Library::options`] makes them.
///
/// ```
/// use cuprum_compile::nvrtc::Library;
///
/// // The newest NVRTC whose code a driver of CUDA 12.2 accepts.
/// let library = Library::options().for_driver(cuprum::sys::Version::new(12, 2)).open();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    driver: Option<Version>,
}

impl OpenOptions {
    /// Prefers libraries of this driver's CUDA major version or an older one, wherever they are:
    /// code of a newer one may be too new for the driver. (Default: the first found of the newest.)
    #[must_use]
    pub fn for_driver(mut self, driver: Version) -> Self {
        self.driver = Some(driver);
        self
    }

    /// Opens the machine's NVRTC; see [`Library::open`].
    ///
    /// # Errors
    /// [`LoadError`] lists every library and folder tried.
    pub fn open(self) -> Result<Library, LoadError> {
        if let Some(path) = environment::variable(NVRTC_VARIABLE) {
            let path = PathBuf::from(path);
            return open_one(&path).map_err(|cause| alone(path, cause));
        }
        let mut attempts = Vec::new();
        for candidate in search::candidates(self.driver) {
            let cause = match candidate.refused {
                Some(cause) => cause,
                None => match open_one(&candidate.path) {
                    Ok(library) => return Ok(library),
                    Err(cause) => cause,
                },
            };
            attempts.push(Attempt::new(candidate.path.into_os_string(), cause));
        }
        Err(LoadError::new(attempts))
    }
}

impl Library {
    /// Opens the machine's NVRTC.
    ///
    /// When `CUPRUM_NVRTC` is set, it names the only library tried. Otherwise these are tried in
    /// order, of each place the newest first: the library that the system's loader finds by name
    /// (on Windows the folders of `PATH`); the toolkit that `CUDA_HOME` and `CUDA_PATH` name; the
    /// wheels of the active virtual environment (`VIRTUAL_ENV`, `CONDA_PREFIX`), of `PYTHONPATH`,
    /// of the first `python3` in `PATH`, and of the user; except on Windows `/usr/local/cuda` and
    /// `/opt/cuda`. All functions are looked up at once. Opening the same library again returns the
    /// same table.
    ///
    /// This is safe, and [`open_from`](Self::open_from) is not, although these variables may name
    /// any file: the user who starts a process decides which libraries its loader loads, and
    /// vouches for them. A path in the code is a claim of the program. A program with the setuid
    /// bit ignores all of them ([`environment`](cuprum_sys::environment)).
    ///
    /// # Errors
    /// [`LoadError`] lists every library and folder tried, each with the reason why it was refused,
    /// and says how to get NVRTC.
    pub fn open() -> Result<Self, LoadError> {
        Self::options().open()
    }

    /// Opens the NVRTC at a path, or by a name that the system's loader finds. Nothing else is
    /// tried.
    ///
    /// # Safety
    /// 1. The library's initializers may run in this process.
    /// 2. An export under a name of NVRTC's is that function, with its ABI.
    ///
    /// # Errors
    /// [`LoadError`] says why this library was refused.
    pub unsafe fn open_from(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        open_one(path).map_err(|cause| alone(path.to_owned(), cause))
    }

    /// Fills the table from any source, such as a test's fake.
    ///
    /// `resolve` is called once for each function; null means absent. `origin` names the source in
    /// messages.
    ///
    /// # Safety
    /// 1. Each returned address must be a function with the ABI of the requested one.
    /// 2. It must stay valid until the process ends.
    ///
    /// # Errors
    /// [`LoadError`] if `nvrtcVersion` is missing or fails.
    pub unsafe fn from_resolver(
        origin: &str,
        resolve: impl FnMut(FnId) -> *const c_void,
    ) -> Result<Self, LoadError> {
        let origin = PathBuf::from(origin);
        // SAFETY: the caller vouches for the addresses.
        unsafe { fill(resolve) }
            .map(|table| publish(table, &origin, [None, None]))
            .map_err(|cause| alone(origin, cause))
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

    /// The CUDA version that this NVRTC came with, as it reported when it was opened.
    #[must_use]
    pub fn version(self) -> Version {
        self.0.version
    }

    /// The path or name from which this library was loaded.
    #[must_use]
    pub fn origin(self) -> std::path::Display<'static> {
        self.0.origin.display()
    }

    /// The library's file, if it is known: it was opened by its path, or the system reports it.
    #[must_use]
    pub fn file(self) -> Option<PathBuf> {
        if self.0.origin.is_absolute() {
            return Some(self.0.origin.clone());
        }
        mapped_at(self.address(FnId::nvrtcVersion).addr()).map(|mapped| mapped.file)
    }

    /// True if this NVRTC has a function.
    #[must_use]
    pub fn has(self, function: FnId) -> bool {
        self.0.present.contains(function as usize)
    }

    /// The address of a function; null if this NVRTC lacks it.
    #[must_use]
    pub fn address(self, function: FnId) -> *const c_void {
        if self.has(function) { self.0.fns.slots()[function as usize] } else { ptr::null() }
    }

    /// Checks that this NVRTC has a function.
    ///
    /// # Errors
    /// [`MissingFunction`] names the function, the version it came with, and this library's.
    pub fn require_fn(self, function: FnId) -> Result<(), MissingFunction> {
        if self.has(function) {
            return Ok(());
        }
        Err(MissingFunction { function, since: function.since(), nvrtc: self.version() })
    }
}

impl FnId {
    /// The exported name.
    #[must_use]
    pub fn name(self) -> &'static CStr {
        self.c_name()
    }

    /// The CUDA version of the first NVRTC that has this function.
    #[must_use]
    pub fn since(self) -> Version {
        self.first_version()
    }
}

fn alone(path: PathBuf, cause: Refusal) -> LoadError {
    LoadError::new(vec![Attempt::new(path.into_os_string(), cause)])
}

/// Opens one library. One that is refused is closed again.
fn open_one(path: &Path) -> Result<Library, Refusal> {
    let handle = dlopen(path).map_err(Refusal::NotLoaded)?;
    // SAFETY: a symbol of this name in NVRTC is this function, and NVIDIA keeps its ABI. The caller
    // who named the library vouches that it is NVRTC.
    let table = unsafe { fill(|function| dlsym(&handle, function.name())) }?;
    // Some releases find their second library through the system's path alone; one that is loaded
    // already is found by its name. Without it, the compiler reports that it is missing.
    let built_in = search::built_in(path, table.version).and_then(|path| dlopen(&path).ok());
    Ok(publish(table, path, [Some(handle), built_in]))
}

/// The functions of one library.
struct Table {
    fns: Fns,
    present: Presence,
    version: Version,
}

/// Resolves every function, and reads the version.
///
/// # Safety
/// Each result of `resolve` must be null or the requested function.
unsafe fn fill(mut resolve: impl FnMut(FnId) -> *const c_void) -> Result<Table, Refusal> {
    let (mut fns, mut present) = (Fns::STUBS, Presence::NONE);
    for &function in FnId::ALL {
        let address = resolve(function);
        if !address.is_null() {
            // SAFETY: not null, and by the caller's word this function.
            unsafe { fns.set(function, address) };
            present.insert(function as usize);
        }
    }
    if present == Presence::NONE {
        return Err(Refusal::NotNvrtc);
    }
    if !present.contains(FnId::nvrtcVersion as usize) {
        return Err(Refusal::MissingFunction(FnId::nvrtcVersion));
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both places are ours to write.
    let result = unsafe { (fns.nvrtcVersion)(&mut major, &mut minor) };
    match (result, u32::try_from(major), u32::try_from(minor)) {
        (nvrtcResult::NVRTC_SUCCESS, Ok(major @ 1..1000), Ok(minor @ 0..100)) => {
            Ok(Table { fns, present, version: Version::new(major, minor) })
        }
        _ => Err(Refusal::NoVersion { result, version: (major, minor) }),
    }
}

/// Makes a library of a filled table that lives forever, unless there is one already.
fn publish(table: Table, origin: &Path, handles: [Option<Handle>; 2]) -> Library {
    let Table { fns, present, version } = table;
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    let same_functions = |known: &Loaded| {
        // Absent functions are left out: each crate may have stubs of its own.
        let mut slots = known.fns.slots().iter().zip(fns.slots()).zip(FnId::ALL);
        known.present == present && slots.all(|((a, b), id)| a == b || !present.contains(*id as usize))
    };
    let known = registry.iter().copied().find(|known| known.version == version && same_functions(known));
    if let Some(known) = known {
        return Library(known);
    }
    let origin = origin.to_owned();
    let loaded: &'static Loaded =
        Box::leak(Box::new(Loaded { fns, present, version, origin, _handles: handles }));
    registry.push(loaded);
    Library(loaded)
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("origin", &self.0.origin).field("version", &self.version()).finish()
    }
}

impl PartialEq for Library {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Library {}
