//! Communicators: members of groups, made, watched over and ended.

use std::ffi::c_int;
use std::fmt;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use cuprum::region::{Queue, Region};
use cuprum::sys::{CUcontext, FnId as DriverFn, call};
use cuprum::{ContextRef, Current, Stream};

use crate::owner::{Owner, Shared, State};
use crate::raw::{
    NCCL_SHRINK_ABORT, NCCL_SHRINK_DEFAULT, NCCL_SPLIT_NOCOLOR, nccl_call, ncclComm_t, ncclConfig_t,
};
use crate::{Config, Nccl, NcclError, UniqueId};

/// A member of a group of devices, which makes collectives with the others.
///
/// It is used by any thread, one call after the other. A collective borrows it for the scope that
/// it is made in; on a queue of regions it is kept until the work is over, and in a capture until
/// the graph is dropped. When it is dropped it is finalized, which waits for outstanding work of
/// all members, or aborted if it has failed. In a forked child nothing is done.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// use cuprum::{Buffer, Stream};
/// use cuprum_nccl::{Communicator, Config, Reduction};
///
/// context.enter(|cx| {
///     let alone = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 1, Config::default())?;
///     assert_eq!((alone.rank(), alone.size()), (0, 1));
///     let stream = Stream::new(cx)?;
///     let mut sums = Buffer::<f32>::zeroed(cx, 2)?;
///     let numbers = Buffer::from_slice(cx, &[1.0f32, 2.0])?;
///     cx.scope(&stream, |scope| {
///         let (sums, numbers) = (scope.lend(&mut sums)?, scope.lend(&numbers)?);
///         Ok(alone.all_reduce(scope, &sums, &numbers, Reduction::Sum)?)
///     })?;
///     alone.check()?;
///     assert_eq!(sums.to_vec(cx)?, [1.0, 2.0]);
///     Ok(alone.finalize()?)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Communicator {
    owner: Arc<Owner>,
    /// Keeps the owner for the queues that use it, in a block of which they take note.
    kept: OnceLock<Region>,
}

impl Communicator {
    /// Joins the group `id` as number `rank` of `size`, on the device of the current context. Waits
    /// for the others, unless the communicator is to be [non-blocking](Config::non_blocking).
    ///
    /// A member that is missing lets the others wait forever; [`Members`](crate::Members) find that
    /// out before.
    ///
    /// # Errors
    /// [`NcclError::NoMember`]; [`NcclError::NotPrimary`]; [`NcclError::Call`], with
    /// `ncclInvalidUsage` where two members have one device.
    ///
    /// NCCL: `ncclCommInitRankConfig`. Driver: `cuDevicePrimaryCtxGetState`, CUDA 7.0+, and
    /// `cuDevicePrimaryCtxRetain`, CUDA 7.0+.
    #[doc(alias = "ncclCommInitRank")]
    #[doc(alias = "ncclCommInitRankConfig")]
    pub fn init_rank(
        nccl: Nccl,
        cx: &Current<'_, 'static>,
        id: UniqueId,
        rank: u32,
        size: u32,
        config: Config,
    ) -> Result<Self, NcclError> {
        if rank >= size {
            return Err(NcclError::NoMember { rank, size });
        }
        cx.require(cx.context(), DriverFn::cuDevicePrimaryCtxRetain)?;
        check_primary(cx.context())?;
        let (mut comm, mut raw) = (ncclComm_t(ptr::null_mut()), config.as_raw());
        let (size_of_group, number) = (size as c_int, rank as c_int);
        // SAFETY: both places outlive the call; the primary context of a device is current.
        unsafe {
            nccl_call!(
                nccl,
                ncclCommInitRankConfig(&raw mut comm, size_of_group, id.as_raw(), number, &raw mut raw)
            )
        }?;
        Ok(Self::new(nccl, comm, (rank, size), config.is_blocking(), Stream::default_in(cx)))
    }

