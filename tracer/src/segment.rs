//! Files mapped into memory, into which threads write.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use cuprum_sys::{FnId, environment};

use crate::format::{HEADER_WORDS, Header, MAGIC, kind};
use crate::{os, variables};

/// The maximum number of words of a record.
pub(crate) const MOST_WORDS: usize = 256;
/// Bytes of a thread's first segment, and of its largest; each is twice as large as the one before.
const SMALLEST: usize = 16 << 10;
const LARGEST: usize = 1 << 20;

/// More bytes than are possible.
const TOO_MANY: u64 = u64::MAX >> 1;

/// Number of forks between the process that loaded this library and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// Number of the next file of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);
/// Bytes of all files of this process.
static BYTES: AtomicU64 = AtomicU64::new(0);
/// The counter of calls that were not recorded, in the segment about this process.
static LOST: AtomicPtr<u64> = AtomicPtr::new(ptr::null_mut());

/// The folder of the files and their maximum size; `None` if no trace was requested.
struct Place {
    folder: PathBuf,
    most_bytes: u64,
}

fn place() -> Option<&'static Place> {
    static PLACE: OnceLock<Option<Place>> = OnceLock::new();
    let place = PLACE.get_or_init(|| {
        let folder = PathBuf::from(environment::variable(variables::FOLDER)?);
        let most =
            environment::variable(variables::MOST_BYTES).and_then(|bytes| bytes.to_str()?.parse().ok());
        os::in_forked_children(forked);
        Some(Place { folder, most_bytes: most.unwrap_or(TOO_MANY).min(TOO_MANY - 1) })
    });
    place.as_ref()
}

/// A child writes files of its own. The parent's files are still mapped, and belong to the parent.
unsafe extern "C" fn forked() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    NEXT.store(0, Ordering::Relaxed);
    BYTES.store(0, Ordering::Relaxed);
    LOST.store(ptr::null_mut(), Ordering::Relaxed);
}

/// True in a process that was forked from one that wrote.
pub(crate) fn is_forked() -> bool {
    GENERATION.load(Ordering::Relaxed) != 0
}

/// This thread's number in the system, as in its segments.
pub(crate) fn thread_number() -> u32 {
    MINE.get().thread
}

/// A thread's place in the segment that it writes.
#[derive(Clone, Copy)]
struct Mine {
    start: *mut u64,
    words: usize,
    used: usize,
    /// Calls whose records are not complete, in this segment and in those before.
    open: u32,
    generation: u32,
    thread: u32,
}

thread_local! {
    // Without a destructor, so that a thread can call as long as it lives.
    static MINE: Cell<Mine> = const {
        Cell::new(Mine { start: ptr::null_mut(), words: 0, used: 0, open: 0, generation: 0, thread: 0 })
    };
}

/// A record that is being written, with room for [`MOST_WORDS`].
pub(crate) struct Record {
    start: *mut u64,
    words: usize,
    kind: u32,
}

impl Record {
    /// Begins a record of this thread; `None` if there is no room, which is counted if a call is
    /// lost by it.
    pub(crate) fn new(kind: u32) -> Option<Self> {
        let mut mine = MINE.get();
        if mine.generation != GENERATION.load(Ordering::Relaxed) {
            let generation = GENERATION.load(Ordering::Relaxed);
            mine = Mine { start: ptr::null_mut(), words: 0, used: 0, open: 0, generation, thread: 0 };
            MINE.set(mine);
        }
        // One more word stays zero after the last record.
        if mine.words - mine.used <= MOST_WORDS {
            mine = next_segment(mine, kind == kind::CALL)?;
        }
        // SAFETY: within the segment, as was just seen.
        let start = unsafe { mine.start.add(mine.used) };
        Some(Self { start, words: 1, kind })
    }

    /// Adds a word. Adds nothing if there is no more room.
    pub(crate) fn push(&mut self, word: u64) {
        if self.words < MOST_WORDS {
            // SAFETY: within the room that every record has.
            let place = unsafe { self.start.add(self.words) };
            // SAFETY: the place is of this record, which is this thread's alone.
            unsafe { place.write(word) };
            self.words += 1;
        }
    }

    /// Writes a word at a place that has one.
    pub(crate) fn set(&mut self, place: usize, word: u64) {
        if place < self.words {
            // SAFETY: within the record.
            let place = unsafe { self.start.add(place) };
            // SAFETY: the record is this thread's alone.
            unsafe { place.write(word) };
        }
    }

    /// Number of words that can be added.
    pub(crate) fn room(&self) -> usize {
        MOST_WORDS - self.words
    }

    /// Adds bytes, up to the next word.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.push(u64::from_ne_bytes(word));
        }
    }

    /// Ends the record: readers find it from now on.
    pub(crate) fn finish(self) {
        self.publish(0);
    }

    /// Ends the record of a call that has not returned.
    pub(crate) fn leave_open(self) -> Open {
        let start = self.start;
        self.publish(1);
        Open { start, generation: MINE.get().generation }
    }

    fn publish(self, open: u32) {
        // SAFETY: the first word of the record, aligned as all words are, which only atomics access
        // from now on.
        let first = unsafe { AtomicU64::from_ptr(self.start) };
        first.store(first_word(self.kind, self.words), Ordering::Release);
        let mut mine = MINE.get();
        mine.used += self.words;
        mine.open += open;
        MINE.set(mine);
    }
}

