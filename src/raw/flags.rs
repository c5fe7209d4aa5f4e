//! The declaration of all sets of flags.

use std::fmt;

/// Declares a set of flags as `bitflags!` does, with the same `Debug`.
///
/// For a `struct`, `bitflags!` declares an inner type with all methods again, and a parser and a
/// printer for each type. This took a tenth of the time to compile this crate.
macro_rules! flags {
    ($(#[$meta:meta])* $vis:vis struct $name:ident: $bits:ty { $($flags:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        $vis struct $name($bits);

        bitflags::bitflags! {
            impl $name: $bits { $($flags)* }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut flags = <Self as bitflags::Flags>::FLAGS
                    .iter()
                    .map(|flag| (flag.name(), u64::from(flag.value().bits())));
                $crate::raw::flags::debug(f, stringify!($name), u64::from(self.bits()), &mut flags)
            }
        }
    };
}

pub(crate) use flags;

/// Writes `Name(ONE | OTHER | 0x40)`: the names of the set flags, and the unnamed bits.
pub(crate) fn debug(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    bits: u64,
    flags: &mut dyn Iterator<Item = (&'static str, u64)>,
) -> fmt::Result {
    let (mut set, mut rest) = (String::new(), bits);
    for (flag, value) in flags {
        if bits & value == value && rest & value != 0 {
            rest &= !value;
            set += if set.is_empty() { "" } else { " | " };
            set += flag;
        }
    }
    if set.is_empty() {
        set = format!("{rest:#x}");
    } else if rest != 0 {
        set += &format!(" | {rest:#x}");
    }
    f.debug_tuple(name).field(&format_args!("{set}")).finish()
}

#[cfg(test)]
mod tests {
    flags! {
        pub(super) struct Some: u32 {
            const ONE = 1;
            const TWO = 2;
            const THREE = 3;
            const FOUR = 4;
        }
    }

    #[test]
    fn sets_are_written_as_bitflags_writes_them() {
        let written = |bits| format!("{:?}", Some::from_bits_retain(bits));
        assert_eq!(written(0), "Some(0x0)");
        assert_eq!(written(1), "Some(ONE)");
        assert_eq!(written(7), "Some(ONE | TWO | FOUR)");
        assert_eq!(written(0x42), "Some(TWO | 0x40)");
        assert_eq!(written(0x40), "Some(0x40)");
        assert_eq!(format!("{:#?}", Some::FOUR), "Some(\n    FOUR,\n)");
    }
}
