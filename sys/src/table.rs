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
    match name.rsplit_once("_v") {
        Some((base, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => name,
    }
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

/// Turns the lines of `fns.rs` into [`Fns`](crate::Fns) and [`FnId`](crate::FnId).
macro_rules! driver_fns {
    ($($lines:tt)*) => {
        crate::declare::function_table! {
            /// Every function of the driver API, ready to be called.
            ///
            /// A function that the driver lacks returns `CUresult::UNRESOLVED` and does nothing else;
            /// [`Library::has`](crate::Library::has) checks beforehand. Versions are given as the driver
            /// writes them: 12040 is CUDA 12.4.
            table;
            /// Names one function of the driver API in one of its ABI revisions.
            id;
            result CUresult;
            $($lines)*
        }
        #[cfg(feature = "hook")]
        crate::hook::hooked_table! { $($lines)* }
        crate::table::list_for_macros! { ($) $($lines)* }
    };
}

/// Makes the macro that hands on the lines of `fns.rs`. It is given a dollar sign, as it cannot write one in that macro.
macro_rules! list_for_macros {
    (($dollar:tt) $($lines:tt)*) => {
        /// Calls a macro with the list of the driver's functions. Further arguments are passed to the macro
        /// before the list.
        ///
        /// A line of the list has the documentation of the function, its first CUDA version, its parameters
        /// with their types, and the suffix of its twin with a default stream per thread, if it has one. The
        /// types are defined in this crate and in `core::ffi`.
        ///
        /// ```
        /// macro_rules! count {
        ///     ($($(#[$doc:meta])* $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;)*) => {
        ///         [$($since),*].len()
        ///     };
        /// }
        /// assert_eq!(cuprum_sys::for_each_function!(count), cuprum_sys::FnId::ALL.len());
        /// ```
        #[macro_export]
        macro_rules! for_each_function {
            ($dollar($dollar make:ident)::+ $dollar(, $dollar($dollar first:tt)*)?) => {
                $dollar($dollar make)::+! { $dollar($dollar($dollar first)*)? $($lines)* }
            };
        }
    };
}
pub(crate) use {driver_fns, list_for_macros};

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
