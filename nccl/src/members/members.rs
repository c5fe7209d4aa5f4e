//! Members that have found each other.

use std::fmt;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use cuprum::{Current, Stream};

use super::frame::{BEAT, Kind, receive_alive, send};
use super::join::{Links, join, numbers_of, ranks_of};
use super::{MemberError, World};
use crate::owner::Shared;
use crate::{Communicator, Config, Nccl, NcclError, UniqueId};

/// Time for which the news of an end may come later than NCCL's error.
const NEWS: Duration = Duration::from_secs(2);
/// Interval at which a wait for other members looks up.
const PAUSE: Duration = Duration::from_millis(20);

/// The processes of a group, each of which notices when another one ends.
///
/// Member 0 is connected with each other one by TCP. A process that ends without
/// [leaving](Members::leave) has ended the group: the others'
/// [communicators](Members::communicator) are aborted, so that they do not wait for it forever, and
/// the error has its number.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// use std::time::Duration;
///
/// use cuprum_nccl::{Config, Members, World};
///
/// // One process as it is here; `torchrun`, `mpirun`, `srun` and `World::start_all` start several.
/// let members = Members::join(World::from_environment()?, Duration::from_secs(60))?;
/// context.enter(|cx| {
///     let communicator = members.communicator(nccl, cx, Config::default())?;
///     assert_eq!(communicator.size(), members.world().size());
///     // ... collectives ...
///     members.check().map_err(cuprum::AnyError::other)?;
///     Ok(communicator.finalize()?)
/// })?;
/// members.leave()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Members {
    world: World,
    limit: Duration,
    group: Arc<Group>,
}

/// State that the threads share which listen to the other members.
struct Group {
    rank: u32,
    links: Links,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Shared bytes that came and were not taken, with the number of the sender.
    shared: Vec<(u32, Vec<u8>)>,
    /// The first member that ended otherwise.
    ended: Option<MemberError>,
    communicators: Vec<Weak<Shared>>,
    is_over: bool,
}

impl Members {
    /// Finds the other members, for at most so long; the same limit is for each
    /// [exchange](Self::exchange).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use cuprum_nccl::{MemberError, Members, World};
    ///
    /// // The second process never comes.
    /// let world = World::new(0, 2, 0, "127.0.0.1", 0)?;
    /// let error = Members::join(world, Duration::from_millis(50)).unwrap_err();
    /// assert_eq!(error.to_string(), "1 of 2 processes did not come within 50 ms: number 1");
    /// # Ok::<(), MemberError>(())
    /// ```
    ///
    /// # Errors
    /// [`MemberError::Missing`] names the members that did not come; [`MemberError::NotReached`];
    /// [`MemberError::NoPort`]; [`MemberError::Refused`].
    pub fn join(world: World, limit: Duration) -> Result<Self, MemberError> {
        let links = join(&world, limit)?;
        let (state, changed) = (Mutex::default(), Condvar::new());
        let group = Arc::new(Group { rank: world.rank, links, state, changed });
        // From here on, a drop closes the connections.
        let members = Self { world, limit, group };
        for (rank, link) in &members.group.links {
            let (group, rank) = (Arc::clone(&members.group), *rank);
            let failed = |error: std::io::Error| MemberError::Ended { rank, reason: error.to_string() };
            let link = link.try_clone().map_err(failed)?;
            let thread = std::thread::Builder::new().name("cuprum-members".into());
            thread.spawn(move || group.listen(rank, &link)).map_err(failed)?;
        }
        Ok(members)
    }

    /// Place of this process.
    #[must_use]
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Fails if a member has ended without leaving.
    ///
    /// # Errors
    /// [`MemberError::Ended`] with its number.
    pub fn check(&self) -> Result<(), MemberError> {
        self.group.lock().ended.clone().map_or(Ok(()), Err)
    }