/// The record of a call that has not returned yet. Its segment stays mapped until it is completed.
pub(crate) struct Open {
    start: *mut u64,
    generation: u32,
}

impl Open {
    /// Writes words at places of the record, in order.
    pub(crate) fn complete(self, words: &[(usize, u64)]) {
        let mut mine = MINE.get();
        // A child that was forked within the call leaves the record to its parent.
        if mine.generation != self.generation || self.generation != GENERATION.load(Ordering::Relaxed) {
            return;
        }
        for &(place, word) in words {
            // SAFETY: a place of the record, and its segment is still mapped.
            let place = unsafe { self.start.add(place) };
            // SAFETY: aligned as all words are; readers come when the process has ended, or read
            // complete records.
            let place = unsafe { AtomicU64::from_ptr(place) };
            place.store(word, Ordering::Release);
        }
        mine.open -= 1;
        MINE.set(mine);
    }
}

/// Goes on to a new segment. `None` if there can be none.
#[cold]
fn next_segment(before: Mine, is_call: bool) -> Option<Mine> {
    let place = place()?;
    if LOST.load(Ordering::Relaxed).is_null() {
        about_process(place);
    }
    let bytes = (before.words * 16).clamp(SMALLEST, LARGEST);
    // On a full disk no thread tries again.
    let made = file(place, bytes, thread);
    let made = made.inspect_err(|_| BYTES.store(TOO_MANY, Ordering::Relaxed)).ok();
    let Some((start, thread)) = made else {
        let lost = LOST.load(Ordering::Relaxed);
        if is_call && !lost.is_null() {
            // SAFETY: a word of a segment that stays mapped, which only atomics access.
            unsafe { AtomicU64::from_ptr(lost) }.fetch_add(1, Ordering::Relaxed);
        }
        return None;
    };
    if before.open == 0 && !before.start.is_null() {
        // SAFETY: this thread's, whose records are all complete.
        unsafe { os::unmap(before.start, before.words * 8) };
    }
    let mine = Mine { start, words: bytes / 8, used: HEADER_WORDS, thread, ..before };
    MINE.set(mine);
    Some(mine)
}

/// Makes a file, whose bytes are there on disk, and maps it. Also returns the number of its thread.
fn file(place: &Place, bytes: usize, about: fn() -> (u32, [u8; 16])) -> io::Result<(*mut u64, u32)> {
    let more = |all: u64| Some(all + bytes as u64).filter(|&all| all <= place.most_bytes);
    if BYTES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
        return Err(io::ErrorKind::StorageFull.into());
    }
    let (process, (thread, name)) = (std::process::id(), about());
    let mut file = loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        match create(place, &format!("{process}.{number}.calls")) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => break made?,
        }
    };
    // Written, and not only long enough: on a full disk a mapped hole would end the process.
    let header = Header { functions: FnId::ALL.len() as u64, process, thread, time: os::now(), name };
    let mut content: Vec<u8> = header.words().iter().flat_map(|word| word.to_ne_bytes()).collect();
    content.resize(bytes, 0);
    file.write_all(&content)?;
    Ok((os::map(&file, bytes)?, thread))
}

fn create(place: &Place, name: &str) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(place.folder.join(name))
}

/// This thread's number in the system, and its name.
fn thread() -> (u32, [u8; 16]) {
    // A link to "PROCESS/task/THREAD".
    let link = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    let number = link.file_name().and_then(|number| number.to_str()?.parse().ok()).unwrap_or(0);
    let mut name = [0; 16];
    let text = std::fs::read("/proc/thread-self/comm").unwrap_or_default();
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    let bytes = text.len().min(name.len());
    name[..bytes].copy_from_slice(&text[..bytes]);
    (number, name)
}

impl Header {
    fn words(&self) -> [u64; HEADER_WORDS] {
        let (first, last) = self.name.split_at(8);
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        let who = u64::from(self.process) | u64::from(self.thread) << 32;
        [MAGIC, self.functions, who, self.time, word(first), word(last), 0, 0]
    }
}

/// The first word of a record.
fn first_word(kind: u32, words: usize) -> u64 {
    u64::from(kind) << 32 | words as u64
}

/// Writes a segment about this process, with the counter of lost calls. If several threads do so at
/// once, one segment counts.
fn about_process(place: &Place) {
    let Ok((start, _)) = file(place, SMALLEST, || (0, [0; 16])) else { return };
    let command = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let command = &command[..command.len().min(8 * (MOST_WORDS - 8))];
    let parent = std::os::unix::process::parent_id();
    // SAFETY: after the header, within the segment.
    let first = unsafe { start.add(HEADER_WORDS) };
    let mut record = Record { start: first, words: 1, kind: kind::PROCESS };
    record.push(parent.into());
    record.push(crate::driver::version().into());
    record.push(command.len() as u64);
    record.push_bytes(command);
    let words = record.words;
    // SAFETY: the word after the record, within the segment.
    let second = unsafe { first.add(words) };
    // SAFETY: no other thread uses the segment yet.
    unsafe { second.write(first_word(kind::LOST, 2)) };
    // SAFETY: likewise, and aligned.
    unsafe { first.write(first_word(kind::PROCESS, words)) };
    // SAFETY: within the segment.
    let counter = unsafe { second.add(1) };
    // The segment stays mapped, and so does the counter.
    let _ = LOST.compare_exchange(ptr::null_mut(), counter, Ordering::Relaxed, Ordering::Relaxed);
}
