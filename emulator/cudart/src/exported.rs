//! Macros that define an exported function from each line.

/// An exported function, for the comparison with the headers.
#[derive(Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
pub(crate) struct Exported {
    pub(crate) symbol: &'static str,
    /// Size of each parameter; `None` for a function that is not built.
    pub(crate) parameters: Option<&'static [usize]>,
}

/// Declares functions of the runtime API, each with its body:
///
/// ```text
/// fn cudaName[twin](arguments) => cuName(values);      one driver function, in a context
/// fn cudaName[twin](arguments) -> cuName(values);      one driver function that needs no context
/// fn cudaName[twin](arguments) |here| { … }            in a context, `here`
/// fn cudaName[twin](arguments) { … }                   anything else
/// ```
///
/// The twin, `ptsz` or `ptds`, is the same function with the thread's own default stream.
macro_rules! calls {
    ($($lines:tt)*) => {
        $crate::exported::each! { [] $($lines)* }
    };
}

/// Expands the lines one by one, and lists the exported functions.
macro_rules! each {
    ([$($done:tt)*]) => {
        /// The functions of this file.
        #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
        pub(crate) const EXPORTED: &[$crate::exported::Exported] = &[$($done)*];
    };
    ([$($done:tt)*] $(#[$doc:meta])* fn $name:ident[$($twin:ident)?]($($arg:ident: $ty:ty),* $(,)?)
        => $driver:ident($($value:expr),* $(,)?); $($rest:tt)*) => {
        $crate::exported::export! { $(#[$doc])* $name[$($twin)?]($($arg: $ty),*) mode {
            let here = $crate::state::device::enter(mode)?;
            // SAFETY: the caller's arguments, for the equivalent driver function.
            $crate::error::check(unsafe { (here.fns.$driver)($($value),*) })
        } }
        $crate::exported::each! { [$($done)* $crate::exported::line!($name[$($twin)?]($($ty),*)),] $($rest)* }
    };
    ([$($done:tt)*] $(#[$doc:meta])* fn $name:ident[$($twin:ident)?]($($arg:ident: $ty:ty),* $(,)?)
        -> $driver:ident($($value:expr),* $(,)?); $($rest:tt)*) => {
        $crate::exported::export! { $(#[$doc])* $name[$($twin)?]($($arg: $ty),*) mode {
            let fns = $crate::driver::fns(mode)?;
            // SAFETY: the caller's arguments, for the equivalent driver function.
            $crate::error::check(unsafe { (fns.$driver)($($value),*) })
        } }
        $crate::exported::each! { [$($done)* $crate::exported::line!($name[$($twin)?]($($ty),*)),] $($rest)* }
    };
    ([$($done:tt)*] $(#[$doc:meta])* fn $name:ident[$($twin:ident)?]($($arg:ident: $ty:ty),* $(,)?)
        |$here:ident| $body:block $($rest:tt)*) => {
        $crate::exported::export! { $(#[$doc])* $name[$($twin)?]($($arg: $ty),*) mode {
            let $here = $crate::state::device::enter(mode)?;
            $body
        } }
        $crate::exported::each! { [$($done)* $crate::exported::line!($name[$($twin)?]($($ty),*)),] $($rest)* }
    };
    ([$($done:tt)*] $(#[$doc:meta])* fn $name:ident[]($($arg:ident: $ty:ty),* $(,)?)
        $body:block $($rest:tt)*) => {
        $crate::exported::export! { $(#[$doc])* $name[]($($arg: $ty),*) _mode $body }
        $crate::exported::each! { [$($done)* $crate::exported::line!($name[]($($ty),*)),] $($rest)* }
    };
}

/// Defines the functions of a line, with the twin. Stores the result as the thread's last error.
macro_rules! export {
    ($(#[$doc:meta])* $name:ident[] $arguments:tt $mode:ident $body:block) => {
        $crate::exported::symbol! { $(#[$doc])* stringify!($name), Legacy, $name $arguments $mode $body }
    };
    ($(#[$doc:meta])* $name:ident[$twin:ident] $arguments:tt $mode:ident $body:block) => {
        $crate::exported::export! { $(#[$doc])* $name[] $arguments $mode $body }
        const _: () = {
            $crate::exported::symbol! {
                concat!(stringify!($name), "_", stringify!($twin)), PerThread, $name $arguments $mode $body
            }
        };
    };
}

macro_rules! symbol {
    ($(#[$doc:meta])* $symbol:expr, $kind:ident, $name:ident($($arg:ident: $ty:ty),*) $mode:ident $body:block) => {
        $(#[$doc])*
        #[unsafe(export_name = $symbol)]
        pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> $crate::error::cudaError {
            let outcome = || -> $crate::error::Result {
                let $mode = cuprum_sys::StreamMode::$kind;
                $body
            };
            $crate::state::thread::record(outcome())
        }
    };
}

/// Creates the list entry of one line.
macro_rules! line {
    ($name:ident[]($($ty:ty),*)) => {
        $crate::exported::Exported { symbol: stringify!($name), parameters: Some(&[$( size_of::<$ty>() ),*]) }
    };
    ($name:ident[$twin:ident]($($ty:ty),*)) => {
        $crate::exported::Exported {
            symbol: concat!(stringify!($name), "+", stringify!($twin)),
            parameters: Some(&[$( size_of::<$ty>() ),*]),
        }
    };
}

pub(crate) use {calls, each, export, line, symbol};

/// Writes a result to the caller's output.
///
/// # Safety
/// The pointer is null, or writable for a value of this type.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> crate::error::Result {
    if place.is_null() {
        return Err(crate::error::cudaError::cudaErrorInvalidValue);
    }
    // SAFETY: not null, so writable as guaranteed by the caller.
    unsafe { place.write(value) };
    Ok(())
}
