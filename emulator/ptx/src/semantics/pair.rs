//! Operations on two values in one register.

use super::each::Each;
use super::format::FloatFormat;
use super::lane::Lane;
use super::operation::Pure;
use super::packed::Packed;
use core::marker::PhantomData;

/// An operation on both halves of a register.
pub(crate) struct Both<O>(PhantomData<O>);

impl<O: Pure<D = ()>> Pure for Both<O>
where
    O::Out: Packed,
    O::A: Packed,
    O::B: Packed,
    O::C: Packed,
{
    type Out = <O::Out as Packed>::Whole;
    type A = <O::A as Packed>::Whole;
    type B = <O::B as Packed>::Whole;
    type C = <O::C as Packed>::Whole;
    type D = ();
    const IN_ROWS: bool = O::IN_ROWS && !Self::RARE;
    /// Common kernels only have pairs of half precision.
    const RARE: bool = O::RARE || !matches!(O::Out::FORMAT, Some(FloatFormat::F16 | FloatFormat::Bf16));
    const EACH: Each = Each::halves::<O>(<O::Out as Packed>::BITS);
    const FORMATS: [Option<FloatFormat>; 5] = O::FORMATS;
    #[inline(always)]
    fn eval(a: Self::A, b: Self::B, c: Self::C, (): ()) -> Self::Out {
        let low = O::eval(O::A::low(a), O::B::low(b), O::C::low(c), ());
        let high = O::eval(O::A::high(a), O::B::high(b), O::C::high(c), ());
        O::Out::join(low, high)
    }
}