    /// Makes a group of all these contexts, one of each device, in this process: number 0 is for
    /// the first, and so on.
    ///
    /// ```
    /// # cuprum_nccl_stand_in::example!(nccl, context);
    /// use cuprum_nccl::Communicator;
    ///
    /// let members = Communicator::init_all(nccl, &[context.clone()])?;
    /// assert_eq!(members[0].size(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NcclError::NotPrimary`]; [`NcclError::Call`], with `ncclInvalidUsage` for two contexts of
    /// one device.
    ///
    /// NCCL: `ncclCommInitAll`. Driver: the calls of [`init_rank`](Self::init_rank).
    #[doc(alias = "ncclCommInitAll")]
    pub fn init_all(nccl: Nccl, contexts: &[cuprum::Shared<ContextRef>]) -> Result<Vec<Self>, NcclError> {
        let Some(first) = contexts.first() else { return Ok(Vec::new()) };
        contexts.iter().try_for_each(|context| check_primary(context))?;
        let homes = contexts.iter().map(|context| context.enter_as(|cx| Ok(Stream::default_in(cx))));
        let homes = homes.collect::<Result<Vec<_>, NcclError>>()?;
        let devices: Vec<c_int> = contexts.iter().map(|context| context.device().as_raw()).collect();
        let mut comms = vec![ncclComm_t(ptr::null_mut()); contexts.len()];
        let count = contexts.len() as c_int;
        first.enter_as(|_| {
            // SAFETY: there are so many places and numbers; the contexts of all devices are live.
            unsafe { nccl_call!(nccl, ncclCommInitAll(comms.as_mut_ptr(), count, devices.as_ptr())) }
        })?;
        let size = contexts.len() as u32;
        let all = comms.into_iter().zip(homes).zip(0..);
        Ok(all.map(|((comm, home), rank)| Self::new(nccl, comm, (rank, size), true, home)).collect())
    }

    fn new(
        nccl: Nccl,
        comm: ncclComm_t,
        (rank, size): (u32, u32),
        is_blocking: bool,
        home: Stream<'static>,
    ) -> Self {
        let state = Mutex::new(State::Live(comm));
        let driver = home.context().driver().library();
        let (is_recorded, news) = (AtomicBool::new(false), OnceLock::new());
        let shared = Shared { nccl, driver, state, rank, size, is_blocking, is_recorded, news };
        let shared = Arc::new(shared);
        Self { owner: Arc::new(Owner { shared, home }), kept: OnceLock::new() }
    }

