//! Expansion of one line of a list of functions: a table field, an id, a name with its version, and
//! a stub.
//!
//! The names of all functions are in one string and are found by offset, without a pointer each.
//! The stubs are one constant table, which loading copies and then overwrites slot by slot, in one
//! loop instead of code for each function. Both keep the crate small and quick to build.

use core::ffi::CStr;

/// Number of bytes up to the next NUL, the NUL included.
const fn c_string_len(text: &[u8], start: usize) -> usize {
    let mut end = start;
    while text[end] != 0 {
        end += 1;
    }
    end + 1 - start
}

/// Offset of each function's names in `names`, where a function with a twin has two.
pub const fn name_offsets<const N: usize>(names: &str, has_twin: &[bool; N]) -> [u16; N] {
    let text = names.as_bytes();
    let mut offsets = [0; N];
    let (mut i, mut at) = (0, 0);
    while i < N {
        assert!(at <= u16::MAX as usize);
        offsets[i] = at as u16;
        at += c_string_len(text, at);
        if has_twin[i] {
            at += c_string_len(text, at);
        }
        i += 1;
    }
    assert!(at == text.len());
    offsets
}

/// The C string that starts at `offset` in `names`, and the offset after it.
pub fn name_at(names: &'static str, offset: usize) -> (&'static CStr, usize) {
    let rest = names.as_bytes().get(offset..).unwrap_or_default();
    let name = CStr::from_bytes_until_nul(rest).unwrap_or_default();
    (name, offset + name.count_bytes() + 1)
}

/// One bit per function of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Presence<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Presence<WORDS> {
    pub const NONE: Self = Self([0; WORDS]);

    /// Records the function with this index.
    pub fn insert(&mut self, function: usize) {
        self.0[function / 64] |= 1 << (function % 64);
    }

    pub fn contains(&self, function: usize) -> bool {
        self.0[function / 64] >> (function % 64) & 1 == 1
    }
}

/// The return type of a function, with the value that means that the function is absent.
pub trait Answer {
    const UNRESOLVED: Self;
}

/// A type of functions, with a stub for absent ones: it returns that result and does nothing else.
///
/// There is one for each list of parameter types, as the ABI depends on the list. They come from a
/// few generic functions: one written for each line of a table would be checked six hundred times.
pub trait Stub {
    const STUB: Self;
}

macro_rules! stubs {
    ($($parameters:ident)*) => {
        impl<R: Answer, $($parameters: Copy),*> Stub for unsafe extern "system" fn($($parameters),*) -> R {
            const STUB: Self = {
                unsafe extern "system" fn stub<R: Answer, $($parameters: Copy),*>($(_: $parameters),*) -> R {
                    R::UNRESOLVED
                }
                stub::<R, $($parameters),*>
            };
        }
    };
}

stubs! {}
stubs! { A }
stubs! { A B }
stubs! { A B C }
stubs! { A B C D }
stubs! { A B C D E }
stubs! { A B C D E F }
stubs! { A B C D E F G }
stubs! { A B C D E F G H }
stubs! { A B C D E F G H I }
stubs! { A B C D E F G H I J }
stubs! { A B C D E F G H I J K }
stubs! { A B C D E F G H I J K L }
stubs! { A B C D E F G H I J K L M }
stubs! { A B C D E F G H I J K L M N }
stubs! { A B C D E F G H I J K L M N O }
stubs! { A B C D E F G H I J K L M N O P }

/// Turns the lines of a list of functions into `Fns` and `FnId`.
///
/// `result` is the type that every function returns; an absent one returns its constant
/// `UNRESOLVED`.
#[doc(hidden)]
#[macro_export]
macro_rules! function_table {
    (
        $(#[$fns_doc:meta])* table;
        $(#[$id_doc:meta])* id;
        result $result:ty;
        $(
            $(#[$doc:meta])*
            $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
        )*
    ) => {
        $(#[$fns_doc])*
        #[derive(Copy)]
        #[repr(C)]
        #[allow(non_snake_case, reason = "functions have the names of C")]
        pub struct Fns {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nSince CUDA ", stringify!($since), ".")]
                pub $name: unsafe extern "system" fn($($arg: $ty),*) -> $result,
            )*
        }

        $(#[$id_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[non_exhaustive]
        #[allow(non_camel_case_types, reason = "functions have the names of C")]
        pub enum FnId {
            $( $(#[$doc])* $name, )*
        }

        impl Fns {
            /// A table in which every function is absent.
            pub const STUBS: Self = Self {
                $( $name: $crate::declare::Stub::STUB, )*
            };

            /// The table as plain addresses.
            pub(crate) fn slots(&self) -> &Slots {
                // SAFETY: `Fns` is `repr(C)` and has nothing but function pointers, which have the
                // size and the alignment of `*const c_void` (asserted below) and are valid as such.
                unsafe { &*core::ptr::from_ref(self).cast::<Slots>() }
            }

            /// Writes the address of one function into its slot.
            ///
            /// # Safety
            /// `address` is not null and is the function that `function` names, with its ABI.
            pub(crate) unsafe fn set(&mut self, function: FnId, address: *const core::ffi::c_void) {
                let slots = core::ptr::from_mut(self).cast::<*const core::ffi::c_void>();
                // SAFETY: an id is less than the number of slots, so the place is inside the table.
                let slot = unsafe { slots.add(function as usize) };
                // SAFETY: the slot is ours to write, and by the caller's word the address is a
                // valid value for its field.
                unsafe { slot.write(address) };
            }
        }

        // By hand, as for the types (`macros.rs`).
        impl Clone for Fns {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl $crate::declare::Answer for $result {
            const UNRESOLVED: Self = Self::UNRESOLVED;
        }

        impl core::fmt::Debug for Fns {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("Fns").finish_non_exhaustive()
            }
        }

        /// One address per function, in the order of [`FnId::ALL`].
        pub(crate) type Slots = [*const core::ffi::c_void; COUNT];

        const _: () = {
            assert!(size_of::<Fns>() == size_of::<Slots>());
            assert!(align_of::<Fns>() == align_of::<Slots>());
        };

        impl FnId {
            /// All functions, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$( Self::$name ),*];

            /// The exported name.
            pub(crate) fn c_name(self) -> &'static core::ffi::CStr {
                $crate::declare::name_at(NAMES, usize::from(OFFSETS[self as usize])).0
            }

            /// The first CUDA version that has it.
            pub(crate) fn first_version(self) -> $crate::Version {
                $crate::Version::from_raw(u32::from(SINCE[self as usize]))
            }
        }

        impl core::fmt::Display for FnId {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.c_name().to_str().unwrap_or_default())
            }
        }

        impl core::fmt::Debug for FnId {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }

        pub(crate) const COUNT: usize = FnId::ALL.len();
        pub(crate) static NAMES: &str = concat!($(
            stringify!($name), "\0", $( stringify!($name), "_", stringify!($twin), "\0", )?
        )*);
        pub(crate) static SINCE: [u16; COUNT] = [$( $since ),*];
        pub(crate) static HAS_TWIN: [bool; COUNT] = [$( !stringify!($($twin)?).is_empty() ),*];
        pub(crate) static OFFSETS: [u16; COUNT] = $crate::declare::name_offsets(NAMES, &HAS_TWIN);
        /// Functions of this table that are present.
        pub(crate) type Presence = $crate::declare::Presence<{ COUNT.div_ceil(64) }>;
    };
}
pub use function_table;
