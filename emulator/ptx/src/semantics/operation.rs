//! The traits of operations.

use super::each::Each;
use super::format::FloatFormat;
use super::lane::Lane;
use super::lower::{Lower, LowerTest};

/// An operation from up to four values to one, without side effects.
pub(crate) trait Pure: Sized {
    type Out: Lane;
    type A: Lane;
    type B: Lane;
    type C: Lane;
    type D: Lane;
    /// True if it is frequent and simple enough to be compiled over whole rows for each vector
    /// extension. Compiling all operations this way would take minutes.
    const IN_ROWS: bool = false;
    /// True if inner loops of common kernels do not contain it. It is then compiled for one lane,
    /// without a loop.
    const RARE: bool = false;
    /// Form in which the loop of rare operations runs it.
    const EACH: Each = Each::whole::<Self>();
    /// Its meaning for a code generator.
    const LOWER: Lower = Lower::Call;
    /// Formats of the result and of the sources, for floating-point numbers.
    const FORMATS: [Option<FloatFormat>; 5] =
        [Self::Out::FORMAT, Self::A::FORMAT, Self::B::FORMAT, Self::C::FORMAT, Self::D::FORMAT];
    fn eval(a: Self::A, b: Self::B, c: Self::C, d: Self::D) -> Self::Out;
}

pub(crate) trait Test {
    type A: Lane;
    type B: Lane;
    const IN_ROWS: bool = size_of::<Self::A>() >= 4;
    const RARE: bool = false;
    /// Its meaning for a code generator.
    const LOWER: LowerTest = LowerTest::Call;
    fn eval(a: Self::A, b: Self::B) -> bool;
}

/// A comparison. Most use another's code: with the opposite result, exchanged operands, or both.
pub(crate) trait Comparison {
    /// The comparison that is compiled.
    type Core: Test;
    const OPPOSITE: bool = false;
    /// True if the operands, which have the same type, are exchanged.
    const EXCHANGED: bool = false;
}

impl<O: Test> Comparison for O {
    type Core = O;
}

/// Declares operations: `Name[T: Bound](a: T, b: u32) -> T { ... }`, or with compile-time switches
/// `Name[const ROUND: u8, FTZ: bool](a: f32) -> f32 { ... }`, or with neither. A preceding
/// `@rows(condition)` sets [`Pure::IN_ROWS`], and a following `@rare(condition)` sets
/// [`Pure::RARE`], and after it `@lower(meaning)` sets [`Pure::LOWER`].
macro_rules! operations {
    () => {};
    ($(#[$m:meta])* $(@rows($rows:expr))? $(@rare($rare:expr))? $(@lower($lower:expr))? $name:ident [const $($n:ident: $nt:ty),+] ($($args:tt)*) -> $out:ty $body:block $($rest:tt)*) => {
        $(#[$m])*
        pub(crate) struct $name<$(const $n: $nt),+>;
        impl<$(const $n: $nt),+> $crate::semantics::Pure for $name<$($n),+> {
            $(const IN_ROWS: bool = $rows;)?
            $(const RARE: bool = $rare;)?
            $(const LOWER: $crate::semantics::lower::Lower = $lower;)?
            operations!(@eval [$($args)*] $out, $body);
        }
        operations!($($rest)*);
    };
    ($(#[$m:meta])* $(@rows($rows:expr))? $(@rare($rare:expr))? $(@lower($lower:expr))? $name:ident [$($t:ident: $bound:ident),+] ($($args:tt)*) -> $out:ty $body:block $($rest:tt)*) => {
        $(#[$m])*
        pub(crate) struct $name<$($t),+>(core::marker::PhantomData<($($t,)+)>);
        impl<$($t: $bound),+> $crate::semantics::Pure for $name<$($t),+> {
            $(const IN_ROWS: bool = $rows;)?
            $(const RARE: bool = $rare;)?
            $(const LOWER: $crate::semantics::lower::Lower = $lower;)?
            operations!(@eval [$($args)*] $out, $body);
        }
        operations!($($rest)*);
    };
    ($(#[$m:meta])* $(@rows($rows:expr))? $(@rare($rare:expr))? $(@lower($lower:expr))? $name:ident ($($args:tt)*) -> $out:ty $body:block $($rest:tt)*) => {
        $(#[$m])*
        pub(crate) struct $name;
        impl $crate::semantics::Pure for $name {
            $(const IN_ROWS: bool = $rows;)?
            $(const RARE: bool = $rare;)?
            $(const LOWER: $crate::semantics::lower::Lower = $lower;)?
            operations!(@eval [$($args)*] $out, $body);
        }
        operations!($($rest)*);
    };
    (@eval [$a:ident: $A:ty] $out:ty, $body:block) => {
        operations!(@eval [$a: $A, _b: (), _c: (), _d: ()] $out, $body);
    };
    (@eval [$a:ident: $A:ty, $b:ident: $B:ty] $out:ty, $body:block) => {
        operations!(@eval [$a: $A, $b: $B, _c: (), _d: ()] $out, $body);
    };
    (@eval [$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty] $out:ty, $body:block) => {
        operations!(@eval [$a: $A, $b: $B, $c: $C, _d: ()] $out, $body);
    };
    (@eval [$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty, $d:ident: $D:ty] $out:ty, $body:block) => {
        type Out = $out;
        type A = $A;
        type B = $B;
        type C = $C;
        type D = $D;
        #[inline(always)]
        fn eval($a: $A, $b: $B, $c: $C, $d: $D) -> $out $body
    };
}
pub(crate) use operations;
