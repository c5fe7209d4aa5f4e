//! A file of which allocations take pieces.
//!
//! The file is as large as the range of device addresses and has memory only where somebody wrote. Pieces come in sizes
//! that are powers of two, each size with a list of those that are free, so that taking and giving back cost the same
//! however many there are.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::ordered::Ordered;

use super::board::{Board, Slot};
use super::{HEADER, Mapping, Purpose, SharedFile};

/// Sizes to try, largest first. Pools are made by the dozen, and addresses of the host have 47 bits.
const SIZES: [u64; 3] = [1 << 40, 1 << 36, 1 << 33];

/// The smallest piece.
const SMALLEST: u64 = 512;

/// From this size on, the memory of a piece goes back to the system when it is free.
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
    /// Free pieces, by size.
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

    /// Zeroed bytes of it.
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

/// Bytes of an arena; given back when it is dropped.
#[derive(Debug)]
pub(in super::super) struct Piece {
    pub(in super::super) arena: Arc<Arena>,
    /// Where it starts, counted from behind the header of the file.
    pub(in super::super) offset: u64,
    size: u64,
    /// What other processes know it by, once it was exported.
    exported: OnceLock<Option<Slot>>,
}

impl Piece {
    pub(in super::super) fn pointer(&self) -> *mut u8 {
        self.arena.mapping.pointer().wrapping_add(self.offset as usize)
    }

    /// What other processes know it by, from now on. `None` if there is no room on the board.
    pub(in super::super) fn export(&self, board: &Arc<Board>) -> Option<&Slot> {
        self.exported.get_or_init(|| Slot::new_memory(board)).as_ref()
    }

    fn clear(&self) {
        // SAFETY: inside of the mapping, which the arena keeps, and nobody's but this piece's.
        unsafe { self.pointer().write_bytes(0, self.size as usize) };
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let Some(Some(slot)) = self.exported.get() {
            // Whoever has it open keeps it; its bytes are gone with the last process that has them.
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
