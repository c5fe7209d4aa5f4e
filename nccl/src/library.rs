//! Finding and loading NCCL.
//!
//! A library is never unloaded: it has threads.

use std::ffi::{CStr, OsString, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cuprum::sys::{environment, search};

use crate::error::{CallError, MissingFunction, NcclError};
use crate::raw::{FnId, Fns, nccl_call, ncclComm_t, ncclResult_t};
use crate::{NcclVersion, UniqueId};

/// Environment variable that, when set to a path, names the one NCCL to load.
pub const NCCL_VARIABLE: &str = "CUPRUM_NCCL";

/// File name of every NCCL 2.
const NAME: &str = "libnccl.so.2";

/// A loaded NCCL: its functions, its version, and its origin.
///
/// Copying it copies a reference. It stays loaded until the process ends.
///
/// ```
/// match cuprum_nccl::Nccl::open() {
///     Ok(nccl) => println!("NCCL {} from {}", nccl.version(), nccl.origin()),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Nccl(&'static Loaded);

struct Loaded {
    fns: Fns,
    version: NcclVersion,
    origin: String,
    /// Keeps the library mapped; `None` where a resolver filled the table.
    _handle: Option<libloading::Library>,
}

/// Everything loaded so far, so that opening the same library again leaks nothing.
static REGISTRY: Mutex<Vec<&'static Loaded>> = Mutex::new(Vec::new());

impl Nccl {
    /// Opens the machine's NCCL.
    ///
    /// When `CUPRUM_NCCL` is set, it names the only library tried. Otherwise these are tried in
    /// order: the file that the system's loader finds under the name `libnccl.so.2`; the wheels
    /// `nvidia-nccl-cu12` and `nvidia-nccl-cu13`, which PyTorch brings along, of the active virtual
    /// environment, of `PYTHONPATH`, of the first `python3` in `PATH`, and of the user.
    ///
    /// This is safe, and [`open_from`](Self::open_from) is not, although these variables may name
    /// any file: the user who starts a process decides which files its loader loads. In a program
    /// with the setuid bit none of them is obeyed ([`environment`]).
    ///
    /// # Errors
    /// [`NcclLoadError`] lists every library tried, each with the reason why it did not serve.
    pub fn open() -> Result<Self, NcclLoadError> {
        let paths = match environment::variable(NCCL_VARIABLE) {
            Some(path) => vec![PathBuf::from(path)],
            None => candidates(),
        };
        let mut attempts = Vec::new();
        for path in paths {
            match open_one(&path) {
                Ok(nccl) => return Ok(nccl),
                Err(reason) => attempts.push((path.into_os_string(), reason)),
            }
        }
        Err(NcclLoadError { attempts })
    }

    /// Opens the NCCL at a path, or by a name that the system's loader finds. Nothing else is
    /// tried.
    ///
    /// # Safety
    /// 1. The library's initializers may run in this process.
    /// 2. An export under a name of NCCL's is that function, with its ABI.
    ///
    /// # Errors
    /// [`NcclLoadError`] says why this library was refused.
    pub unsafe fn open_from(path: impl AsRef<Path>) -> Result<Self, NcclLoadError> {
        let path = path.as_ref();
        open_one(path).map_err(|reason| NcclLoadError { attempts: vec![(path.into(), reason)] })
    }

    /// Fills the table from any source, such as a stand-in for tests. `resolve` is asked once for
    /// each function; null means absent. `origin` names the source in messages.
    ///
    /// # Safety
    /// 1. Each address given must be a function with the ABI of the one asked for.
    /// 2. It must stay valid until the process ends.
    ///
    /// # Errors
    /// [`NcclLoadError`] if `ncclGetVersion` is missing, fails, or reports a version older than
    /// 2.18.
    pub unsafe fn from_resolver(
        origin: &str,
        resolve: impl FnMut(FnId) -> *const c_void,
    ) -> Result<Self, NcclLoadError> {
        // SAFETY: the caller vouches for the addresses.
        let fns = unsafe { Fns::load(resolve) };
        publish(fns, origin.into(), None)
            .map_err(|reason| NcclLoadError { attempts: vec![(origin.into(), reason)] })
    }

    /// The functions, for calls of one's own.
    #[must_use]
    pub fn fns(self) -> &'static Fns {
        &self.0.fns
    }

    /// The version.
    #[must_use]
    pub fn version(self) -> NcclVersion {
        self.0.version
    }

    /// The path or name from which it was loaded.
    #[must_use]
    pub fn origin(self) -> &'static str {
        &self.0.origin
    }

    /// Checks that this NCCL has a function.
    ///
    /// # Errors
    /// [`MissingFunction`] names the function, the version it came with, and this library's.
    pub fn require(self, function: FnId) -> Result<(), MissingFunction> {
        if self.0.fns.address(function).is_null() { Err(self.absent(function)) } else { Ok(()) }
    }

    /// Makes the name of a new group. One process makes it and sends it to the others, as
    /// [`Members`](crate::Members) do; while the group is joined, the process must live.
    ///
    /// # Errors
    /// [`NcclError::Call`], mostly because no network interface can be used.
    ///
    /// NCCL: `ncclGetUniqueId`.
    #[doc(alias = "ncclGetUniqueId")]
    pub fn unique_id(self) -> Result<UniqueId, NcclError> {
        let mut id = UniqueId::from_bytes([0; UniqueId::BYTES]);
        // SAFETY: the place is ours to write.
        unsafe { nccl_call!(self, ncclGetUniqueId(id.as_mut_raw())) }?;
        Ok(id)
    }

    fn absent(self, function: FnId) -> MissingFunction {
        MissingFunction { function, since: function.since(), library: self.version() }
    }

    #[cold]
    pub(crate) fn missing(self, function: FnId) -> NcclError {
        self.absent(function).into()
    }

    /// Turns an answer into a result. A call that goes on in the background has succeeded so far.
    #[inline]
    pub(crate) fn check(self, call: FnId, code: ncclResult_t) -> Result<(), NcclError> {
        match code {
            ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress => Ok(()),
            code => Err(self.failed(call, code)),
        }
    }

    #[cold]
    pub(crate) fn failed(self, call: FnId, code: ncclResult_t) -> NcclError {
        let text = match self.fns().ncclGetLastError {
            // SAFETY: the function takes any communicator, and uses none.
            Some(last_error) => unsafe { last_error(ncclComm_t(std::ptr::null_mut())) },
            None => std::ptr::null(),
        };
        let detail = if text.is_null() {
            String::new()
        } else {
            // SAFETY: NCCL's text is a C string that lasts until the next error of this thread.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
        };
        NcclError::Call(CallError { call, code, detail })
    }
}