    /// Gives all members the bytes of each, in the order of their numbers. All call it; it waits
    /// for all.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use cuprum_nccl::{MemberError, Members, World};
    ///
    /// let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    /// let member = |rank| {
    ///     let world = World::new(rank, 2, rank, "127.0.0.1", port)?;
    ///     let members = Members::join(world, Duration::from_secs(60))?;
    ///     let all = members.exchange(&[rank as u8; 3])?;
    ///     members.leave().map(|()| all)
    /// };
    /// let both = std::thread::scope(|scope| [0, 1].map(|rank| scope.spawn(move || member(rank))).map(|one| one.join()));
    /// for all in both {
    ///     assert_eq!(all.map_err(|_| "a panic")??, [[0; 3], [1; 3]]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MemberError::Ended`]; [`MemberError::Missing`] for members that did not call it in time.
    pub fn exchange(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, MemberError> {
        if self.world.size == 1 {
            return Ok(vec![mine.to_vec()]);
        }
        let until = Instant::now() + self.limit;
        if self.world.rank != 0 {
            self.send(0, Kind::Shared, mine)?;
            let joined = self.take(0, until)?;
            return Ok(parts(&joined));
        }
        let mut all = vec![mine.to_vec()];
        for rank in 1..self.world.size {
            all.push(self.take(rank, until)?);
        }
        let joined = join_parts(&all);
        for (rank, _) in &self.group.links {
            self.send(*rank, Kind::Shared, &joined)?;
        }
        Ok(all)
    }

    /// Joins a new NCCL group of all members, on the device of the current context. When a member
    /// ends, it is aborted.
    ///
    /// # Errors
    /// [`NcclError::Member`]; the errors of [`Communicator::init_rank`].
    ///
    /// NCCL: `ncclGetUniqueId` by member 0, and `ncclCommInitRankConfig`.
    #[doc(alias = "ncclCommInitRankConfig")]
    pub fn communicator(
        &self,
        nccl: Nccl,
        cx: &Current<'_, 'static>,
        config: Config,
    ) -> Result<Communicator, NcclError> {
        let (rank, size) = (self.world.rank, self.world.size);
        let id = if rank == 0 { nccl.unique_id()?.to_bytes().to_vec() } else { Vec::new() };
        let all = self.exchange(&id)?;
        let bytes = all.first().and_then(|id| <[u8; UniqueId::BYTES]>::try_from(id.as_slice()).ok());
        let id = UniqueId::from_bytes(bytes.unwrap_or([0; UniqueId::BYTES]));
        // NCCL waits for all, however long: a thread of its own waits with it, and stays with it if
        // a member ends.
        let (home, (answer, answers)) = (Stream::default_in(cx), mpsc::channel());
        let make = move || {
            let made = home.enter_as(|cx| Communicator::init_rank(nccl, cx, id, rank, size, config));
            drop(answer.send(made));
        };
        let thread = std::thread::Builder::new().name("cuprum-nccl-join".into()).spawn(make);
        thread.map_err(|error| MemberError::Ended { rank, reason: error.to_string() })?;
        loop {
            match answers.recv_timeout(PAUSE) {
                Ok(made) => {
                    let made = made.map_err(|error| {
                        let news = error.is_of_another_member().then(|| self.group.news()).flatten();
                        news.map_or(error, NcclError::Member)
                    })?;
                    let shared = made.share();
                    self.group.lock().communicators.push(Arc::downgrade(&shared));
                    let group = Arc::downgrade(&self.group);
                    shared.set_news(Box::new(move || group.upgrade()?.news()));
                    // It may have ended just before.
                    self.check()?;
                    return Ok(made);
                }
                Err(RecvTimeoutError::Timeout) => self.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(MemberError::Ended { rank, reason: "a panic".into() }.into());
                }
            }
        }
    }

    /// Leaves the group, when all members do.
    ///
    /// # Errors
    /// [`MemberError::Ended`] if one ended instead; [`MemberError::Missing`] for members that did
    /// not leave in time.
    pub fn leave(self) -> Result<(), MemberError> {
        self.exchange(&[])?;
        self.group.lock().is_over = true;
        for (rank, _) in &self.group.links {
            // The reader may have ended already.
            drop(self.send(*rank, Kind::Leaves, &[]));
        }
        Ok(())
    }