    /// Number of this member, from 0 on.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.shared().rank
    }

    /// Number of members.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.shared().size
    }

    /// The library.
    #[must_use]
    pub fn nccl(&self) -> Nccl {
        self.shared().nccl
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> &ContextRef {
        self.owner.home.context()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.owner.shared
    }

    pub(crate) fn share(&self) -> Arc<Shared> {
        Arc::clone(&self.owner.shared)
    }

    /// A share that keeps the communicator, for a graph.
    pub(crate) fn owner(&self) -> Arc<Owner> {
        Arc::clone(&self.owner)
    }

    /// A region that keeps the communicator, for work on a queue.
    pub(crate) fn kept(&self, queue: &Queue) -> &Region {
        self.kept.get_or_init(|| queue.keep(Arc::clone(&self.owner)))
    }

    /// Fails if the communicator has: then collectives that were queued may not have happened,
    /// although the stream is done, and their results are unspecified. Waits for nothing.
    ///
    /// # Errors
    /// [`NcclError::Call`] with the asynchronous error; [`NcclError::Aborted`]. A non-blocking
    /// communicator that is in progress has not failed.
    ///
    /// NCCL: `ncclCommGetAsyncError`.
    #[doc(alias = "ncclCommGetAsyncError")]
    pub fn check(&self) -> Result<(), NcclError> {
        self.shared().state().map(drop)
    }

    /// Waits until a non-blocking communicator is ready for the next call. A blocking one is ready
    /// at once.
    ///
    /// ```
    /// # cuprum_nccl_stand_in::example!(nccl, context);
    /// use std::time::Duration;
    ///
    /// use cuprum_nccl::{Communicator, Config, NcclError};
    ///
    /// context.enter(|cx| {
    ///     let config = Config::default().non_blocking(true);
    ///     let first = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 2, config)?;
    ///     // The second member never comes.
    ///     let waited = first.wait(Duration::from_millis(20));
    ///     assert!(matches!(waited, Err(NcclError::NotInTime { .. })));
    ///     first.abort("the second member is missing")?;
    ///     assert!(matches!(first.check(), Err(NcclError::Aborted { .. })));
    ///     Ok(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NcclError::NotInTime`]; the errors of [`check`](Self::check).
    pub fn wait(&self, limit: Duration) -> Result<(), NcclError> {
        self.shared().wait(Some(limit))
    }

    /// Makes a group of all members that name the same color, numbered by their keys; `None` takes
    /// no part. All members call it, and no work of this group may be queued.
    ///
    /// ```
    /// # cuprum_nccl_stand_in::example!(nccl, context);
    /// use cuprum_nccl::{Communicator, Config};
    ///
    /// context.enter(|cx| {
    ///     let alone = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 1, Config::default())?;
    ///     let part = alone.split(Some(7), 0, Config::default())?;
    ///     assert_eq!(part.map(|part| part.size()), Some(1));
    ///     assert!(alone.split(None, 0, Config::default())?.is_none());
    ///     Ok(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NcclError::Call`]; [`NcclError::Aborted`]; [`NcclError::InProgress`].
    ///
    /// NCCL: `ncclCommSplit`.
    #[doc(alias = "ncclCommSplit")]
    pub fn split(&self, color: Option<u16>, key: u32, config: Config) -> Result<Option<Self>, NcclError> {
        let color = color.map_or(NCCL_SPLIT_NOCOLOR, c_int::from);
        self.derive(config, |nccl, comm, new, config| {
            // SAFETY: the communicator is live and locked; both places outlive its background work.
            unsafe { nccl_call!(nccl, ncclCommSplit(comm, color, key as c_int, new, config)) }
        })
    }

    /// Makes a group without some members, which do not call this: all others do. With `abort`,
    /// work of this group that is queued is ended first, as when a member died.
    ///
    /// # Errors
    /// [`NcclError::NoMember`] for a number that is not in the group, or for this member itself;
    /// [`NcclError::Missing`] before NCCL 2.27; [`NcclError::Call`]; [`NcclError::Aborted`];
    /// [`NcclError::InProgress`].
    ///
    /// NCCL: `ncclCommShrink`, 2.27+.
    #[doc(alias = "ncclCommShrink")]
    pub fn shrink(&self, without: &[u32], abort: bool, config: Config) -> Result<Self, NcclError> {
        let size = self.size();
        if let Some(&rank) = without.iter().find(|&&rank| rank >= size || rank == self.rank()) {
            return Err(NcclError::NoMember { rank, size });
        }
        let mut without: Vec<c_int> = without.iter().map(|&rank| rank as c_int).collect();
        without.sort_unstable();
        without.dedup();
        let (list, count) = (without.as_mut_ptr(), without.len() as c_int);
        let flags = if abort { NCCL_SHRINK_ABORT } else { NCCL_SHRINK_DEFAULT };
        let made = self.derive(config, |nccl, comm, new, config| {
            // SAFETY: the communicator is live and locked; the places outlive its background work;
            // the list has `count` numbers.
            unsafe { nccl_call!(nccl, ncclCommShrink(comm, list, count, new, config, flags)) }
        })?;
        made.ok_or(NcclError::NoMember { rank: self.rank(), size })
    }

    /// Makes a communicator of this one, and waits until this one is ready again, when the place is
    /// written.
    fn derive(
        &self,
        config: Config,
        make: impl FnOnce(Nccl, ncclComm_t, *mut ncclComm_t, *mut ncclConfig_t) -> Result<(), NcclError>,
    ) -> Result<Option<Self>, NcclError> {
        self.owner.home.enter_as(|cx| {
            // Written in the background, which an error in between does not end: so they are never
            // freed then.
            let new = Box::leak(Box::new(ncclComm_t(ptr::null_mut())));
            let raw = Box::leak(Box::new(config.as_raw()));
            let (new, raw) = (ptr::from_mut(new), ptr::from_mut(raw));
            self.shared().call(|nccl, comm| make(nccl, comm, new, raw))?;
            self.shared().settle()?;
            // SAFETY: it is ours again, as the call is over.
            let comm = *unsafe { Box::from_raw(new) };
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(raw) });
            if comm.0.is_null() {
                return Ok(None);
            }
            let is_blocking = config.is_blocking();
            // A communicator has its numbers only when it is ready.
            let made = Self::new(self.nccl(), comm, (0, 1), is_blocking, Stream::default_in(cx));
            made.shared().settle()?;
            let numbers = made.shared().call(numbers)?;
            let taken = std::mem::replace(&mut *made.shared().lock(), State::Ended(String::new()));
            let State::Live(comm) = taken else { return Ok(None) };
            Ok(Some(Self::new(self.nccl(), comm, numbers, is_blocking, Stream::default_in(cx))))
        })
    }

    /// Completes outstanding work of the communicator with the other members, who call this, too,
    /// and ends it.
    ///
    /// # Errors
    /// [`NcclError::Call`]; [`NcclError::Aborted`]; then it is aborted when the last queue that
    /// uses it is done.
    ///
    /// NCCL: `ncclCommFinalize` and, when nothing uses it any more, `ncclCommDestroy`.
    #[doc(alias = "ncclCommFinalize")]
    #[doc(alias = "ncclCommDestroy")]
    pub fn finalize(self) -> Result<(), NcclError> {
        // SAFETY: the communicator is live and locked.
        let finalized = self.shared().call(|nccl, comm| unsafe { nccl_call!(nccl, ncclCommFinalize(comm)) });
        finalized.and_then(|()| self.shared().settle())
    }

    /// Ends work that is queued, which leaves unspecified results, and the communicator: for all
    /// that share it, and on any thread. It is for errors. Other members notice nothing; all have
    /// to abort. A second call does nothing.
    ///
    /// It waits for a call on a blocking communicator that is in progress.
    ///
    /// # Errors
    /// [`NcclError::Recorded`] if one of its collectives was ever captured or recorded, because
    /// NCCL frees device memory that replays use. To abort it then, drop these graphs and all that
    /// shares it: the last drop aborts after an error. [`NcclError::Call`]; the communicator has
    /// ended all the same.
    ///
    /// NCCL: `ncclCommAbort`.
    #[doc(alias = "ncclCommAbort")]
    pub fn abort(&self, reason: &str) -> Result<(), NcclError> {
        self.shared().abort(reason)
    }
}

