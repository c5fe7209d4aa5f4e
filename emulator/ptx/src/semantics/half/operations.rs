//! Arithmetic, conversions and comparisons of half precision.

use core::marker::PhantomData;

use super::number::Half;
use crate::semantics::convert::{Float, Integer};
use crate::semantics::float::{NEAREST, ZERO};
use crate::semantics::format::FloatFormat;
use crate::semantics::{Comparison, Lane, Pure, Test};

#[inline(always)]
fn min<H: Half, const NAN: bool>(a: H, b: H) -> H {
    if a.is_nan() || b.is_nan() {
        let other = if a.is_nan() { b } else { a };
        return if NAN || other.is_nan() { H::from_bits(H::NAN) } else { other };
    }
    let (x, y) = (a.to_f32(), b.to_f32());
    if x < y || (x == y && x.is_sign_negative()) { a } else { b }
}

#[inline(always)]
fn negate<H: Half>(a: H) -> H {
    if a.is_nan() { H::from_bits(H::NAN) } else { H::from_bits(a.bits() ^ 0x8000) }
}

#[inline(always)]
fn absolute<H: Half>(a: H) -> H {
    if a.is_nan() { H::from_bits(H::NAN) } else { H::from_bits(a.bits() & 0x7fff) }
}

#[inline(always)]
fn xor_sign<H: Half>(a: H, b: H, magnitude: H) -> H {
    if magnitude.is_nan() {
        magnitude
    } else {
        H::from_bits(magnitude.bits() | ((a.bits() ^ b.bits()) & 0x8000))
    }
}

