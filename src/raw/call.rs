//! Checked driver calls: one macro each for calls outside of a context, and of a function that
//! newer drivers replaced. `context_call`, in the folder of contexts, is for calls in one.

use cuprum_sys::{CUresult, FnId, Library};

use crate::error::Error;

/// Calls the driver and checks the answer, for a `cuprum::Error` that poisons no context.
macro_rules! driver_call {
    ($library:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let library: cuprum_sys::Library = $library;
        if library.forked() {
            Err($crate::raw::call::forked(cuprum_sys::FnId::$name))
        } else {
            $crate::Error::check(library, cuprum_sys::call!(library.fns(), $name($($argument),*)))
        }
    }};
}

/// Calls the first of two revisions of a function that the driver has. If it has neither, the error
/// names the older one.
macro_rules! either_call {
    ($library:expr, $first:ident($($argument:expr),* $(,)?) or $second:ident($($other:expr),* $(,)?)) => {{
        let library: cuprum_sys::Library = $library;
        if $crate::raw::call::takes_first(library, cuprum_sys::FnId::$first, cuprum_sys::FnId::$second) {
            $crate::raw::call::driver_call!(library, $first($($argument),*))
        } else {
            $crate::raw::call::driver_call!(library, $second($($other),*))
        }
    }};
}

pub(crate) use {driver_call, either_call};

/// True if the first of two revisions of a function is called, or missed.
#[inline]
pub(crate) fn takes_first(library: Library, first: FnId, second: FnId) -> bool {
    library.has(first) || !library.has(second) && first.symbol().since < second.symbol().since
}

/// The error of a call in a forked child, which does not reach the driver.
#[cold]
#[inline(never)]
pub(crate) const fn forked(call: FnId) -> Error {
    Error::host(CUresult::FORKED, call)
}
