//! Operators of reductions.

use std::fmt;
use std::marker::PhantomData;

use crate::raw::{nccl_call, ncclRedOp_t, ncclScalarResidence_t};
use crate::{Communicator, Element, NcclError};

/// Operator of a reduction.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// # context.enter(|cx| {
/// # let (id, stream) = (nccl.unique_id()?, cuprum::Stream::new(cx)?);
/// # let alone = cuprum_nccl::Communicator::init_rank(nccl, cx, id, 0, 1, cuprum_nccl::Config::default())?;
/// use cuprum_nccl::Reduction;
///
/// let mut numbers = cuprum::Buffer::from_slice(cx, &[2.0f32, 3.0])?;
/// cx.scope(&stream, |scope| {
///     let numbers = scope.lend(&mut numbers)?;
///     Ok(alone.all_reduce(scope, &numbers, &numbers, Reduction::Average)?)
/// })?;
/// # Ok(()) })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Reduction<'a, T: Element> {
    /// Sum.
    Sum,
    /// Product.
    Product,
    /// Maximum.
    Max,
    /// Minimum.
    Min,
    /// Sum divided by the number of members; of integers without the remainder.
    Average,
    /// Sum of the elements of each member, multiplied by its own number: see
    /// [`Communicator::premultiplied_sum`].
    Premultiplied(&'a PremultipliedSum<'a, T>),
}

impl<T: Element> Reduction<'_, T> {
    /// The operator's number, if it is one of `member`.
    pub(crate) fn raw(&self, member: &Communicator) -> Result<ncclRedOp_t, NcclError> {
        Ok(match self {
            Self::Sum => ncclRedOp_t::ncclSum,
            Self::Product => ncclRedOp_t::ncclProd,
            Self::Max => ncclRedOp_t::ncclMax,
            Self::Min => ncclRedOp_t::ncclMin,
            Self::Average => ncclRedOp_t::ncclAvg,
            Self::Premultiplied(sum) if std::ptr::eq(sum.member, member) => sum.operator,
            Self::Premultiplied(_) => {
                return Err(NcclError::Elsewhere("the premultiplied sum was made by another communicator"));
            }
        })
    }
}

/// A sum before which each member multiplies its elements by its own number. Made by
/// [`Communicator::premultiplied_sum`]; collectives borrow it together with the communicator.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// use cuprum::{Buffer, Stream};
/// use cuprum_nccl::{Communicator, Config, Reduction};
///
/// context.enter(|cx| {
///     let alone = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 1, Config::default())?;
///     let (stream, mut numbers) = (Stream::new(cx)?, Buffer::from_slice(cx, &[2.0f32, 3.0])?);
///     let half = alone.premultiplied_sum(0.5f32)?;
///     cx.scope(&stream, |scope| {
///         let numbers = scope.lend(&mut numbers)?;
///         Ok(alone.all_reduce(scope, &numbers, &numbers, Reduction::Premultiplied(&half))?)
///     })?;
///     assert_eq!(numbers.to_vec(cx)?, [1.0, 1.5]);
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PremultipliedSum<'a, T> {
    member: &'a Communicator,
    operator: ncclRedOp_t,
    _element: PhantomData<T>,
}

impl Communicator {
    /// Makes a sum before which this member multiplies its elements by `factor`.
    ///
    /// Example: see [`PremultipliedSum`].
    ///
    /// # Errors
    /// [`NcclError::Call`]; [`NcclError::Aborted`]; [`NcclError::InProgress`].
    ///
    /// NCCL: `ncclRedOpCreatePreMulSum`.
    #[doc(alias = "ncclRedOpCreatePreMulSum")]
    pub fn premultiplied_sum<T: Element>(&self, factor: T) -> Result<PremultipliedSum<'_, T>, NcclError> {
        let (mut operator, mut factor) = (ncclRedOp_t::ncclSum, factor);
        let place = (&raw mut factor).cast();
        let residence = ncclScalarResidence_t::ncclScalarHostImmediate;
        self.shared().call(|nccl, comm| {
            // SAFETY: both places outlive the call, which reads the factor; the communicator is
            // live and locked.
            unsafe {
                nccl_call!(
                    nccl,
                    ncclRedOpCreatePreMulSum(&raw mut operator, place, T::DATA_TYPE, residence, comm)
                )
            }
        })?;
        Ok(PremultipliedSum { member: self, operator, _element: PhantomData })
    }
}

/// Collectives that were called keep the factor. With an aborted communicator, the operator has
/// ended.
impl<T> Drop for PremultipliedSum<'_, T> {
    fn drop(&mut self) {
        let operator = self.operator;
        // SAFETY: the communicator is live and locked, and has the operator, which is not used
        // again.
        let destroy = |nccl: crate::Nccl, comm| unsafe { nccl_call!(nccl, ncclRedOpDestroy(operator, comm)) };
        if !self.member.context().driver().library().forked() {
            drop(self.member.shared().call(destroy));
        }
    }
}

impl<T> fmt::Debug for PremultipliedSum<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PremultipliedSum").field(&self.operator).finish()
    }
}
