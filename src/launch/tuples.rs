//! The tuples that are signatures and arguments of kernels.

/// Calls a macro for each tuple length from 1 to 16, with that many names of parameter types,
/// argument types, and arguments.
macro_rules! for_each_tuple {
    ($each:ident) => {
        for_each_tuple! {
            $each: P0 A0 a0;
            P1 A1 a1, P2 A2 a2, P3 A3 a3, P4 A4 a4, P5 A5 a5, P6 A6 a6, P7 A7 a7, P8 A8 a8, P9 A9 a9, P10 A10 a10,
            P11 A11 a11, P12 A12 a12, P13 A13 a13, P14 A14 a14, P15 A15 a15
        }
    };
    ($each:ident: $($parameter:ident $argument:ident $value:ident),+; $($next:ident)+ $(, $($later:ident)+)*) => {
        $each! { $($parameter $argument $value),+ }
        for_each_tuple! { $each: $($parameter $argument $value),+, $($next)+; $($($later)+),* }
    };
    ($each:ident: $($parameter:ident $argument:ident $value:ident),+;) => {
        $each! { $($parameter $argument $value),+ }
    };
}

pub(super) use for_each_tuple;