macro_rules! half_operations {
    ($($(#[$m:meta])* $(@rows($rows:expr))? @rare($rare:expr) $name:ident<$h:ident; $($n:ident),*>($($arg:ident),+ ; $($unused:ident: $unit:ident),*) $body:block)*) => {$(
        $(#[$m])*
        pub(crate) struct $name<$h, $(const $n: bool),*>(PhantomData<$h>);
        impl<$h: Half, $(const $n: bool),*> Pure for $name<$h, $($n),*> {
            type Out = $h;
            $(const IN_ROWS: bool = $rows;)?
            const RARE: bool = $rare;
            half_operations!(@types $h; $($arg),+);
            #[inline(always)]
            fn eval($($arg: $h,)+ $($unused: Self::$unit),*) -> $h $body
        }
    )*};
    (@types $h:ident; $a:ident) => { type A = $h; type B = (); type C = (); type D = (); };
    (@types $h:ident; $a:ident, $b:ident) => { type A = $h; type B = $h; type C = (); type D = (); };
    (@types $h:ident; $a:ident, $b:ident, $c:ident) => { type A = $h; type B = $h; type C = $h; type D = (); };
}

half_operations! {
    @rows(!FTZ && !SAT)
    @rare(FTZ || SAT)
    Add<H; FTZ, SAT>(a, b; _c: C, _d: D) {
        H::nearest(H::sum(a.flush::<FTZ>(), b.flush::<FTZ>())).finish::<FTZ, SAT, false>()
    }
    @rows(!FTZ && !SAT)
    @rare(FTZ || SAT)
    Sub<H; FTZ, SAT>(a, b; _c: C, _d: D) {
        H::nearest(H::sum(a.flush::<FTZ>(), negate(b.flush::<FTZ>()))).finish::<FTZ, SAT, false>()
    }
    @rows(!FTZ && !SAT)
    @rare(FTZ || SAT)
    Mul<H; FTZ, SAT>(a, b; _c: C, _d: D) {
        H::nearest(H::product(a.flush::<FTZ>(), b.flush::<FTZ>())).finish::<FTZ, SAT, false>()
    }
    @rows(!FTZ && !SAT && !RELU)
    @rare(FTZ || SAT || RELU)
    Fma<H; FTZ, SAT, RELU>(a, b, c; _d: D) {
        H::nearest(H::fused(a.flush::<FTZ>(), b.flush::<FTZ>(), c.flush::<FTZ>())).finish::<FTZ, SAT, RELU>()
    }
    /// `.oob`: zero if a factor is the mark with which tensor copies fill out-of-bounds elements.
    @rare(true)
    FmaMarked<H; RELU>(a, b, c; _d: D) {
        const MARK: u16 = 0x7ff7;
        if a.bits() & 0x7fff == MARK || b.bits() & 0x7fff == MARK {
            return H::from_bits(0);
        }
        H::nearest(H::fused(a, b, c)).finish::<false, false, RELU>()
    }
    @rare(FTZ || NAN || XOR_SIGN)
    Min<H; FTZ, NAN, XOR_SIGN>(a, b; _c: C, _d: D) {
        let (a, b) = (a.flush::<FTZ>(), b.flush::<FTZ>());
        if XOR_SIGN { xor_sign(a, b, min::<H, NAN>(absolute(a), absolute(b))) } else { min::<H, NAN>(a, b) }
    }
    @rare(FTZ || NAN || XOR_SIGN)
    Max<H; FTZ, NAN, XOR_SIGN>(a, b; _c: C, _d: D) {
        let (a, b) = (a.flush::<FTZ>(), b.flush::<FTZ>());
        let max = |a, b| negate(min::<H, NAN>(negate(a), negate(b)));
        if XOR_SIGN { xor_sign(a, b, max(absolute(a), absolute(b))) } else { max(a, b) }
    }
    @rare(FTZ)
    Abs<H; FTZ>(a; _b: B, _c: C, _d: D) { absolute(a.flush::<FTZ>()) }
    @rare(FTZ)
    Neg<H; FTZ>(a; _b: B, _c: C, _d: D) { negate(a.flush::<FTZ>()) }
    @rare(true)
    Exp2<H; FTZ>(a; _b: B, _c: C, _d: D) {
        H::round::<NEAREST>(f64::from(a.flush::<FTZ>().to_f32()).exp2()).finish::<FTZ, false, false>()
    }
    @rare(true)
    Tanh<H;>(a; _b: B, _c: C, _d: D) { H::round::<NEAREST>(f64::from(a.to_f32()).tanh()) }
}

/// Rounds a single-precision number. With `RELU`, negative numbers become zero; with `FINITE`,
/// numbers beyond the range become the largest number.
#[inline(always)]
fn from_f32<H: Half, const ROUND: u8, const RELU: bool, const FINITE: bool>(x: f32) -> H {
    let usual = ROUND == NEAREST && !RELU && !FINITE;
    let rounded =
        if usual { <H as Half>::round::<ROUND>(x.into()) } else { H::round_apart::<ROUND>(x.into()) };
    let rounded = rounded.finish::<false, false, RELU>();
    match rounded.bits() & 0x7fff == H::INFINITY && FINITE {
        true => H::from_bits(rounded.bits() - 1),
        false => rounded,
    }
}

/// Two single-precision numbers to a pair; the first becomes the upper half.
pub(crate) struct PairFromF32<H, const ROUND: u8, const RELU: bool, const FINITE: bool>(PhantomData<H>);

impl<H: Half, const ROUND: u8, const RELU: bool, const FINITE: bool> Pure
    for PairFromF32<H, ROUND, RELU, FINITE>
{
    const IN_ROWS: bool = ROUND == NEAREST && !RELU && !FINITE;
    const RARE: bool = !Self::IN_ROWS;
    type Out = H::Whole;
    type A = f32;
    type B = f32;
    type C = ();
    type D = ();
    const FORMATS: [Option<FloatFormat>; 5] = [H::FORMAT, f32::FORMAT, f32::FORMAT, None, None];
    #[inline(always)]
    fn eval(a: f32, b: f32, (): (), (): ()) -> H::Whole {
        H::join(from_f32::<H, ROUND, RELU, FINITE>(b), from_f32::<H, ROUND, RELU, FINITE>(a))
    }
}

/// One single-precision number, with the range limited below or above.
pub(crate) struct LimitedFromF32<H, const ROUND: u8, const RELU: bool, const FINITE: bool>(PhantomData<H>);

impl<H: Half, const ROUND: u8, const RELU: bool, const FINITE: bool> Pure
    for LimitedFromF32<H, ROUND, RELU, FINITE>
{
    const RARE: bool = true;
    type Out = H;
    type A = f32;
    type B = ();
    type C = ();
    type D = ();
    #[inline(always)]
    fn eval(a: f32, (): (), (): (), (): ()) -> H {
        from_f32::<H, ROUND, RELU, FINITE>(a)
    }
}

/// Comparisons, in single precision.
pub(crate) struct Compare<H, O, const FTZ: bool>(PhantomData<(H, O)>);

impl<H: Half, O: Comparison<Core: Test<A = f32, B = f32>>, const FTZ: bool> Comparison
    for Compare<H, O, FTZ>
{
    type Core = CompareCore<H, O::Core, FTZ>;
    const OPPOSITE: bool = O::OPPOSITE;
    const EXCHANGED: bool = O::EXCHANGED;
}

/// The comparisons that are compiled.
pub(crate) struct CompareCore<H, O, const FTZ: bool>(PhantomData<(H, O)>);

impl<H: Half, O: Test<A = f32, B = f32>, const FTZ: bool> Test for CompareCore<H, O, FTZ> {
    type A = H;
    type B = H;
    const RARE: bool = true;
    #[inline(always)]
    fn eval(a: H, b: H) -> bool {
        O::eval(a.flush::<FTZ>().to_f32(), b.flush::<FTZ>().to_f32())
    }
}

impl<H: Half> Float for H {
    const DIGITS: u32 = H::FRACTION + 1;
    #[inline(always)]
    fn widen<const FTZ: bool>(self) -> f64 {
        self.to_f32().into()
    }
    #[inline(always)]
    fn round<const ROUND: u8, const FTZ: bool, const SAT: bool>(x: f64) -> Self {
        let rounded =
            if ROUND == NEAREST { <Self as Half>::round::<ROUND>(x) } else { Self::round_apart::<ROUND>(x) };
        rounded.finish::<false, SAT, false>()
    }
    #[inline(always)]
    fn nearest<const FTZ: bool, const SAT: bool>(x: f64) -> Self {
        Self::round_apart::<NEAREST>(x).finish::<false, SAT, false>()
    }
    #[inline(always)]
    fn from_integer<const ROUND: u8, T: Integer>(value: T) -> Self {
        let value = value.value();
        let x = crate::semantics::soft::integer_to_odd(value < 0, value.unsigned_abs() as u64);
        Self::round_apart::<ROUND>(x)
    }
    #[inline(always)]
    fn to_integer<const ROUND: u8, const FTZ: bool, T: Integer>(self) -> T {
        self.to_f32().to_integer::<ROUND, false, T>()
    }
    #[inline(always)]
    fn to_whole<const ROUND: u8>(self) -> Self {
        let whole = Float::to_whole::<ROUND>(self.to_f32());
        Self::round_apart::<ZERO>(whole.into())
    }
}
