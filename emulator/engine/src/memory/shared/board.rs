//! Shared state of allocations and events: counters in a file, for other processes.
//!
//! A slot is used once. It takes 64 bytes in a file of which only the used pages have memory.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::{Mapping, Purpose, SharedFile, os};

const SLOT: u64 = 64;

const MOST: u64 = 1 << 24;

#[derive(Debug)]
pub(in super::super) struct Board {
    pub(in super::super) file: Arc<SharedFile>,
    mapping: Arc<Mapping>,
    next: AtomicU64,
}

impl Board {
    pub(in super::super) fn create() -> Option<Arc<Self>> {
        let file = SharedFile::create(Purpose::Board, SLOT * MOST, 0)?;
        let mapping = Arc::new(file.map(0, SLOT * MOST)?);
        Some(Arc::new(Self { file, mapping, next: AtomicU64::new(0) }))
    }
}

#[derive(Debug)]
pub(in super::super) struct Slot {
    mapping: Arc<Mapping>,
    at: usize,
    pub(in super::super) number: u64,
}

impl Slot {
    fn new(board: &Arc<Board>) -> Option<Self> {
        let number = board.next.fetch_add(1, Ordering::Relaxed);
        let at = usize::try_from(number * SLOT).ok()?;
        (number < MOST).then(|| Self { mapping: Arc::clone(&board.mapping), at, number })
    }

    fn of(file: &SharedFile, number: u64) -> Option<Self> {
        let mapping = Arc::new(file.map(number.checked_mul(SLOT)?, SLOT)?);
        Some(Self { mapping, at: 0, number })
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        let pointer = self.mapping.pointer().wrapping_add(self.at + 8 * index);
        // SAFETY: within the mapping, which the slot keeps alive; aligned, because slots are at
        // multiples of 64 bytes from the start of a page; and all processes access it atomically.
        unsafe { AtomicU64::from_ptr(pointer.cast()) }
    }

    pub(super) fn new_memory(board: &Arc<Board>) -> Option<Self> {
        let slot = Self::new(board)?;
        slot.word(0).store(ALIVE, Ordering::SeqCst);
        Some(slot)
    }

    /// Records that the memory was freed. Returns true if another process has it open.
    pub(super) fn end_memory(&self) -> bool {
        self.word(0).fetch_and(!ALIVE, Ordering::SeqCst) != ALIVE
    }

    /// Opens memory of another process, unless it was freed. It exists until the slot is closed.
    pub(in super::super) fn open_memory(board: &SharedFile, number: u64) -> Option<Self> {
        let slot = Self::of(board, number)?;
        let more = |state: u64| (state & ALIVE != 0).then_some(state + OPENED);
        slot.word(0).fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(slot)
    }

    pub(in super::super) fn close_memory(&self) {
        self.word(0).fetch_sub(OPENED, Ordering::SeqCst);
    }
}

/// The state of memory: a bit for allocated, and the number of times it is open elsewhere.
const ALIVE: u64 = 1;
const OPENED: u64 = 2;

/// The state of an event that processes share: the number of records, and the last record reached.
///
/// ```
/// use cuprum_engine::memory::Memory;
///
/// if let Some(event) = Memory::new(1, 1 << 20, false).event() {
///     let record = event.record();
///     event.reach(record);
///     assert!(event.is_reached(record));
/// }
/// ```
#[derive(Debug)]
pub struct EventSlot(pub(in super::super) Slot);

impl EventSlot {
    pub(in super::super) fn new(board: &Arc<Board>) -> Option<Self> {
        Slot::new(board).map(Self)
    }

    pub(in super::super) fn open(board: &SharedFile, number: u64) -> Option<Self> {
        Slot::of(board, number).map(Self)
    }

    /// Returns the number of the latest record, 0 before the first.
    pub fn recorded(&self) -> u64 {
        self.0.word(0).load(Ordering::Acquire)
    }

    /// Records the event in this process. Returns the number of the record.
    pub fn record(&self) -> u64 {
        self.0.word(2).store(u64::from(std::process::id()), Ordering::Release);
        self.0.word(0).fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Notes that a device has reached a record.
    pub fn reach(&self, record: u64) {
        self.0.word(1).fetch_max(record, Ordering::AcqRel);
    }

    /// True if a device has reached a record, or its process has ended, so that no wait hangs.
    pub fn is_reached(&self, record: u64) -> bool {
        if self.0.word(1).load(Ordering::Acquire) >= record {
            return true;
        }
        let recorder = self.0.word(2).load(Ordering::Acquire) as u32;
        recorder != std::process::id() && !os::is_alive(recorder)
    }
}
