//! Objects that a graph gives back.

use super::kept::{Kept, Owner};
use super::lend::LendToGraph;
use super::loan::Loan;
use crate::memory::{Buffer, DeviceData, PinnedBuffer, PitchedBuffer};

/// Objects that a graph kept, after its end. Buffers and host memory can be taken back; dropping
/// this drops the rest.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Buffer;
///
/// let mut graph = cuprum::graph::Graph::new(&cx)?;
/// let memory = graph.lend(Buffer::from_slice(&cx, &[1u32, 2])?)?;
/// let buffer = graph.close()?.take::<Buffer<_>>(memory).ok_or("not given")?;
/// assert_eq!(buffer.to_vec(&cx)?, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Returned<'a>(pub(super) Kept<'a>);

impl<'a> Returned<'a> {
    /// Takes back the owner that was moved in for this loan or for the whole of which it is a part:
    /// a [`Buffer`], [`PitchedBuffer`], [`Vec`] or [`PinnedBuffer`]. Returns `None` if it was taken
    /// before, was not moved in, is an owner of another type, or belongs to another graph.
    pub fn take<O: Given<'a>>(&mut self, loan: Loan<O::Memory>) -> Option<O> {
        // SAFETY: the entry has an owner of this type, and its token has the element type. The
        // owner lives for `'a` or longer.
        self.0.take(loan.place, O::OWNER).map(|owned| unsafe { owned.into_value() })
    }
}

/// An owner that is moved into a graph and taken back by [`Returned::take`].
#[diagnostic::on_unimplemented(
    message = "a graph does not give back `{Self}`",
    note = "a graph gives back `Buffer<_>`, `PitchedBuffer<_>`, `Vec<_>` and `PinnedBuffer<_>`"
)]
pub trait Given<'a>: LendToGraph<'a> {
    #[doc(hidden)]
    const OWNER: Owner;
}

macro_rules! given {
    ($($owner:ident: $memory:ty;)*) => { $(
        impl<'a, T: DeviceData> Given<'a> for $memory {
            const OWNER: Owner = Owner::$owner;
        }
    )* };
}

given! {
    Buffer: Buffer<'a, T>;
    PitchedBuffer: PitchedBuffer<'a, T>;
    Vec: Vec<T>;
    PinnedBuffer: PinnedBuffer<'a, T>;
}
