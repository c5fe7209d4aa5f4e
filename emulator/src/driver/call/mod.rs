//! The C functions of the driver, and the macro that defines them.
//!
//! [`calls!`] takes functions in plain Rust, with checked parameter types in place of raw pointers
//! ([`Out`], [`In`], [`Text`]), and turns each into an `extern "system"` function with the driver's
//! exact signature. The compiler compares the signature with the table of `cuprum-sys`. A function
//! with two symbols exists twice: for the legacy default stream and for per-thread ones.

mod entry;
mod functions;
mod misuse;
mod objects;
mod param;
mod process;
mod unsupported;

pub(super) use self::entry::{Body, enter};
pub(crate) use self::entry::{Call, in_callback, set_initialized, tell_refusals};
pub(crate) use self::entry::{calls, enter_function, function};
pub(crate) use functions::{Builder, Found, fill, functions, objects, set_publisher};
pub(crate) use misuse::{demand, misuse};
pub(crate) use objects::{Kind, Leaked, Objects, Table};
pub(crate) use param::{In, InMut, Out, Param, Text, put_handle};
pub(crate) use process::{
    at_exit, at_thread_end, calling_library, is_forked_child, stay_loaded, watch_forks,
};
pub(crate) use unsupported::not_supported;
