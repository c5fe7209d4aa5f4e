//! Exported functions, one for each line of the list of `cuprum-sys`, and one for each twin.
//!
//! The crate that includes this says with `functions(StreamMode) -> &Fns` where calls go, and with `answer(CUresult)` what
//! the caller is told.

/// Makes an exported function of each line, and another of its per-thread twin.
macro_rules! driver_fns {
    ($(
        $(#[$doc:meta])*
        $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
    )*) => {
        pub(crate) mod legacy {
            use core::ffi::{c_char, c_void};

            use cuprum_sys::*;
            $( crate::table::export!(stringify!($name), StreamMode::Legacy, $name($($arg: $ty),*)); )*
        }

        pub(crate) mod per_thread {
            use core::ffi::{c_char, c_void};

            use cuprum_sys::*;
            $( crate::table::export_twin!($($twin)?: $name($($arg: $ty),*)); )*
        }

        /// Both addresses of each function, in the order of [`cuprum_sys::FnId`]. Without a twin they are one.
        pub(crate) const ADDRESSES: &[[*const core::ffi::c_void; 2]] =
            &[$( [legacy::$name as *const _, crate::table::twin!($($twin)?: $name) as *const _] ),*];
    };
}

macro_rules! export_twin {
    (: $($function:tt)*) => {};
    ($twin:ident: $name:ident $args:tt) => {
        crate::table::export!(
            concat!(stringify!($name), "_", stringify!($twin)),
            StreamMode::PerThread,
            $name $args
        );
    };
}

macro_rules! export {
    ($symbol:expr, $mode:expr, $name:ident($($arg:ident: $ty:ty),*)) => {
        #[unsafe(export_name = $symbol)]
        pub(crate) unsafe extern "system" fn $name($($arg: $ty),*) -> CUresult {
            let fns = crate::functions($mode);
            // SAFETY: the caller's arguments, passed on to the function of this signature.
            crate::answer(unsafe { (fns.$name)($($arg),*) })
        }
    };
}

macro_rules! twin {
    (: $name:ident) => {
        legacy::$name
    };
    ($twin:ident: $name:ident) => {
        per_thread::$name
    };
}

pub(crate) use {driver_fns, export, export_twin, twin};
