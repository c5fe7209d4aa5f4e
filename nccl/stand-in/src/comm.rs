//! Communicators.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use cuprum_sys::{CUcontext, CUevent, CUstream};

use crate::code;
use crate::driver::{Staging, in_context};
use crate::messages::{BYE, JOIN, JOINED, LOST, RESULT};
use crate::wire::{Message, receive, send};

/// The meeting point of a group: the port of its hub, and its key there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub(crate) port: u16,
    pub(crate) key: u64,
}

/// A member of a group.
pub(crate) struct Comm {
    pub(crate) meeting: Meeting,
    pub(crate) rank: u64,
    pub(crate) size: u64,
    pub(crate) device: i32,
    pub(crate) context: CUcontext,
    /// True if the communicator retained the context.
    pub(crate) retained: bool,
    pub(crate) is_blocking: bool,
    link: OnceLock<TcpStream>,
    sending: Mutex<()>,
    state: Mutex<State>,
    changed: Condvar,
    is_over: AtomicBool,
    requests: AtomicU64,
    pub(crate) idle: Mutex<Vec<Staging>>,
    /// Factors of premultiplied sums, by their number.
    pub(crate) factors: Mutex<Vec<Option<(u64, u64)>>>,
    /// The last stream with an operation, and an event after the arrival of that.
    pub(crate) last: Mutex<Option<(CUstream, CUevent)>>,
}

#[derive(Default)]
struct State {
    code: i32,
    /// Operations that arrived and wait for a result.
    pending: HashMap<u64, Arc<Slot>>,
    asked: HashMap<u64, Sender<Message>>,
    /// Batches that are queued and not done.
    queued: usize,
}

/// The destination of the result of an operation.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) staging: Staging,
    pub(crate) incoming: usize,
}

