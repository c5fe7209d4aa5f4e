//! The declaration of `Debug` for types whose fields say little, such as handles.

/// Implements `Debug`: the type's name around a format, or an expression with the formatter.
macro_rules! debug {
    ($([$($generic:tt)*])? $name:ident $(<$($argument:tt),*>)?: |$this:ident| $format:literal $(, $value:expr)*) => {
        $crate::raw::debug::debug! {
            $([$($generic)*])? $name $(<$($argument),*>)?: |$this, f|
            write!(f, concat!(stringify!($name), "(", $format, ")") $(, $value)*)
        }
    };
    ($([$($generic:tt)*])? $name:ident $(<$($argument:tt),*>)?: |$this:ident, $f:ident| $shown:expr) => {
        impl $(<$($generic)*>)? std::fmt::Debug for $name $(<$($argument),*>)? {
            fn fmt(&self, $f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                $shown
            }
        }
    };
}

pub(crate) use debug;