    fn send(&self, rank: u32, kind: Kind, bytes: &[u8]) -> Result<(), MemberError> {
        let Some((_, link)) = self.group.links.iter().find(|(other, _)| *other == rank) else {
            return Ok(());
        };
        let sent = {
            let _alone = self.group.lock();
            send(link, kind, bytes)
        };
        sent.map_err(|error| {
            // The thread that listens may know more.
            self.check().err().unwrap_or(MemberError::Ended { rank, reason: error.to_string() })
        })
    }

    /// Waits for bytes of a member.
    fn take(&self, rank: u32, until: Instant) -> Result<Vec<u8>, MemberError> {
        let mut state = self.group.lock();
        loop {
            if let Some(at) = state.shared.iter().position(|(sender, _)| *sender == rank) {
                return Ok(state.shared.remove(at).1);
            }
            if let Some(ended) = &state.ended {
                return Err(ended.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let milliseconds = self.limit.as_millis().try_into().unwrap_or(u64::MAX);
                return Err(MemberError::Missing { ranks: vec![rank], size: self.world.size, milliseconds });
            }
            let waited = self.group.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Group {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The member that ended, if the news of it comes soon: NCCL may have noticed before.
    fn news(&self) -> Option<MemberError> {
        let nothing = |state: &mut State| state.ended.is_none() && !state.is_over;
        let waited = self.changed.wait_timeout_while(self.lock(), NEWS, nothing);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended.clone()
    }

    /// Listens to a member until it leaves or ends.
    fn listen(&self, rank: u32, link: &TcpStream) {
        let mut last = Instant::now();
        let mut beat = || {
            if last.elapsed() >= BEAT {
                last = Instant::now();
                let _alone = self.lock();
                // An error is found when it is read from.
                drop(send(link, Kind::Beat, &[]));
            }
        };
        loop {
            match receive_alive(link, &mut beat) {
                Ok((Kind::Shared, bytes)) => {
                    self.lock().shared.push((rank, bytes));
                    self.changed.notify_all();
                }
                Ok((Kind::Ended, bytes)) => {
                    let ended = bytes.get(..4).map(ranks_of).and_then(|ranks| ranks.first().copied());
                    let reason = String::from_utf8_lossy(bytes.get(4..).unwrap_or_default()).into_owned();
                    return self.end(ended.unwrap_or(rank), &reason);
                }
                Ok((Kind::Leaves, _)) => return,
                Ok(_) => {}
                Err(error) => return self.end(rank, &format!("its connection ended ({error})")),
            }
            beat();
        }
    }

    /// Notes that a member ended, notifies the others, and aborts all communicators.
    fn end(&self, rank: u32, reason: &str) {
        let ended = MemberError::Ended { rank, reason: reason.into() };
        let mut state = self.lock();
        if state.is_over || state.ended.is_some() {
            return;
        }
        state.ended = Some(ended.clone());
        let communicators = std::mem::take(&mut state.communicators);
        if self.rank == 0 {
            let message = [&numbers_of(&[rank])[..], reason.as_bytes()].concat();
            for (_, link) in self.links.iter().filter(|(other, _)| *other != rank) {
                drop(send(link, Kind::Ended, &message));
            }
        }
        drop(state);
        self.changed.notify_all();
        for communicator in communicators.iter().filter_map(Weak::upgrade) {
            drop(communicator.abort(&ended.to_string()));
        }
    }
}

/// Each part with its length before it.
fn join_parts(all: &[Vec<u8>]) -> Vec<u8> {
    all.iter()
        .flat_map(|part| (part.len() as u32).to_le_bytes().into_iter().chain(part.iter().copied()))
        .collect()
}

fn parts(mut joined: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Some((length, rest)) = joined.split_first_chunk::<4>() {
        let len = (u32::from_le_bytes(*length) as usize).min(rest.len());
        let (part, rest) = rest.split_at(len);
        all.push(part.to_vec());
        joined = rest;
    }
    all
}

/// Without [`leave`](Members::leave), closes the connections, by which the others notice.
impl Drop for Members {
    fn drop(&mut self) {
        let is_over = std::mem::replace(&mut self.group.lock().is_over, true);
        for (_, link) in self.group.links.iter().filter(|_| !is_over) {
            drop(link.shutdown(Shutdown::Both));
        }
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Members").field("world", &self.world).finish_non_exhaustive()
    }
}
