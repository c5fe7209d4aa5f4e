//! The traits of operations, and the entry of each in a table.

use super::each::{Each, TestEach};
use super::format::FloatFormat;
use super::lower::{Lower, LowerTest};
use super::register::{LANES, Register, Width};
use super::rows::{Extension, PureRows, TestRows, pure_rows, test_rows};

/// A type of the values in lanes.
pub trait Lane: Copy {
    const WIDTH: Width;
    /// Its format, for floating-point numbers.
    const FORMAT: Option<FloatFormat> = None;
    /// True for signed integers.
    const SIGNED: bool = false;

    /// # Safety
    /// `row` points to as many rows as `WIDTH` states, and `lane` is below 32.
    unsafe fn read(row: *const u32, lane: usize) -> Self;

    /// # Safety
    /// As for [`Lane::read`].
    unsafe fn write(self, row: *mut u32, lane: usize);

    /// Returns the value in the low bits of a lane.
    fn from_lane(bits: u64) -> Self;

    /// Returns the bits for a lane.
    fn to_lane(self) -> u64;
}

impl Lane for () {
    const WIDTH: Width = Width::None;
    #[inline(always)]
    fn from_lane(_: u64) {}
    #[inline(always)]
    fn to_lane(self) -> u64 {
        0
    }
    #[inline(always)]
    unsafe fn read(_: *const u32, _: usize) {}
    #[inline(always)]
    unsafe fn write(self, _: *mut u32, _: usize) {}
}

macro_rules! lanes {
    ($($ty:ty $(: $format:ident)?, $cell:ty, $width:ident, |$raw:ident| $from:expr, |$value:ident| $to:expr $(, $signed:expr)?;)*) => {$(
        impl Lane for $ty {
            const WIDTH: Width = Width::$width;
            $( const FORMAT: Option<FloatFormat> = Some(FloatFormat::$format); )?
            $( const SIGNED: bool = $signed; )?
            #[inline(always)]
            unsafe fn read(row: *const u32, lane: usize) -> Self {
                // SAFETY: within the rows that the caller guarantees, aligned for any cell.
                let $raw = unsafe { *row.cast::<$cell>().add(lane) };
                $from
            }
            #[inline(always)]
            unsafe fn write(self, row: *mut u32, lane: usize) {
                let $value = self;
                // SAFETY: as in `read`.
                unsafe { *row.cast::<$cell>().add(lane) = $to };
            }
            #[inline(always)]
            fn from_lane(bits: u64) -> Self {
                let $raw = bits as $cell;
                $from
            }
            #[inline(always)]
            fn to_lane(self) -> u64 {
                let $value = self;
                u64::from($to)
            }
        }
    )*};
}

lanes! {
    u8, u32, Single, |raw| raw as u8, |v| u32::from(v);
    i8, u32, Single, |raw| raw as i8, |v| v as u32, true;
    u16, u32, Single, |raw| raw as u16, |v| u32::from(v);
    i16, u32, Single, |raw| raw as i16, |v| v as u32, true;
    u32, u32, Single, |raw| raw, |v| v;
    i32, u32, Single, |raw| raw as i32, |v| v as u32, true;
    f32: F32, u32, Single, |raw| f32::from_bits(raw), |v| v.to_bits();
    u64, u64, Double, |raw| raw, |v| v;
    i64, u64, Double, |raw| raw as i64, |v| v as u64, true;
    f64: F64, u64, Double, |raw| f64::from_bits(raw), |v| v.to_bits();
}

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

/// Runs an operation for the lanes of `mask`: rows, destination, sources, mask.
pub(crate) type PureFn = unsafe fn(*mut u32, Register, [Register; 4], u32);

/// Runs a comparison for the lanes of `mask` and returns one bit per lane; other lanes' bits are clear.
pub(crate) type TestFn = unsafe fn(*const u32, [Register; 2], u32) -> u32;

/// Form of an operation or a comparison that runs lane by lane.
#[derive(Clone, Copy, Debug)]
enum Lanes<F, E> {
    /// In a separate loop.
    Loop(F),
    /// In the loop of rare operations.
    Each(E),
}

