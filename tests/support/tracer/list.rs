//! The list of driver functions, expanded by a macro that makes a traced function of each line.

/// The lines of `sys/src/fns.rs`.
#[path = "../../../sys/src/fns.rs"]
#[allow(
    non_snake_case,
    unused_imports,
    reason = "the names are C's, and one macro needs less than the other"
)]
mod fns;

pub(crate) use fns::addresses;

/// Names that the list takes from its own crate.
pub(crate) mod enums {}
/// Names that the list takes from its own crate.
pub(crate) mod structs {}
/// Names that the list takes from its own crate.
pub(crate) mod types {}

/// The macro that the list names.
pub(crate) mod table {
    /// Makes a function of each line that is traced and passed on to driver `D`.
    macro_rules! driver_fns {
        ($(
            $(#[$doc:meta])*
            $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
        )*) => {
            mod traced {
                use core::ffi::{c_char, c_void};

                use cuprum::sys::*;

                use crate::tracer::open::{call_nothing, functions};
                use crate::tracer::session::{Asked, answer, word};

                $(
                    pub(super) unsafe extern "system" fn $name<const D: usize>($($arg: $ty),*) -> CUresult {
                        let asked = Asked {
                            driver: D,
                            function: FnId::$name,
                            types: &[$(stringify!($ty)),*],
                            words: &[$(word(&$arg)),*],
                        };
                        answer(&asked, || match functions(D) {
                            // SAFETY: the caller's arguments, passed on to the function of this signature.
                            Some(fns) => unsafe { (fns.$name)($($arg),*) },
                            None => call_nothing(&asked),
                        })
                    }
                )*
            }

            /// The address of each traced function of driver `D`, in the order of `FnId::ALL`.
            pub(crate) fn addresses<const D: usize>() -> Vec<*const core::ffi::c_void> {
                vec![$( traced::$name::<D> as *const core::ffi::c_void ),*]
            }
        };
    }

    pub(crate) use driver_fns;
}