/// Rank and size of a communicator that is ready.
fn numbers(nccl: Nccl, comm: ncclComm_t) -> Result<(u32, u32), NcclError> {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: the communicator is live and locked, and the place is ours to write.
    unsafe { nccl_call!(nccl, ncclCommUserRank(comm, &raw mut rank)) }?;
    // SAFETY: as above.
    unsafe { nccl_call!(nccl, ncclCommCount(comm, &raw mut size)) }?;
    Ok((rank.try_into().unwrap_or(0), size.try_into().unwrap_or(0)))
}

/// Fails unless a context is the primary one of its device.
fn check_primary(context: &ContextRef) -> Result<(), NcclError> {
    let (fns, device) = (context.driver().library().fns(), context.device().as_raw());
    let (mut flags, mut active, mut raw) = (0, 0, CUcontext::null());
    // SAFETY: both places outlive the call.
    let answer = unsafe { call!(fns, cuDevicePrimaryCtxGetState(device, &raw mut flags, &raw mut active)) };
    context.check(answer)?;
    if active == 0 {
        return Err(NcclError::NotPrimary);
    }
    // SAFETY: the place outlives the call; released below.
    context.check(unsafe { call!(fns, cuDevicePrimaryCtxRetain(&raw mut raw, device)) })?;
    // SAFETY: it was retained above.
    context.check(unsafe { call!(fns, cuDevicePrimaryCtxRelease_v2(device)) })?;
    if raw == context.as_raw() { Ok(()) } else { Err(NcclError::NotPrimary) }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Communicator").field("rank", &self.rank()).field("size", &self.size()).finish()
    }
}
