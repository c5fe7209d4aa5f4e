//! The hub: a thread per member, in the process that made the group's name.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use crate::code;
use crate::comm::Meeting;
use crate::messages::{
    BYE, COLLECTIVE, Function, JOIN, JOINED, LOST, NO_COLOR, RECEIVE, REFUSED, RESULT, SEND, SHRINK, SPLIT,
};
use crate::reduce::reduce;
use crate::wire::{Message, receive, send};

/// The groups of this hub, by their keys.
static GROUPS: OnceLock<Mutex<HashMap<u64, Arc<Group>>>> = OnceLock::new();
static PORT: OnceLock<u16> = OnceLock::new();
static KEYS: AtomicU64 = AtomicU64::new(1);

#[derive(Default)]
struct Group(Mutex<State>);

#[derive(Default)]
struct State {
    size: u64,
    members: HashMap<u64, Member>,
    joined: bool,
    /// The calls of the members, by their number in order.
    calls: HashMap<u64, HashMap<u64, Message>>,
    /// Sends and receives, by sender, receiver and number in their order.
    pairs: HashMap<(u64, u64, u64), Pair>,
    /// Shrinking, by the members that are left out.
    shrinks: HashMap<Vec<u8>, HashMap<u64, Message>>,
    lost: Option<u64>,
}

/// A send and its receive.
type Pair = (Option<Message>, Option<Message>);

struct Member {
    link: Arc<TcpStream>,
    device: u64,
    calls: u64,
    /// Number of sends to, and of receives from, each member.
    sent: HashMap<u64, u64>,
    received: HashMap<u64, u64>,
}

/// A new place to meet, at the hub of this process.
pub(crate) fn meeting() -> io::Result<Meeting> {
    let port = match PORT.get() {
        Some(port) => *port,
        None => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = *PORT.get_or_init(|| listener.local_addr().map_or(0, |address| address.port()));
            // If two threads are here at once, one listener stays without clients.
            thread::Builder::new().name("nccl-stand-in".into()).spawn(move || accept(&listener))?;
            port
        }
    };
    Ok(Meeting { port, key: new_key() })
}

/// A key that no group of another process has, by chance or otherwise.
fn new_key() -> u64 {
    u64::from(std::process::id()) << 32 | KEYS.fetch_add(1, Ordering::Relaxed)
}

fn accept(listener: &TcpListener) {
    for link in listener.incoming().flatten() {
        thread::spawn(move || serve(link));
    }
}

fn group(key: u64) -> Arc<Group> {
    let groups = GROUPS.get_or_init(Mutex::default);
    Arc::clone(groups.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default())
}

fn answer(link: &TcpStream, kind: u64, numbers: [u64; 8], bytes: Vec<u8>) {
    // A member that has ended is noticed by the thread that serves it.
    let _ = send(link, &Message { kind, numbers, bytes });
}

fn result(link: &TcpStream, request: u64, code: i32, bytes: Vec<u8>) {
    answer(link, RESULT, [request, code as u64, 0, 0, 0, 0, 0, 0], bytes);
}

/// Serves one member until it leaves.
fn serve(link: TcpStream) {
    let _ = link.set_nodelay(true);
    let link = Arc::new(link);
    let Ok(Message { kind: JOIN, numbers: [key, rank, size, device, ..], .. }) = receive(&link) else {
        return;
    };
    let group = group(key);
    if !group.join(&link, rank, size, device) {
        answer(&link, REFUSED, [0; 8], Vec::new());
        return;
    }
    loop {
        match receive(&link) {
            Ok(message) if message.kind == BYE => return,
            Ok(message) => group.take(rank, message),
            Err(_) => return group.lose(rank),
        }
    }
}

impl Group {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(&self, link: &Arc<TcpStream>, rank: u64, size: u64, device: u64) -> bool {
        let mut state = self.lock();
        let is_taken =
            state.members.contains_key(&rank) || state.members.values().any(|one| one.device == device);
        if (state.size != 0 && state.size != size) || rank >= size || is_taken {
            return false;
        }
        state.size = size;
        let (sent, received) = (HashMap::new(), HashMap::new());
        state.members.insert(rank, Member { link: Arc::clone(link), device, calls: 0, sent, received });
        if let Some(lost) = state.lost {
            answer(link, LOST, [lost, 0, 0, 0, 0, 0, 0, 0], Vec::new());
        } else if state.members.len() as u64 == size {
            state.joined = true;
            state.members.values().for_each(|member| answer(&member.link, JOINED, [0; 8], Vec::new()));
        }
        true
    }

    /// A member's connection has ended: notifies the others.
    fn lose(&self, rank: u64) {
        let mut state = self.lock();
        state.lost = state.lost.or(Some(rank));
        state.members.remove(&rank);
        let numbers = [rank, 0, 0, 0, 0, 0, 0, 0];
        state.members.values().for_each(|member| answer(&member.link, LOST, numbers, Vec::new()));
    }

