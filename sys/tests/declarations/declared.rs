//! The crate's declarations, as lists: its sources are included a second time, with macros that
//! list the items instead of declaring them.

/// The attributes of an item as source; of most items, its documentation only.
type Attributes = &'static [&'static str];

/// An enum with its constants: their numbers in 32 bits and their names.
pub(crate) struct Enum {
    pub(crate) name: &'static str,
    pub(crate) attributes: Attributes,
    pub(crate) size: usize,
    pub(crate) constants: &'static [(u32, &'static str)],
    pub(crate) constant_attributes: &'static [Attributes],
}

/// A struct or union with its fields.
pub(crate) struct Type {
    pub(crate) name: &'static str,
    pub(crate) attributes: Attributes,
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) fields: &'static [Field],
}

pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) attributes: Attributes,
    pub(crate) type_name: &'static str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// A macro of the headers and its value in the bits of its type.
pub(crate) struct Constant {
    pub(crate) name: &'static str,
    pub(crate) attributes: Attributes,
    pub(crate) bits: u64,
}

macro_rules! c_enums {
    ($($(#[$meta:meta])* pub $kind:ident $name:ident: $repr:ident {
        $($(#[$doc:meta])* $constant:ident = $value:expr,)*
    })*) => {
        pub(crate) use cuprum_sys::{$($name),*};

        pub(crate) const ENUMS: &[crate::declared::Enum] = &[$(crate::declared::Enum {
            name: stringify!($name),
            attributes: &[$(stringify!($meta)),*],
            size: size_of::<cuprum_sys::$name>(),
            constants: cuprum_sys::$name::NAMES,
            constant_attributes: &[$(&[$(stringify!($doc)),*]),*],
        }),*];
    };
}

macro_rules! c_types {
    ($($(#[$meta:meta])* pub $kind:ident $name:ident {
        $($(#[$doc:meta])* pub $field:ident: $ty:ty,)*
    })*) => {
        use cuprum_sys::*;

        pub(crate) const TYPES: &[crate::declared::Type] = &[$(crate::declared::Type {
            name: stringify!($name),
            attributes: &[$(stringify!($meta)),*],
            size: size_of::<cuprum_sys::$name>(),
            align: align_of::<cuprum_sys::$name>(),
            fields: &[$(crate::declared::Field {
                name: stringify!($field),
                attributes: &[$(stringify!($doc)),*],
                type_name: stringify!($ty),
                offset: core::mem::offset_of!(cuprum_sys::$name, $field),
                size: size_of::<$ty>(),
            }),*],
        }),*];
    };
}

macro_rules! c_aliases {
    ($($(#[$meta:meta])* $alias:ident = $name:ident,)*) => {
        pub(crate) const ALIASES: &[(&str, &str)] = &[$((stringify!($alias), stringify!($name))),*];
    };
}

macro_rules! c_constants {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = $value:expr;)*) => {
        pub(crate) fn constants() -> Vec<crate::declared::Constant> {
            vec![$(crate::declared::Constant {
                name: stringify!($name),
                attributes: &[$(stringify!($meta)),*],
                bits: crate::declared::bits(&cuprum_sys::$name),
            }),*]
        }
    };
}

/// The bits of a number or handle of up to 8 bytes.
pub(crate) fn bits<T: Copy>(value: &T) -> u64 {
    assert!(size_of::<T>() <= 8);
    let mut bits = 0_u64;
    // SAFETY: the type is a number or a handle without padding, no larger than the place it is
    // copied to.
    unsafe { std::ptr::copy_nonoverlapping(value, std::ptr::from_mut(&mut bits).cast::<T>(), 1) };
    bits
}

#[path = "../../src/constants.rs"]
#[expect(unused_imports, reason = "other macros make other items of the same source")]
pub(crate) mod constants;
#[path = "../../src/enums.rs"]
#[expect(unused_imports, reason = "other macros make other items of the same source")]
pub(crate) mod enums;
#[path = "../../src/structs.rs"]
#[expect(unused_imports, reason = "other macros make other items of the same source")]
pub(crate) mod structs;

/// The struct or union of a name, or of the name that it is an alias of.
pub(crate) fn declared_type(name: &str) -> Option<&'static Type> {
    let target = structs::ALIASES.iter().find(|alias| alias.0 == name).map_or(name, |alias| alias.1);
    structs::TYPES.iter().find(|declared| declared.name == target)
}