/// The table entry of an operation, used by the decoder and both execution modes.
#[derive(Debug)]
pub struct PureInfo {
    lanes: Lanes<PureFn, Each>,
    /// Over whole rows, for each vector extension, if `Pure::IN_ROWS`.
    pub rows: Option<[PureRows; Extension::COUNT]>,
    pub out: Width,
    pub sources: [Width; 4],
    /// Number of significant bytes of the result and of the sources.
    pub sizes: [u32; 5],
    /// See `Pure::FORMATS`.
    pub formats: [Option<FloatFormat>; 5],
    /// Its meaning for a code generator.
    pub lower: Lower,
    /// True for the result and the sources that are signed integers.
    pub signed: [bool; 5],
}

/// The table entry of a comparison, used by the decoder and both execution modes.
#[derive(Debug)]
pub struct TestInfo {
    lanes: Lanes<TestFn, TestEach>,
    /// Inverts the result of the functions in each lane if all bits are set.
    pub flip: u32,
    /// True if the operands of the functions are exchanged.
    exchanged: bool,
    /// Over whole rows, for each vector extension, if `Test::IN_ROWS`.
    pub rows: Option<[TestRows; Extension::COUNT]>,
    pub width: Width,
    /// Meaning of its function for a code generator.
    pub lower: LowerTest,
    /// Number of significant bytes of the operands.
    pub size: u32,
    /// True if the operands are signed integers.
    pub signed: bool,
    /// True if it uses only its first operand.
    pub unary: bool,
}

impl PureInfo {
    /// Runs the operation for the lanes of `mask`.
    ///
    /// # Safety
    /// `rows` contains every named register, in the widths of the operation.
    #[inline(always)]
    pub unsafe fn run(&self, rows: *mut u32, out: Register, sources: [Register; 4], mask: u32) {
        match self.lanes {
            // SAFETY: guaranteed by the caller.
            Lanes::Loop(run) => unsafe { run(rows, out, sources, mask) },
            // SAFETY: as above, with the widths of this operation.
            Lanes::Each(each) => unsafe { each.run(self, rows, out, sources, mask) },
        }
    }

    /// True if both are the same operation, and not a rare one. Functions with the same address are
    /// equivalent, so a match is certain; a miss would only reduce speed.
    pub(super) fn is(&self, other: &PureInfo) -> bool {
        match (self.lanes, other.lanes) {
            (Lanes::Loop(a), Lanes::Loop(b)) => a as usize == b as usize,
            _ => false,
        }
    }
}

impl TestInfo {
    /// Runs the comparison for the lanes of `mask`. Returns a bit per lane; others are clear.
    ///
    /// # Safety
    /// `rows` contains both registers, in the widths of the comparison.
    #[inline(always)]
    pub unsafe fn run(&self, rows: *const u32, sources: [Register; 2], mask: u32) -> u32 {
        let sources = self.in_order(sources);
        let bits = match self.lanes {
            // SAFETY: guaranteed by the caller.
            Lanes::Loop(run) => unsafe { run(rows, sources, mask) },
            // SAFETY: as above; the width is this comparison's.
            Lanes::Each(each) => unsafe { each.run(self.width, rows, sources, mask) },
        };
        bits ^ self.flip & mask
    }

    /// Returns the operands in the order of the functions' parameters.
    #[inline(always)]
    pub fn in_order<T>(&self, [a, b]: [T; 2]) -> [T; 2] {
        if self.exchanged { [b, a] } else { [a, b] }
    }

    pub(super) fn is(&self, other: &TestInfo) -> bool {
        let same = match (self.lanes, other.lanes) {
            (Lanes::Loop(a), Lanes::Loop(b)) => a as usize == b as usize,
            _ => false,
        };
        same && (self.flip, self.exchanged) == (other.flip, other.exchanged)
    }
}

trait Describe: Pure {
    const INFO: PureInfo;
}

