//! The driver's symbols: their names, revisions, first versions and per-thread twins.

use core::ffi::CStr;

use crate::declare::name_at;
use crate::fns::{FnId, HAS_TWIN, NAMES, OFFSETS};
use crate::version::Version;

/// Meaning of the null stream in calls that take none, or that are given a null one.
///
/// ```
/// use cuprum_sys::{Library, StreamMode};
///
/// if let Ok(library) = Library::options().per_thread_default_stream(true).open() {
///     assert_eq!(library.stream_mode(), StreamMode::PerThread);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StreamMode {
    /// The legacy default stream: one per context, in order with every blocking stream.
    #[default]
    Legacy,
    /// Each host thread has a default stream of its own. Needs a driver of CUDA 7.0 or newer.
    PerThread,
}

/// One exported symbol of the driver library: a function in one of its ABI revisions.
///
/// ```
/// let symbol = cuprum_sys::FnId::cuMemcpyHtoD_v2.symbol();
/// assert_eq!((symbol.name, symbol.base), (c"cuMemcpyHtoD_v2", "cuMemcpyHtoD"));
/// assert_eq!(symbol.since, cuprum_sys::Version::new(3, 2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Symbol {
    /// The name to ask `dlsym` for, with its revision and stream suffix: `cuMemcpyHtoD_v2_ptds`.
    pub name: &'static CStr,
    /// The name to ask `cuGetProcAddress` for, without either suffix: `cuMemcpyHtoD`.
    pub base: &'static str,
    /// The first CUDA version with this ABI; also the version to ask `cuGetProcAddress` with.
    pub since: Version,
    /// Stream mode that this symbol serves.
    pub mode: StreamMode,
}

/// First version with per-thread default streams, below which no twin exists.
const FIRST_PER_THREAD: Version = Version::new(7, 0);

/// `cuMemAlloc_v2` without its `_v2`.
fn base_of(name: &'static CStr) -> &'static str {
    let name = name.to_str().unwrap_or_default();
    // Asked for each function whenever a driver is opened, so it does not search the name.
    name.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix("_v").unwrap_or(name)
}

impl FnId {
    /// The symbol's name, base name and first version.
    #[must_use]
    pub fn symbol(self) -> Symbol {
        let name = self.c_name();
        Symbol { name, base: base_of(name), since: self.first_version(), mode: StreamMode::Legacy }
    }

    /// True if the driver has a second symbol of this function, for a default stream per thread.
    #[must_use]
    pub const fn has_per_thread_symbol(self) -> bool {
        HAS_TWIN[self as usize]
    }

    /// The twin that uses the calling thread's own default stream, if this function has one.
    #[must_use]
    pub fn per_thread_symbol(self) -> Option<Symbol> {
        if !self.has_per_thread_symbol() {
            return None;
        }
        let plain = self.symbol();
        let (_, next) = name_at(NAMES, usize::from(OFFSETS[self as usize]));
        Some(Symbol {
            name: name_at(NAMES, next).0,
            since: plain.since.max(FIRST_PER_THREAD),
            mode: StreamMode::PerThread,
            ..plain
        })
    }

    /// The symbol that serves a stream mode: the twin where there is one and the mode asks for it.
    #[must_use]
    pub fn symbol_in(self, mode: StreamMode) -> Symbol {
        match mode {
            StreamMode::Legacy => self.symbol(),
            StreamMode::PerThread => self.per_thread_symbol().unwrap_or_else(|| self.symbol()),
        }
    }
}

/// Calls a function of the table and names it: `(CUresult, FnId)`, after one indirect call.
///
/// ```
/// # use cuprum_sys::{CUresult, FnId, Fns, call};
/// let fns = &Fns::STUBS;
/// // SAFETY: a stub touches nothing.
/// let (result, function) = unsafe { call!(fns, cuInit(0)) };
/// assert_eq!(result, CUresult::UNRESOLVED);
/// assert_eq!(function, FnId::cuInit);
/// ```
#[macro_export]
macro_rules! call {
    ($fns:expr, $name:ident($($arg:expr),* $(,)?)) => {
        (($fns.$name)($($arg),*), $crate::FnId::$name)
    };
}
