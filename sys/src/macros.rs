//! Declarations of the C types: one list of each kind, read by these macros.
//!
//! Enums and handles of other libraries, in crates of this repository, are declared by the same
//! macros.
//!
//! `tests/declarations/declared.rs` includes the same lists with macros of its own, so that tests
//! compare these declarations with the headers without naming anything twice.

/// Writes the equivalent of `derive(Clone)` for a type that is `Copy`, without its code that asks
/// of every field whether it is `Clone`. As with `Eq`, which has such code too, hundreds of types
/// make that a large part of the compiler's work.
#[doc(hidden)]
#[macro_export]
macro_rules! clone_by_copy {
    ($name:ident) => {
        impl Clone for $name {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }
    };
}

/// Declares C enums as transparent integers, so that a number this crate does not know stays legal.
///
/// The word before the name is `enum`, or `flags` where constants are combined with `|`, or
/// `described` where their documentation is also wanted at run time.
#[doc(hidden)]
#[macro_export]
macro_rules! c_enums {
    ($($(#[$meta:meta])* pub $kind:ident $name:ident: $repr:ident $body:tt)*) => {
        $(
            $crate::c_enum! { $(#[$meta])* $name: $repr $body }
            $crate::c_enum_more! { $kind $name $body }
        )*
    };
}

/// Declares one C enum.
#[doc(hidden)]
#[macro_export]
macro_rules! c_enum {
    ($(#[$meta:meta])* $name:ident: $repr:ident { $($(#[$doc:meta])* $constant:ident = $value:expr,)* }) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Copy, PartialEq, Hash)]
        pub struct $name(pub $repr);

        impl Eq for $name {}

        $crate::clone_by_copy! { $name }

        impl $name {
            $($(#[$doc])* pub const $constant: Self = Self($value);)*

            /// Every constant in order of declaration: its number (negative ones as two's
            /// complement) and its C name.
            pub const NAMES: &'static [(u32, &'static str)] =
                &[$((Self::$constant.0 as u32, stringify!($constant)),)*];

            /// The C name of this number; `None` for a number that this crate does not know.
            pub fn name(self) -> Option<&'static str> {
                $crate::macros::name_of(Self::NAMES, self.0 as u32)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::macros::debug_enum(f, stringify!($name), Self::NAMES, self.0 as u32)
            }
        }
    };
}

/// Parts that only some enums have.
#[doc(hidden)]
#[macro_export]
macro_rules! c_enum_more {
    (enum $name:ident $body:tt) => {};
    (flags $name:ident $body:tt) => {
        impl core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
    (described $name:ident { $($(#[doc = $doc:literal])* $constant:ident = $value:expr,)* }) => {
        impl $name {
            /// Meaning of this code, in a sentence; `None` for a code that this crate does not
            /// know.
            pub fn description(self) -> Option<&'static str> {
                $crate::macros::description_of(Self::NAMES, &[$(concat!($($doc),*),)*], self.0)
            }
        }
    };
}

/// Declares opaque handles: pointers that only the driver follows.
#[doc(hidden)]
#[macro_export]
macro_rules! c_handles {
    ($($(#[$meta:meta])* $name:ident,)*) => {
        $(
            $(#[$meta])*
            #[repr(transparent)]
            #[derive(Copy, PartialEq, Hash, Debug)]
            pub struct $name(pub *mut core::ffi::c_void);

            impl Eq for $name {}

            $crate::clone_by_copy! { $name }

            impl $name {
                /// The null handle.
                pub const fn null() -> Self {
                    Self(core::ptr::null_mut())
                }

                /// True for the null handle.
                pub const fn is_null(self) -> bool {
                    self.0.is_null()
                }
            }
        )*
    };
}

/// Declares C structs and unions, each with `zeroed` and `Default`.
macro_rules! c_types {
    ($($(#[$meta:meta])* pub $kind:ident $name:ident {
        $($(#[$doc:meta])* pub $field:ident: $ty:ty,)*
    })*) => {
        $(
            c_type! { $kind $(#[$meta])* $name { $($(#[$doc])* pub $field: $ty,)* } }

            impl $name {
                /// A value of all zero bytes: null handles and pointers, zero numbers.
                pub const fn zeroed() -> Self {
                    // SAFETY: the type holds only numbers, nullable pointers, optional callbacks,
                    // and arrays, structs and unions of those; all zero bytes are a valid value of
                    // each.
                    unsafe { core::mem::zeroed() }
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::zeroed()
                }
            }
        )*
    };
}

/// Declares one C struct, or one C union; for a union `Debug` shows only the name, since the field
/// that counts is known elsewhere.
macro_rules! c_type {
    (struct $(#[$meta:meta])* $name:ident { $($fields:tt)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Copy, Debug)]
        pub struct $name { $($fields)* }

        clone_by_copy! { $name }
    };
    (union $(#[$meta:meta])* $name:ident { $($fields:tt)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Copy)]
        pub union $name { $($fields)* }

        clone_by_copy! { $name }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), " { .. }"))
            }
        }
    };
}

/// Declares other names of structs and unions.
macro_rules! c_aliases {
    ($($(#[$meta:meta])* $alias:ident = $name:ident,)*) => {
        $($(#[$meta])* pub type $alias = $name;)*
    };
}

/// Declares object-like C macros.
macro_rules! c_constants {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = $value:expr;)*) => {
        $($(#[$meta])* pub const $name: $ty = $value;)*
    };
}

/// The first name listed for `value`.
pub fn name_of(names: &'static [(u32, &'static str)], value: u32) -> Option<&'static str> {
    names.iter().find(|entry| entry.0 == value).map(|entry| entry.1)
}

/// Prints the C name, or the type and the number where there is no name.
pub fn debug_enum(
    f: &mut core::fmt::Formatter<'_>,
    type_name: &str,
    names: &'static [(u32, &'static str)],
    value: u32,
) -> core::fmt::Result {
    match name_of(names, value) {
        Some(name) => f.write_str(name),
        None => write!(f, "{type_name}({value:#x})"),
    }
}

/// The documented sentence of a code; codes and sentences are in the same order.
pub fn description_of(
    names: &[(u32, &'static str)],
    docs: &[&'static str],
    code: u32,
) -> Option<&'static str> {
    let index = names.iter().position(|entry| entry.0 == code)?;
    let text = docs.get(index)?.trim_start();
    // The documentation ends with the version that introduced the code, as in "CUDA 12.4+.".
    let before_note = text.strip_suffix("+.").and_then(|text| text.rsplit_once(" CUDA "));
    Some(before_note.map_or(text, |(sentence, _version)| sentence))
}

#[cfg(test)]
mod tests {
    use crate::{
        CUDA_MEMCPY3D, CUctx_flags, CUdevice_attribute, CUlimit, CUmemcpy3DOperand, CUshared_carveout,
    };

    #[test]
    fn a_number_without_a_name_is_legal() {
        let unknown = CUlimit(77);
        assert_eq!(unknown.name(), None);
        assert_eq!(format!("{unknown:?}"), "CUlimit(0x4d)");
        assert_eq!(format!("{:?}", CUlimit::CU_LIMIT_STACK_SIZE), "CU_LIMIT_STACK_SIZE");
    }

    #[test]
    fn negative_constants_have_names() {
        assert_eq!(CUshared_carveout(-1).name(), Some("CU_SHAREDMEM_CARVEOUT_DEFAULT"));
    }

    #[test]
    fn the_current_name_comes_before_an_old_one() {
        let old = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK;
        assert_eq!(old.name(), Some("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK"));
    }

    #[test]
    fn flags_combine() {
        let both = CUctx_flags::CU_CTX_MAP_HOST | CUctx_flags::CU_CTX_SCHED_SPIN;
        assert_eq!(both, CUctx_flags(9));
    }

    #[test]
    fn zeroed_structs_hold_null_and_zero() {
        let copy = CUDA_MEMCPY3D::zeroed();
        assert!(copy.srcArray.is_null() && copy.srcHost.is_null());
        assert_eq!((copy.Depth, copy.dstMemoryType.0), (0, 0));
        let operand = format!("{:?}", CUmemcpy3DOperand::default());
        assert_eq!(
            operand,
            "CUmemcpy3DOperand_v1 { type_: CUmemcpy3DOperandType(0x0), op: CUmemcpy3DOperand_op { .. } }"
        );
    }
}