    fn take(&self, rank: u64, message: Message) {
        let mut state = self.lock();
        match message.kind {
            SEND | RECEIVE => state.pair(rank, message),
            SHRINK => state.shrink(rank, message),
            COLLECTIVE | SPLIT => {
                let Some(member) = state.members.get_mut(&rank) else { return };
                let number = member.calls;
                member.calls += 1;
                let calls = state.calls.entry(number).or_default();
                calls.insert(rank, message);
                if calls.len() as u64 == state.size {
                    let Some(calls) = state.calls.remove(&number) else { return };
                    state.complete(&calls);
                }
            }
            _ => {}
        }
    }
}

impl State {
    fn link(&self, rank: u64) -> Option<&TcpStream> {
        self.members.get(&rank).map(|member| &*member.link)
    }

    fn pair(&mut self, rank: u64, message: Message) {
        let (peer, sends) = (message.numbers[1], message.kind == SEND);
        let Some(member) = self.members.get_mut(&rank) else { return };
        let counts = if sends { &mut member.sent } else { &mut member.received };
        let count = counts.entry(peer).or_default();
        let key = if sends { (rank, peer, *count) } else { (peer, rank, *count) };
        *count += 1;
        let pair = self.pairs.entry(key).or_default();
        *(if sends { &mut pair.0 } else { &mut pair.1 }) = Some(message);
        if pair.0.is_none() || pair.1.is_none() {
            return;
        }
        let Some((Some(sent), Some(received))) = self.pairs.remove(&key) else { return };
        if let (Some(from), Some(to)) = (self.link(key.0), self.link(key.1)) {
            result(from, sent.numbers[0], code::SUCCESS, Vec::new());
            result(to, received.numbers[0], code::SUCCESS, sent.bytes);
        }
    }

    /// All members have made their call.
    fn complete(&self, calls: &HashMap<u64, Message>) {
        let ordered: Vec<&Message> = (0..self.size).filter_map(|rank| calls.get(&rank)).collect();
        let Some(first) = ordered.first() else { return };
        if ordered.iter().all(|one| one.kind == SPLIT) {
            return self.split(&ordered);
        }
        // All but the request and the factor.
        let same = |one: &&Message| one.kind == first.kind && one.numbers[1..6] == first.numbers[1..6];
        let function = Function::of(first.numbers[1]);
        for (rank, one) in ordered.iter().enumerate() {
            let Some(link) = self.link(rank as u64) else { continue };
            match function.filter(|_| ordered.iter().all(same)) {
                Some(function) => {
                    let bytes = outcome(function, rank, &ordered);
                    result(link, one.numbers[0], code::SUCCESS, bytes);
                }
                None => result(link, one.numbers[0], code::USAGE, Vec::new()),
            }
        }
    }

    fn split(&self, ordered: &[&Message]) {
        let mut colors: Vec<u64> =
            ordered.iter().map(|one| one.numbers[1]).filter(|color| *color != NO_COLOR).collect();
        colors.sort_unstable();
        colors.dedup();
        for (rank, one) in ordered.iter().enumerate().filter(|(_, one)| one.numbers[1] == NO_COLOR) {
            self.place(rank as u64, one, [0; 3]);
        }
        for color in colors {
            let mut ranks: Vec<usize> =
                (0..ordered.len()).filter(|&rank| ordered[rank].numbers[1] == color).collect();
            ranks.sort_by_key(|&rank| (ordered[rank].numbers[2], rank));
            let key = new_key();
            for (number, &rank) in ranks.iter().enumerate() {
                self.place(rank as u64, ordered[rank], [key, number as u64, ranks.len() as u64]);
            }
        }
    }

    fn shrink(&mut self, rank: u64, message: Message) {
        let excluded = message.bytes.clone();
        let calls = self.shrinks.entry(excluded.clone()).or_default();
        calls.insert(rank, message);
        let size = self.size - excluded.len() as u64 / 8;
        if calls.len() as u64 != size {
            return;
        }
        let Some(calls) = self.shrinks.remove(&excluded) else { return };
        let mut ranks: Vec<u64> = calls.keys().copied().collect();
        ranks.sort_unstable();
        let key = new_key();
        for (number, rank) in ranks.iter().enumerate() {
            self.place(*rank, &calls[rank], [key, number as u64, size]);
        }
    }

    /// Sends a member its place in a new group.
    fn place(&self, rank: u64, message: &Message, [key, number, size]: [u64; 3]) {
        if let Some(link) = self.link(rank) {
            answer(link, RESULT, [message.numbers[0], 0, key, number, size, 0, 0, 0], Vec::new());
        }
    }
}

/// The part of a collective's result that a member gets.
fn outcome(function: Function, rank: usize, all: &[&Message]) -> Vec<u8> {
    let [_, _, data_type, operator, root, ..] = all[0].numbers;
    let reduced = || {
        let parts: Vec<(&[u8], u64)> = all.iter().map(|one| (&one.bytes[..], one.numbers[6])).collect();
        reduce(data_type, operator, &parts)
    };
    match function {
        Function::AllReduce => reduced(),
        Function::Reduce if rank as u64 == root => reduced(),
        Function::Broadcast => all.get(root as usize).map(|one| one.bytes.clone()).unwrap_or_default(),
        Function::AllGather => all.iter().flat_map(|one| one.bytes.iter().copied()).collect(),
        Function::ReduceScatter => {
            let whole = reduced();
            let part = whole.len() / all.len();
            whole[rank * part..(rank + 1) * part].to_vec()
        }
        _ => Vec::new(),
    }
}
