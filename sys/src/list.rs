//! Macros that turn the list of functions into tables, and hand it on to other macros.

/// Turns the lines of `fns.rs` into [`Fns`](crate::Fns) and [`FnId`](crate::FnId).
macro_rules! driver_fns {
    ($($lines:tt)*) => {
        crate::declare::function_table! {
            /// Every function of the driver API, ready to be called.
            ///
            /// A function that the driver lacks returns `CUresult::UNRESOLVED` and does nothing
            /// else; [`Library::has`](crate::Library::has) checks beforehand. Versions are given as
            /// the driver writes them: 12040 is CUDA 12.4.
            table;
            /// Names one function of the driver API in one of its ABI revisions.
            id;
            result CUresult;
            $($lines)*
        }
        #[cfg(feature = "hook")]
        crate::hook::parameter_table! { $($lines)* }
        crate::list::list_for_macros! { ($) $($lines)* }
    };
}

/// Makes the macro that hands on the lines of `fns.rs`. It is given a dollar sign, as it cannot
/// write one in that macro.
macro_rules! list_for_macros {
    (($dollar:tt) $($lines:tt)*) => {
        /// Calls a macro with the list of the driver's functions. Further arguments are passed to
        /// the macro before the list.
        ///
        /// A line of the list has the documentation of the function, its first CUDA version, its
        /// parameters with their types, and the suffix of its twin with a default stream per
        /// thread, if it has one. The types are defined in this crate and in `core::ffi`.
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