impl<O: Pure> Describe for O {
    const INFO: PureInfo = PureInfo {
        lanes: if O::RARE { Lanes::Each(O::EACH) } else { Lanes::Loop(plain::<O>) },
        rows: if O::IN_ROWS { Some(pure_rows::<O>()) } else { None },
        out: O::Out::WIDTH,
        sources: [O::A::WIDTH, O::B::WIDTH, O::C::WIDTH, O::D::WIDTH],
        sizes: [
            size_of::<O::Out>() as u32,
            size_of::<O::A>() as u32,
            size_of::<O::B>() as u32,
            size_of::<O::C>() as u32,
            size_of::<O::D>() as u32,
        ],
        formats: O::FORMATS,
        lower: O::LOWER,
        signed: [O::Out::SIGNED, O::A::SIGNED, O::B::SIGNED, O::C::SIGNED, O::D::SIGNED],
    };
}

trait DescribeTest: Comparison {
    const INFO: TestInfo;
}

impl<O: Comparison> DescribeTest for O {
    const INFO: TestInfo = TestInfo {
        lanes: if O::Core::RARE {
            Lanes::Each(TestEach::of::<O::Core>())
        } else {
            Lanes::Loop(plain_test::<O::Core>)
        },
        flip: if O::OPPOSITE { !0 } else { 0 },
        exchanged: O::EXCHANGED,
        rows: if O::Core::IN_ROWS { Some(test_rows::<O::Core>()) } else { None },
        width: <O::Core as Test>::A::WIDTH,
        lower: O::Core::LOWER,
        size: size_of::<<O::Core as Test>::A>() as u32,
        signed: <O::Core as Test>::A::SIGNED,
        unary: matches!(<O::Core as Test>::B::WIDTH, Width::None),
    };
}

/// Returns the table entry of an operation. Always inlined, because there are a thousand of them.
#[inline(always)]
pub(crate) fn pure<O: Pure>() -> &'static PureInfo {
    &<O as Describe>::INFO
}

#[inline(always)]
pub(crate) fn test<O: Comparison>() -> &'static TestInfo {
    &<O as DescribeTest>::INFO
}

#[inline(always)]
pub(super) fn row(rows: *const u32, register: Register) -> *const u32 {
    rows.wrapping_add(register.0 as usize * LANES)
}

/// Returns the rows of sources. `map` on an array would be compiled for each of 1700 operations.
#[inline(always)]
fn all_rows(rows: *const u32, [a, b, c, d]: [Register; 4]) -> [*const u32; 4] {
    [row(rows, a), row(rows, b), row(rows, c), row(rows, d)]
}

/// Takes the first lane of a nonempty mask. An iterator would be compiled again for each operation.
#[inline(always)]
fn next_lane(left: &mut u32) -> usize {
    let lane = left.trailing_zeros();
    *left &= *left - 1;
    lane as usize
}

/// # Safety
/// `rows` contains every named register, in the widths of the operation.
unsafe fn plain<O: Pure>(rows: *mut u32, out: Register, sources: [Register; 4], mask: u32) {
    let [a, b, c, d] = all_rows(rows, sources);
    let out = row(rows, out).cast_mut();
    let mut left = mask;
    while left != 0 {
        let lane = next_lane(&mut left);
        // SAFETY: the caller guarantees the rows; `lane` is below 32.
        let a = unsafe { O::A::read(a, lane) };
        // SAFETY: as above.
        let b = unsafe { O::B::read(b, lane) };
        // SAFETY: as above.
        let c = unsafe { O::C::read(c, lane) };
        // SAFETY: as above.
        let d = unsafe { O::D::read(d, lane) };
        // SAFETY: as above.
        unsafe { O::eval(a, b, c, d).write(out, lane) };
    }
}

/// # Safety
/// `rows` contains both registers, in the widths of the comparison.
unsafe fn plain_test<O: Test>(rows: *const u32, [a, b]: [Register; 2], mask: u32) -> u32 {
    let (a, b) = (row(rows, a), row(rows, b));
    let (mut bits, mut left) = (0, mask);
    while left != 0 {
        let lane = next_lane(&mut left);
        // SAFETY: the caller guarantees the rows; `lane` is below 32.
        let a = unsafe { O::A::read(a, lane) };
        // SAFETY: as above.
        let b = unsafe { O::B::read(b, lane) };
        bits |= u32::from(O::eval(a, b)) << lane;
    }
    bits
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