impl Comm {
    pub(crate) fn new(
        meeting: Meeting,
        (rank, size): (u64, u64),
        (device, context, retained): (i32, CUcontext, bool),
        is_blocking: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            meeting,
            rank,
            size,
            device,
            context,
            retained,
            is_blocking,
            link: OnceLock::new(),
            sending: Mutex::new(()),
            state: Mutex::new(State { code: code::IN_PROGRESS, ..State::default() }),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            idle: Mutex::default(),
            factors: Mutex::default(),
            last: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn code(&self) -> i32 {
        self.lock().code
    }

    fn set_code(&self, code: i32) {
        let mut state = self.lock();
        // The first error stays.
        if matches!(state.code, code::SUCCESS | code::IN_PROGRESS) {
            state.code = code;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Joins in the background.
    pub(crate) fn start(self: &Arc<Self>) {
        let this = Arc::clone(self);
        thread::spawn(move || {
            let code = this.join();
            this.set_code(code);
            if code == code::SUCCESS {
                this.listen();
            }
        });
    }

    /// Waits until it has joined.
    pub(crate) fn wait(&self) -> i32 {
        let mut state = self.lock();
        while state.code == code::IN_PROGRESS && !self.is_over() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.code
    }

    fn join(&self) -> i32 {
        let Ok(link) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.meeting.port)) else {
            return code::SYSTEM;
        };
        // A message is two writes: without this, the second waits 40 ms for the answer to the
        // first.
        let _ = link.set_nodelay(true);
        let device = u64::from(std::process::id()) << 32 | u64::from(self.device.unsigned_abs());
        let numbers = [self.meeting.key, self.rank, self.size, device, 0, 0, 0, 0];
        let joined = send(&link, &Message { kind: JOIN, numbers, bytes: Vec::new() });
        let Ok(reader) = link.try_clone() else { return code::SYSTEM };
        if self.link.set(link).is_err() || joined.is_err() {
            return code::SYSTEM;
        }
        if self.is_over() {
            self.close();
        }
        match receive(&reader) {
            Ok(message) if message.kind == JOINED => code::SUCCESS,
            Ok(message) if message.kind == LOST => code::REMOTE,
            Ok(_) => code::USAGE,
            Err(_) => code::REMOTE,
        }
    }

    /// Receives results until the connection ends.
    fn listen(&self) {
        let Some(mut link) = self.link.get().and_then(|link| link.try_clone().ok()) else { return };
        loop {
            match receive(&link) {
                Ok(message) if message.kind == RESULT => self.result(message),
                Ok(message) if message.kind == LOST => self.set_code(code::REMOTE),
                Ok(_) => {}
                Err(_) => {
                    if !self.is_over() {
                        self.set_code(code::REMOTE);
                    }
                    // The member that asked gets no answer.
                    self.lock().asked.clear();
                    let _ = link.shutdown(Shutdown::Both);
                    let _ = &mut link;
                    return;
                }
            }
        }
    }

    fn result(&self, message: Message) {
        let [request, code, ..] = message.numbers;
        let (slot, asked) = {
            let mut state = self.lock();
            (state.pending.remove(&request), state.asked.remove(&request))
        };
        if let Some(asked) = asked {
            let _ = asked.send(message);
        } else if code != 0 {
            self.set_code(code as i32);
            // The stream waits forever, as after an error of NCCL's, until it is aborted.
            if let Some(slot) = slot {
                self.lock().pending.insert(request, slot);
            }
        } else if let Some(slot) = slot {
            slot.staging.fill(&message.bytes[..message.bytes.len().min(slot.incoming)]);
            slot.staging.set();
        }
    }

    pub(crate) fn request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends an operation that has arrived. Its slot gets the result.
    pub(crate) fn arrive(&self, slot: &Arc<Slot>, message: &Message) {
        let mut state = self.lock();
        if self.is_over() {
            drop(state);
            return slot.staging.set();
        }
        state.pending.insert(message.numbers[0], Arc::clone(slot));
        drop(state);
        self.send(message);
    }

    fn send(&self, message: &Message) {
        let _alone = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = self.link.get().map(|link| send(link, message));
        if !matches!(sent, Some(Ok(()))) && !self.is_over() {
            self.set_code(code::REMOTE);
        }
    }

    /// Asks the hub, and waits for the answer.
    pub(crate) fn ask(&self, kind: u64, numbers: [u64; 3], bytes: Vec<u8>) -> Result<Message, i32> {
        let (sender, receiver) = mpsc::channel();
        let request = self.request();
        self.lock().asked.insert(request, sender);
        let [a, b, c] = numbers;
        self.send(&Message { kind, numbers: [request, a, b, c, 0, 0, 0, 0], bytes });
        let answer = receiver.recv().map_err(|_| code::REMOTE)?;
        if answer.numbers[1] == 0 { Ok(answer) } else { Err(answer.numbers[1] as i32) }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    pub(crate) fn queue_batch(&self) {
        self.lock().queued += 1;
    }

    pub(crate) fn batch_done(&self, stagings: impl Iterator<Item = Staging>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(stagings);
        self.lock().queued -= 1;
        self.changed.notify_all();
    }

    /// Waits until all operations are done, or one has failed.
    pub(crate) fn flush(&self) -> i32 {
        let mut state = self.lock();
        while state.queued > 0 && state.code == code::SUCCESS && !self.is_over() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.code
    }

    /// Leaves the group in good order, and frees its memory.
    pub(crate) fn leave(&self) -> i32 {
        let code = self.flush();
        self.send(&Message { kind: BYE, ..Message::default() });
        self.is_over.store(true, Ordering::Release);
        self.close();
        let freed = in_context(self.context, |fns| {
            let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
            idle.into_iter().for_each(|staging| staging.free(fns));
            if let Some((_, event)) = self.last.lock().unwrap_or_else(PoisonError::into_inner).take() {
                // SAFETY: it is not used again.
                let _ = unsafe { (fns.cuEventDestroy_v2)(event) };
            }
            Ok(())
        });
        self.release();
        if code == code::SUCCESS { freed.err().unwrap_or(code) } else { code }
    }

    /// Ends all operations, without results. Memory that streams may still use leaks.
    pub(crate) fn abort(&self) {
        self.is_over.store(true, Ordering::Release);
        let pending = std::mem::take(&mut self.lock().pending);
        pending.values().for_each(|slot| slot.staging.set());
        self.changed.notify_all();
        self.close();
        self.release();
    }

    fn close(&self) {
        if let Some(link) = self.link.get() {
            let _ = link.shutdown(Shutdown::Both);
        }
    }

    fn release(&self) {
        if let (true, Ok(fns)) = (self.retained, crate::driver::fns()) {
            // SAFETY: it was retained for this communicator.
            let _ = unsafe { (fns.cuDevicePrimaryCtxRelease_v2)(self.device) };
        }
    }
}

// SAFETY: handles of the driver are numbers, which any thread may use; all else is locked.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}