/// Libraries to try, in order.
fn candidates() -> Vec<PathBuf> {
    let wheels = search::python_sites().into_iter().map(|site| site.join("nvidia/nccl/lib").join(NAME));
    [PathBuf::from(NAME)].into_iter().chain(wheels.filter(|path| path.is_file())).collect()
}

fn open_one(path: &Path) -> Result<Nccl, String> {
    // SAFETY: runs the initializers of the machine's NCCL, or of a library that the user or the
    // caller named.
    let handle = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    let resolve = |function: FnId| {
        // SAFETY: the address is only read here, not followed; its type is the table's concern.
        let symbol = unsafe { handle.get::<*const c_void>(function.c_name().as_bytes()) };
        symbol.map_or(std::ptr::null(), |symbol| *symbol)
    };
    // SAFETY: a symbol of this name in NCCL 2 is this function, and the library is closed only if
    // it is refused.
    let fns = unsafe { Fns::load(resolve) };
    publish(fns, path.to_string_lossy().into_owned(), Some(handle))
}

/// Checks that the functions belong to an NCCL, and makes a library of them that lives as long as
/// the process, unless there is one.
fn publish(fns: Fns, origin: String, handle: Option<libloading::Library>) -> Result<Nccl, String> {
    let Some(get_version) = fns.ncclGetVersion else {
        return Err("not NCCL: it does not export ncclGetVersion".into());
    };
    let mut code: c_int = 0;
    // SAFETY: the place is ours to write.
    let result = unsafe { get_version(&raw mut code) };
    let version = match u32::try_from(code) {
        Ok(code) if result == ncclResult_t::ncclSuccess => NcclVersion::from_raw(code),
        _ => return Err(format!("ncclGetVersion answered {result:?} and version {code}")),
    };
    if version < NcclVersion::OLDEST {
        return Err(format!("NCCL {version} is too old: {} or newer is needed", NcclVersion::OLDEST));
    }
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |known: &&&'static Loaded| {
        FnId::ALL.iter().all(|function| known.fns.address(*function) == fns.address(*function))
    };
    if let Some(known) = registry.iter().find(same) {
        return Ok(Nccl(known));
    }
    let loaded: &'static Loaded = Box::leak(Box::new(Loaded { fns, version, origin, _handle: handle }));
    registry.push(loaded);
    Ok(Nccl(loaded))
}

impl fmt::Debug for Nccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nccl").field("origin", &self.origin()).field("version", &self.version()).finish()
    }
}

impl PartialEq for Nccl {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Nccl {}

/// No NCCL could be loaded. Lists every library that was tried.
///
/// ```
/// use cuprum_nccl::Nccl;
///
/// // SAFETY: nothing is loaded, because there is no such file.
/// let error = unsafe { Nccl::open_from("/nowhere/libnccl.so.2") }.unwrap_err();
/// println!("{error}"); // with the way to install NCCL
/// assert_eq!(error.attempts().count(), 1);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NcclLoadError {
    attempts: Vec<(OsString, String)>,
}

impl NcclLoadError {
    /// The libraries tried, in order, each with the reason for its refusal.
    pub fn attempts(&self) -> impl Iterator<Item = (&std::ffi::OsStr, &str)> {
        self.attempts.iter().map(|(path, reason)| (path.as_os_str(), reason.as_str()))
    }
}

impl fmt::Display for NcclLoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no NCCL could be loaded: ")?;
        for (index, (path, reason)) in self.attempts().enumerate() {
            let path = path.to_string_lossy();
            f.write_str(if index == 0 { "" } else { "; " })?;
            // The linker's words mostly begin with the name itself.
            if reason.starts_with(&*path) { f.write_str(reason)? } else { write!(f, "{path}: {reason}")? }
        }
        f.write_str(". To get it: `pip install nvidia-nccl-cu12` (for CUDA 13 `nvidia-nccl-cu13`), or set CUPRUM_NCCL to the library's path")
    }
}

impl std::error::Error for NcclLoadError {}
