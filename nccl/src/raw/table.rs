//! Expansion of the list of functions: a table, an id for each line, its name and its first
//! version.

/// Turns the lines of `fns.rs` into [`Fns`](super::Fns) and [`FnId`](super::FnId).
macro_rules! nccl_fns {
    ($($(#[$doc:meta])* $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $answer:ty;)*) => {
        /// The functions of one NCCL; `None` for one that it lacks.
        #[derive(Clone, Copy)]
        #[allow(non_snake_case, reason = "functions have the names of C")]
        pub struct Fns {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nSince NCCL ", stringify!($since), ".")]
                pub $name: Option<unsafe extern "C" fn($($arg: $ty),*) -> $answer>,
            )*
        }

        /// Names one function of NCCL.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        #[allow(non_camel_case_types, reason = "functions have the names of C")]
        pub enum FnId {
            $( $(#[$doc])* $name, )*
        }

        impl Fns {
            /// Asks for every function, of which a null address means that it is absent.
            ///
            /// # Safety
            /// Each address that is not null is the function asked for, and stays so until the
            /// process ends.
            pub(crate) unsafe fn load(mut resolve: impl FnMut(FnId) -> *const core::ffi::c_void) -> Self {
                Self { $(
                    // SAFETY: an optional function pointer has the size of a pointer and is `None`
                    // for null; by the caller's word any other address is this function.
                    $name: unsafe {
                        core::mem::transmute::<
                            *const core::ffi::c_void,
                            Option<unsafe extern "C" fn($($ty),*) -> $answer>,
                        >(resolve(FnId::$name))
                    },
                )* }
            }

            /// The address of a function; null if it is absent.
            pub(crate) fn address(&self, function: FnId) -> *const core::ffi::c_void {
                match function {
                    $( FnId::$name => self.$name.map_or(core::ptr::null(), |at| at as *const core::ffi::c_void), )*
                }
            }
        }

        impl FnId {
            /// All functions, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$( Self::$name ),*];

            /// The exported name, with a NUL at its end.
            pub(crate) const fn c_name(self) -> &'static str {
                match self { $( Self::$name => concat!(stringify!($name), "\0"), )* }
            }

            /// The code of the first version that has it.
            pub(crate) const fn since_code(self) -> u32 {
                match self { $( Self::$name => $since, )* }
            }

            /// Parameters and answer as they are declared here, for the test that compares them
            /// with a header.
            #[doc(hidden)]
            pub const fn signature(self) -> &'static str {
                match self { $( Self::$name => stringify!(($($ty),*) -> $answer), )* }
            }
        }
    };
}
pub(crate) use nccl_fns;

/// Calls a function of a library, and turns its answer into a result; one that it lacks is an error
/// and is not called.
macro_rules! nccl_call {
    ($library:expr, $name:ident($($arg:expr),* $(,)?)) => {
        match $library.fns().$name {
            Some(function) => $library.check($crate::raw::FnId::$name, function($($arg),*)),
            None => Err($library.missing($crate::raw::FnId::$name)),
        }
    };
}
pub(crate) use nccl_call;
