//! Collectives, sends and receives.
//!
//! All are queued on the stream of a scope, a capture or a queue, and the host does not wait. All
//! members make the same collectives in the same order, with as many elements. A loan or region may
//! be on both sides, where both have the same place.

use std::ffi::c_int;

use crate::call::{Call, Work};
use crate::place::{Executor, Place, Read, Write};
use crate::raw::{FnId, ncclDataType_t, ncclRedOp_t};
use crate::{Communicator, Element, NcclError, Reduction};

/// Both sides of a collective, checked but for their lengths.
struct Sides<'r> {
    to: Place<'r>,
    from: Place<'r>,
    data_type: ncclDataType_t,
}

impl Communicator {
    /// Reduces the elements `from` of all members, one by one, into `to` of each.
    ///
    /// # Errors
    /// [`NcclError::Length`] unless both have as many elements; [`NcclError::Elsewhere`] for memory
    /// of another stream or context; [`NcclError::Region`]; [`NcclError::Call`];
    /// [`NcclError::Aborted`]; [`NcclError::InProgress`].
    ///
    /// Example: see [`Communicator`].
    ///
    /// NCCL: `ncclAllReduce`.
    #[doc(alias = "ncclAllReduce")]
    pub fn all_reduce<'c, X: Executor<'c>, T: Element>(
        &'c self,
        on: &X,
        to: &impl Write<X::Tier, Element = T>,
        from: &impl Read<X::Tier, Element = T>,
        by: Reduction<'c, T>,
    ) -> Result<(), NcclError> {
        let sides = self.sides(on, to, from)?;
        same_length(FnId::ncclAllReduce, sides.from.len, sides.to.len)?;
        self.one(on, FnId::ncclAllReduce, &sides, sides.from.len, (by.raw(self)?, 0))
    }

    /// Reduces the elements `from` of all members, one by one, into `to` of the member `root`. The
    /// others write nothing.
    ///
    /// # Errors
    /// [`NcclError::NoMember`]; the errors of [`all_reduce`](Self::all_reduce).
    ///
    /// NCCL: `ncclReduce`.
    #[doc(alias = "ncclReduce")]
    pub fn reduce<'c, X: Executor<'c>, T: Element>(
        &'c self,
        on: &X,
        to: &impl Write<X::Tier, Element = T>,
        from: &impl Read<X::Tier, Element = T>,
        by: Reduction<'c, T>,
        root: u32,
    ) -> Result<(), NcclError> {
        let (sides, root) = (self.sides(on, to, from)?, self.member(root)?);
        same_length(FnId::ncclReduce, sides.from.len, sides.to.len)?;
        self.one(on, FnId::ncclReduce, &sides, sides.from.len, (by.raw(self)?, root))
    }

    /// Copies the elements `from` of the member `root` into `to` of all. The other members' `from`
    /// is not read.
    ///
    /// # Errors
    /// [`NcclError::NoMember`]; the errors of [`all_reduce`](Self::all_reduce).
    ///
    /// NCCL: `ncclBroadcast`.
    #[doc(alias = "ncclBroadcast")]
    pub fn broadcast<'c, X: Executor<'c>, T: Element>(
        &'c self,
        on: &X,
        to: &impl Write<X::Tier, Element = T>,
        from: &impl Read<X::Tier, Element = T>,
        root: u32,
    ) -> Result<(), NcclError> {
        let (sides, root) = (self.sides(on, to, from)?, self.member(root)?);
        same_length(FnId::ncclBroadcast, sides.from.len, sides.to.len)?;
        self.one(on, FnId::ncclBroadcast, &sides, sides.from.len, (ncclRedOp_t::ncclSum, root))
    }

    /// Collects the elements `from` of all members in `to` of each, in the order of their numbers:
    /// `to` has as many as `from` for each member.
    ///
    /// # Errors
    /// [`NcclError::Length`]; the other errors of [`all_reduce`](Self::all_reduce).
    ///
    /// NCCL: `ncclAllGather`.
    #[doc(alias = "ncclAllGather")]
    pub fn all_gather<'c, X: Executor<'c>, T: Element>(
        &'c self,
        on: &X,
        to: &impl Write<X::Tier, Element = T>,
        from: &impl Read<X::Tier, Element = T>,
    ) -> Result<(), NcclError> {
        let sides = self.sides(on, to, from)?;
        same_length(FnId::ncclAllGather, self.of_all(sides.from.len), sides.to.len)?;
        self.one(on, FnId::ncclAllGather, &sides, sides.from.len, (ncclRedOp_t::ncclSum, 0))
    }

    /// Reduces the elements `from` of all members, one by one, and leaves each with its part:
    /// `from` has as many elements as `to` for each member, in the order of their numbers.
    ///
    /// # Errors
    /// [`NcclError::Length`]; the other errors of [`all_reduce`](Self::all_reduce).
    ///
    /// NCCL: `ncclReduceScatter`.
    #[doc(alias = "ncclReduceScatter")]
    pub fn reduce_scatter<'c, X: Executor<'c>, T: Element>(
        &'c self,
        on: &X,
        to: &impl Write<X::Tier, Element = T>,
        from: &impl Read<X::Tier, Element = T>,
        by: Reduction<'c, T>,
    ) -> Result<(), NcclError> {
        let sides = self.sides(on, to, from)?;
        same_length(FnId::ncclReduceScatter, self.of_all(sides.to.len), sides.from.len)?;
        self.one(on, FnId::ncclReduceScatter, &sides, sides.to.len, (by.raw(self)?, 0))
    }

