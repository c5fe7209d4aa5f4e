//! Exported functions, one for each line of the list, and one for each twin: for a library that
//! stands in for the driver.

/// Exports every function of the driver API under its C name, and every twin with a default stream
/// per thread: for a library that stands in for the driver.
///
/// The first argument is the path of a function that returns the table that calls go to, by the
/// stream mode of the function that was called. The second is the path of a function that turns the
/// result into the answer. Both paths begin with `crate`.
///
/// The module around it gets a constant `ADDRESSES` with two addresses for each function, in the
/// order of [`FnId`](crate::FnId): of the function and of its twin, or of the function twice if it
/// has no twin.
///
/// ```standalone_crate
/// use cuprum_sys::{CUresult, FnId, Fns, StreamMode};
///
/// fn functions(_mode: StreamMode) -> &'static Fns {
///     &Fns::STUBS
/// }
///
/// fn answer(result: CUresult) -> CUresult {
///     if result == CUresult::UNRESOLVED { CUresult::CUDA_ERROR_NOT_SUPPORTED } else { result }
/// }
///
/// mod exported {
///     cuprum_sys::export_functions!(crate::functions, crate::answer);
/// }
///
/// fn main() {
///     assert_eq!(exported::ADDRESSES.len(), FnId::ALL.len());
///     // SAFETY: it does nothing but answer.
///     let result = unsafe { exported::legacy::cuInit(0) };
///     assert_eq!(result, CUresult::CUDA_ERROR_NOT_SUPPORTED);
/// }
/// ```
#[macro_export]
macro_rules! export_functions {
    ($functions:path, $answer:path) => {
        $crate::for_each_function!($crate::export_functions, @lines $functions, $answer;);
    };
    (@lines $functions:path, $answer:path; $(
        $(#[$doc:meta])*
        $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
    )*) => {
        #[allow(non_snake_case, reason = "functions have the names of C")]
        pub(crate) mod legacy {
            use core::ffi::{c_char, c_void};

            use $crate::*;
            $( $crate::export_functions!(
                @one stringify!($name), StreamMode::Legacy, $functions, $answer, $name($($arg: $ty),*)
            ); )*
        }

        #[allow(non_snake_case, reason = "functions have the names of C")]
        pub(crate) mod per_thread {
            use core::ffi::{c_char, c_void};

            use $crate::*;
            $( $crate::export_functions!(@twin $($twin)?: $functions, $answer, $name($($arg: $ty),*)); )*
        }

        /// Both addresses of each function, in the order of `FnId`. Without a twin they are one.
        pub(crate) const ADDRESSES: &[[*const core::ffi::c_void; 2]] = &[$( [
            legacy::$name as *const _,
            $crate::export_functions!(@address $($twin)?: $name) as *const _,
        ] ),*];
    };
    (@twin : $($function:tt)*) => {};
    (@twin $twin:ident: $functions:path, $answer:path, $name:ident $args:tt) => {
        $crate::export_functions!(
            @one concat!(stringify!($name), "_", stringify!($twin)), StreamMode::PerThread, $functions, $answer, $name $args
        );
    };
    (@one $symbol:expr, $mode:expr, $functions:path, $answer:path, $name:ident($($arg:ident: $ty:ty),*)) => {
        #[unsafe(export_name = $symbol)]
        pub(crate) unsafe extern "system" fn $name($($arg: $ty),*) -> CUresult {
            let fns: &'static Fns = $functions($mode);
            // SAFETY: the caller's arguments, passed on to the function of this signature.
            $answer(unsafe { (fns.$name)($($arg),*) })
        }
    };
    (@address : $name:ident) => {
        legacy::$name
    };
    (@address $twin:ident: $name:ident) => {
        per_thread::$name
    };
}
