//! A file from which allocations take pieces.
//!
//! The file is as large as the range of device addresses, and uses memory only for written pages.
//! The sizes of pieces are powers of two, with a list of free pieces per size, so taking and
//! returning take constant time.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::ordered::Ordered;

use super::super::writers;
use super::board::{Board, Slot};
use super::{HEADER, Mapping, Purpose, SharedFile};

/// Sizes to try, largest first. Programs create dozens of pools, and host addresses have 47 bits.
const SIZES: [u64; 3] = [1 << 40, 1 << 36, 1 << 33];

const SMALLEST: u64 = 512;

/// Minimum size of a piece whose memory is returned to the system when it is freed.
const RETURNED: u64 = 64 << 10;

/// The file, mapped as a whole.
#[derive(Debug)]
pub(in super::super) struct Arena {
    pub(in super::super) file: Arc<SharedFile>,
    mapping: Mapping,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The first byte that was never part of a piece.
    fresh: u64,
    free: Ordered<Vec<u64>>,
}

impl Arena {
    pub(in super::super) fn create(purpose: Purpose, device: u32) -> Option<Arc<Self>> {
        let sizes = if purpose == Purpose::Pool { &SIZES[1..] } else { &SIZES };
        sizes.iter().find_map(|&bytes| {
            let file = SharedFile::create(purpose, bytes, device)?;
            let mapping = file.map(0, bytes)?;
            Some(Arc::new(Self { file, mapping, state: Mutex::default() }))
        })
    }

    pub(in super::super) fn take(self: &Arc<Self>, bytes: u64) -> Option<Piece> {
        let size = bytes.checked_next_power_of_two()?.max(SMALLEST);
        let mut state = self.lock();
        let again = state.free.get_mut(size).and_then(Vec::pop);
        let offset = match again {
            Some(offset) => offset,
            None => {
                let offset = state.fresh.checked_next_multiple_of(size.min(HEADER))?;
                let end = offset.checked_add(size).filter(|end| *end <= self.file.bytes())?;
                state.fresh = end;
                offset
            }
        };
        drop(state);
        let piece = Piece { arena: Arc::clone(self), offset, size, exported: OnceLock::new() };
        if again.is_some() && size < RETURNED {
            piece.clear();
        }
        Some(piece)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of an arena, returned to it on drop.
#[derive(Debug)]
pub(in super::super) struct Piece {
    pub(in super::super) arena: Arc<Arena>,
    /// Its offset in the file, without the header.
    pub(in super::super) offset: u64,
    size: u64,
    /// Its slot for other processes, after it was exported.
    exported: OnceLock<Option<Slot>>,
}

impl Piece {
    pub(in super::super) fn pointer(&self) -> *mut u8 {
        self.arena.mapping.pointer().wrapping_add(self.offset as usize)
    }

    /// Exports it, and returns its slot for other processes. Returns `None` if the board is full.
    pub(in super::super) fn export(&self, board: &Arc<Board>) -> Option<&Slot> {
        writers::share();
        self.exported.get_or_init(|| Slot::new_memory(board)).as_ref()
    }

    fn clear(&self) {
        // SAFETY: within the mapping, which the arena keeps alive, and used only by this piece.
        unsafe { self.pointer().write_bytes(0, self.size as usize) };
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let Some(Some(slot)) = self.exported.get() {
            // Other processes that opened it keep it; its bytes are freed with the last of them.
            if slot.end_memory() {
                return;
            }
        }
        if self.size >= RETURNED && !self.arena.file.forget(self.offset, self.size) {
            self.clear();
        }
        self.arena.lock().free.get_or_insert_with(self.size, Vec::new).push(self.offset);
    }
}