    /// Sends one part of `from` to each member, and receives one part of `to` from each, in the
    /// order of their numbers. The two sides have no elements in common.
    ///
    /// # Errors
    /// [`NcclError::Length`] unless both have as many elements for each member; the other errors of
    /// [`all_reduce`](Self::all_reduce).
    ///
    /// NCCL: a group of `ncclSend` and `ncclRecv` for each member.
    #[doc(alias = "ncclSend")]
    #[doc(alias = "ncclRecv")]
    pub fn all_to_all<'c, X: Executor<'c>, T: Element>(
        &'c self,
        on: &X,
        to: &impl Write<X::Tier, Element = T>,
        from: &impl Read<X::Tier, Element = T>,
    ) -> Result<(), NcclError> {
        let sides = self.sides(on, to, from)?;
        let part = sides.from.len / self.size() as usize;
        same_length(FnId::ncclSend, self.of_all(part), sides.from.len)?;
        same_length(FnId::ncclRecv, sides.from.len, sides.to.len)?;
        let mut calls = Vec::with_capacity(2 * self.size() as usize);
        for peer in 0..self.size() {
            let start = u64::from(peer) * (part * size_of::<T>()) as u64;
            for function in [FnId::ncclSend, FnId::ncclRecv] {
                let mut call = sides.call(function, part, (ncclRedOp_t::ncclSum, peer as c_int));
                (call.from, call.to) = (call.from + start, call.to + start);
                calls.push(call);
            }
        }
        let regions = [sides.to.region, sides.from.region];
        on.submit(Work { member: self, regions, calls: &calls })
    }

    /// Sends elements to the member `to`, which [receives](Self::receive) as many. The stream waits
    /// until that does.
    ///
    /// # Errors
    /// [`NcclError::NoMember`]; the errors of [`all_reduce`](Self::all_reduce).
    ///
    /// Example: see [`Nccl::group`](crate::Nccl::group).
    ///
    /// NCCL: `ncclSend`.
    #[doc(alias = "ncclSend")]
    pub fn send<'c, X: Executor<'c>, T: Element>(
        &'c self,
        on: &X,
        from: &impl Read<X::Tier, Element = T>,
        to: u32,
    ) -> Result<(), NcclError> {
        let (sides, peer) = (self.sides(on, from, from)?, self.member(to)?);
        self.one(on, FnId::ncclSend, &sides, sides.from.len, (ncclRedOp_t::ncclSum, peer))
    }

    /// Receives elements from the member `from`, which [sends](Self::send) as many.
    ///
    /// # Errors
    /// [`NcclError::NoMember`]; the errors of [`all_reduce`](Self::all_reduce).
    ///
    /// NCCL: `ncclRecv`.
    #[doc(alias = "ncclRecv")]
    pub fn receive<'c, X: Executor<'c>, T: Element>(
        &'c self,
        on: &X,
        to: &impl Write<X::Tier, Element = T>,
        from: u32,
    ) -> Result<(), NcclError> {
        let (sides, peer) = (self.sides(on, to, to)?, self.member(from)?);
        self.one(on, FnId::ncclRecv, &sides, sides.to.len, (ncclRedOp_t::ncclSum, peer))
    }

    /// Checks that memory and stream go together, and belong to the context of this member.
    #[inline]
    fn sides<'r, 'c, X: Executor<'c>, T: Element>(
        &self,
        on: &X,
        to: &'r impl Read<X::Tier, Element = T>,
        from: &'r impl Read<X::Tier, Element = T>,
    ) -> Result<Sides<'r>, NcclError> {
        if *on.context() != *self.context() {
            return Err(NcclError::Elsewhere("the stream belongs to another context than the communicator"));
        }
        let (to, from) = (to.place(), from.place());
        if !on.has(&to) || !on.has(&from) {
            return Err(NcclError::Elsewhere(
                "the memory is lent to another stream of the scope, or to another graph",
            ));
        }
        Ok(Sides { to, from, data_type: T::DATA_TYPE })
    }

    /// The number of a member, if there is one.
    fn member(&self, rank: u32) -> Result<c_int, NcclError> {
        let size = self.size();
        if rank < size { Ok(rank as c_int) } else { Err(NcclError::NoMember { rank, size }) }
    }

    /// Number of elements if each member has so many.
    fn of_all(&self, len: usize) -> usize {
        len.saturating_mul(self.size() as usize)
    }

    #[inline]
    fn one<'c, X: Executor<'c>>(
        &'c self,
        on: &X,
        function: FnId,
        sides: &Sides<'_>,
        count: usize,
        choice: (ncclRedOp_t, c_int),
    ) -> Result<(), NcclError> {
        let regions = [sides.to.region, sides.from.region];
        on.submit(Work { member: self, regions, calls: &[sides.call(function, count, choice)] })
    }
}

impl Sides<'_> {
    #[inline]
    const fn call(&self, function: FnId, count: usize, (operator, peer): (ncclRedOp_t, c_int)) -> Call {
        let (from, to) = (self.from.address, self.to.address);
        Call { function, from, to, count, data_type: self.data_type, operator, peer }
    }
}

fn same_length(call: FnId, expected: usize, found: usize) -> Result<(), NcclError> {
    if expected == found { Ok(()) } else { Err(NcclError::Length { call, expected, found }) }
}
