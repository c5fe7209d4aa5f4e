//! Groups of collectives that are called together.

use std::cell::RefCell;
use std::fmt;

use cuprum::ContextRef;
use cuprum::region::{Queue, Region};
use cuprum::sys::CUstream;

use crate::Communicator;
use crate::call::{Call, Work, make_all};
use crate::place::{Executor, Place, sealed};
use crate::{Nccl, NcclError};

/// A group of collectives, made by [`Nccl::group`]: called together when its closure has returned.
///
/// One thread that serves several members needs one, and so do sends and receives that wait for
/// each other.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// use cuprum::{Buffer, Stream};
/// use cuprum_nccl::{Communicator, Config};
///
/// context.enter(|cx| {
///     let alone = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 1, Config::default())?;
///     let stream = Stream::new(cx)?;
///     let (mut to, from) = (Buffer::<u32>::zeroed(cx, 3)?, Buffer::from_slice(cx, &[1u32, 2, 3])?);
///     cx.scope(&stream, |scope| {
///         let (to, from) = (scope.lend(&mut to)?, scope.lend(&from)?);
///         // A member sends to itself: without a group, the send would wait for the receive forever.
///         Ok(nccl.group(|group| {
///             let on = group.on(scope);
///             alone.send(&on, &from, 0)?;
///             alone.receive(&on, &to, 0)
///         })?)
///     })?;
///     assert_eq!(to.to_vec(cx)?, [1, 2, 3]);
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Group<'g>(RefCell<Vec<One<'g>>>);

/// One collective of a group.
struct One<'g> {
    member: &'g Communicator,
    call: Call,
    stream: CUstream,
    /// For a collective on a queue, that and its regions.
    noted: Option<(Queue, Vec<Region>)>,
}

impl Nccl {
    /// Runs `body`, which adds collectives to a group, and then calls all of them together. Up to
    /// then none is called: after an error or a panic of `body` none is.
    ///
    /// Example: see [`Group`].
    ///
    /// # Errors
    /// Errors of `body`; [`NcclError::Call`], after which some of the collectives may run;
    /// [`NcclError::Aborted`], after which none does.
    ///
    /// NCCL: `ncclGroupStart`, `ncclGroupEnd`.
    #[doc(alias = "ncclGroupStart")]
    #[doc(alias = "ncclGroupEnd")]
    pub fn group<'g, R>(self, body: impl FnOnce(&Group<'g>) -> Result<R, NcclError>) -> Result<R, NcclError> {
        let group = Group(RefCell::default());
        let result = body(&group)?;
        let all = group.0.into_inner();
        if all.iter().any(|one| one.member.nccl() != self) {
            return Err(NcclError::Elsewhere("a communicator of the group is of another NCCL"));
        }
        let mut queues: Vec<&Queue> = all.iter().filter_map(|one| Some(&one.noted.as_ref()?.0)).collect();
        // In one order in all threads, and each once: its lock is held until the group has been
        // called.
        queues.sort_by_key(|queue| queue.as_raw().0);
        queues.dedup_by_key(|queue| queue.as_raw().0);
        let calls: Vec<_> = all.iter().map(|one| (one.member.shared(), one.call, one.stream)).collect();
        // SAFETY: the memory is lent to scopes that outlive `'g` or to graphs of captures that do,
        // or noted below for queues.
        noting(&queues, &all, || unsafe { make_all(&calls) })?;
        Ok(result)
    }
}

/// Notes the regions of all queues, and then calls.
fn noting(
    queues: &[&Queue],
    all: &[One<'_>],
    call: impl FnOnce() -> Result<(), NcclError>,
) -> Result<(), NcclError> {
    let Some((first, others)) = queues.split_first() else { return call() };
    let is_here = |queue: &Queue| queue.as_raw() == first.as_raw();
    let here = all.iter().filter_map(|one| one.noted.as_ref()).filter(|(queue, _)| is_here(queue));
    first.with_raw(here.flat_map(|(_, regions)| regions), |stream, is_recorded| {
        for one in all.iter().filter(|one| is_recorded && one.stream == stream) {
            one.member.shared().note_recorded();
        }
        noting(others, all, call)
    })
}

impl<'g> Group<'g> {
    /// The place to give to a collective that is to be part of this group: a scope or a queue, in
    /// the group.
    pub const fn on<'a, X>(&'a self, executor: &'a X) -> InGroup<'a, 'g, X> {
        InGroup { group: self, executor }
    }
}

/// A scope or a queue in a group: see [`Group::on`].
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// # context.enter(|cx| {
/// # let (id, stream) = (nccl.unique_id()?, cuprum::Stream::new(cx)?);
/// # let alone = cuprum_nccl::Communicator::init_rank(nccl, cx, id, 0, 1, cuprum_nccl::Config::default())?;
/// let numbers = cuprum::Buffer::from_slice(cx, &[1u32, 2])?;
/// let mut sums = cuprum::Buffer::<u32>::zeroed(cx, 2)?;
/// cx.scope(&stream, |scope| {
///     let (to, from) = (scope.lend(&mut sums)?, scope.lend(&numbers)?);
///     Ok(nccl.group(|group| alone.all_reduce(&group.on(scope), &to, &from, cuprum_nccl::Reduction::Sum))?)
/// })?;
/// assert_eq!(sums.to_vec(cx)?, [1, 2]);
/// # Ok(()) })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct InGroup<'a, 'g, X> {
    group: &'a Group<'g>,
    executor: &'a X,
}

impl<X> sealed::Sealed for InGroup<'_, '_, X> {}

impl<'c: 'g, 'g, X: Executor<'c> + Outlives<'g>> Executor<'c> for InGroup<'_, 'g, X> {
    type Tier = X::Tier;

    fn stream(&self) -> CUstream {
        self.executor.stream()
    }

    fn context(&self) -> &ContextRef {
        self.executor.context()
    }

    fn queue(&self) -> Option<&Queue> {
        self.executor.queue()
    }

    fn has(&self, place: &Place<'_>) -> bool {
        self.executor.has(place)
    }

    fn submit(&self, work: Work<'_, 'c>) -> Result<(), NcclError> {
        let Work { member, regions, calls } = work;
        self.executor.keep(member);
        let noted = match self.queue() {
            Some(queue) => {
                let regions = regions.into_iter().flatten().chain([member.kept(queue)]).cloned().collect();
                Some((queue.clone(), regions))
            }
            None => None,
        };
        let stream = self.stream();
        let all = calls.iter().map(|&call| One { member, call, stream, noted: noted.clone() });
        self.group.0.borrow_mut().extend(all);
        Ok(())
    }
}

/// A place that is still there when the group is called: a scope or a capture that has not ended,
/// or a queue, which is kept.
pub trait Outlives<'g>: sealed::Sealed {}

impl<'scope: 'g, 'g> Outlives<'g> for cuprum::stream::Scope<'scope, '_> {}

impl<'c: 'g, 'g> Outlives<'g> for cuprum::graph::Capture<'c, '_, '_> {}

impl<'g> Outlives<'g> for Queue {}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").finish_non_exhaustive()
    }
}
