//! IPC handles: 64 bytes by which another process finds an allocation or an event of this one.
//!
//! A handle contains the process, its descriptor of the file, and the position in it. Another
//! process of the same user opens the descriptor through `/proc`, which needs no privilege and
//! leaves no files.

use std::sync::{Arc, PoisonError};

use super::backing::Backing;
use super::region::Region;
use super::shared::{Board, EventSlot, Purpose, SharedFile, Slot};
use super::{GRANULARITY, Memory, RegionKind, Request};

/// The kind of a handle, in its first word.
const MEMORY: u64 = u64::from_le_bytes(*b"cuprumme");
const EVENT: u64 = u64::from_le_bytes(*b"cuprumev");

/// Reason why a handle could not be created or opened.
///
/// ```
/// use cuprum_engine::memory::{HandleError, Memory};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// assert!(matches!(memory.open(&[0; 64], 1), Err(HandleError::Invalid | HandleError::Unsupported)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleError {
    /// This system cannot share memory between processes.
    Unsupported,
    /// The handle is invalid, or its object has ended.
    Invalid,
    /// The handle belongs to this process.
    Own,
    /// No addresses are left.
    OutOfMemory,
}

#[derive(Debug, Clone, Copy, Default)]
struct Ticket {
    kind: u64,
    process: u32,
    board: i32,
    identity: u64,
    slot: u64,
    arena: i32,
    device: u32,
    arena_identity: u64,
    offset: u64,
    bytes: u64,
}

impl Ticket {
    fn pack(self) -> [u8; 64] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            self.kind,
            pair(self.process, self.board as u32),
            self.identity,
            self.slot,
            pair(self.arena as u32, self.device),
            self.arena_identity,
            self.offset,
            self.bytes,
        ];
        let mut packed = [0; 64];
        for (place, word) in packed.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        packed
    }

    /// Parses a handle, which may be any bytes.
    fn unpack(bytes: &[u8; 64], kind: u64) -> Result<Self, HandleError> {
        let mut words = [0; 8];
        for (word, place) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(place.try_into().map_err(|_| HandleError::Invalid)?);
        }
        let [found, process, identity, slot, arena, arena_identity, offset, bytes] = words;
        if found != kind {
            return Err(HandleError::Invalid);
        }
        Ok(Self {
            kind,
            process: process as u32,
            board: (process >> 32) as i32,
            identity,
            slot,
            arena: arena as i32,
            device: (arena >> 32) as u32,
            arena_identity,
            offset,
            bytes,
        })
    }
}

impl Region {
    /// True if [`Memory::export`] can create a handle for it.
    pub fn is_shareable(&self) -> bool {
        self.kind == RegionKind::Device && self.piece().is_some()
    }
}

/// Memory of another process that is open here.
#[derive(Debug)]
pub(super) struct Opened {
    base: u64,
    count: usize,
}

impl Memory {
    /// Returns the handle of an allocation for other processes, the same as long as it lives.
    ///
    /// # Errors
    ///
    /// [`HandleError::Invalid`] if memory of this kind cannot be exported.
    pub fn export(&self, region: &Region) -> Result<[u8; 64], HandleError> {
        if region.kind != RegionKind::Device {
            return Err(HandleError::Invalid);
        }
        let board = self.board()?;
        let piece = region.piece().ok_or(HandleError::Unsupported)?;
        let slot = piece.export(&board).ok_or(HandleError::OutOfMemory)?;
        let file = &piece.arena.file;
        Ok(Ticket {
            arena: file.number(),
            arena_identity: file.identity().ok_or(HandleError::Unsupported)?,
            device: region.device,
            offset: piece.offset,
            bytes: region.len,
            ..ticket(MEMORY, &board, slot.number)?
        }
        .pack())
    }

    /// Opens memory of another process. Memory that is already open gets the same address, even if
    /// the other process has ended, and has to be closed once more.
    ///
    /// # Errors
    ///
    /// [`HandleError`].
    pub fn open(&self, handle: &[u8; 64], context: u64) -> Result<Region, HandleError> {
        let ticket = Ticket::unpack(handle, MEMORY)?;
        let key = (ticket.identity, ticket.slot);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(again) = opened.get_mut(&key) {
            if let Some(region) = self.find(again.base).filter(|region| region.kind == RegionKind::Opened) {
                again.count += 1;
                return Ok(region);
            }
        }
        let board = self.find_board(&ticket)?;
        let file = SharedFile::of_process(ticket.process, ticket.arena, Purpose::Arena);
        let file = file.filter(|file| file.identity() == Some(ticket.arena_identity));
        let mapping =
            file.and_then(|file| file.map(ticket.offset, ticket.bytes)).ok_or(HandleError::Invalid)?;
        let slot = Slot::open_memory(&board, ticket.slot).ok_or(HandleError::Invalid)?;
        let backing = Backing::mapped(mapping, Some(slot));
        let request =
            Request { kind: RegionKind::Opened, ..Request::device(ticket.bytes, context, ticket.device) };
        let region = self.enter(&request, backing).ok_or(HandleError::OutOfMemory)?;
        opened.insert(key, Opened { base: region.base, count: 1 });
        Ok(region)
    }

    /// Closes memory of another process once. Returns false if no such memory begins there.
    pub fn close(&self, base: u64) -> bool {
        let region = self.find(base).filter(|region| region.base == base);
        if region.is_none_or(|region| region.kind != RegionKind::Opened) {
            return false;
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = opened.values_mut().find(|entry| entry.base == base);
        if let Some(entry) = entry.filter(|entry| entry.count > 1) {
            entry.count -= 1;
            return true;
        }
        opened.retain(|_, entry| entry.base != base);
        drop(opened);
        self.free(base).is_ok()
    }

    /// Creates an event that other processes can open; `None` if this system does not support it.
    pub fn event(&self) -> Option<EventSlot> {
        EventSlot::new(&self.board().ok()?)
    }

    /// Returns a handle of an event, by which other processes open it.
    ///
    /// # Errors
    ///
    /// [`HandleError::Unsupported`].
    pub fn export_event(&self, event: &EventSlot) -> Result<[u8; 64], HandleError> {
        Ok(ticket(EVENT, &*self.board()?, event.0.number)?.pack())
    }

    /// Opens an event of another process.
    ///
    /// # Errors
    ///
    /// [`HandleError`].
    pub fn open_event(&self, handle: &[u8; 64]) -> Result<EventSlot, HandleError> {
        let ticket = Ticket::unpack(handle, EVENT)?;
        EventSlot::open(&*self.find_board(&ticket)?, ticket.slot).ok_or(HandleError::Invalid)
    }

    /// Assigns an address to bytes.
    pub(super) fn enter(&self, request: &Request, backing: Backing) -> Option<Region> {
        let mut state = self.lock();
        let span = request.bytes.checked_next_multiple_of(GRANULARITY)?;
        let base = self.place(&mut state, span, request.align.max(GRANULARITY))?;
        state.taken.insert(base, base + span);
        Some(self.insert(&mut state, request, base, backing, None))
    }

    /// Returns the board of the process that made a handle, if it is another process. The process
    /// number does not show this, because `/proc` also opens by any thread's number.
    fn find_board(&self, ticket: &Ticket) -> Result<Arc<SharedFile>, HandleError> {
        let own = self.board.get().and_then(Option::as_ref).and_then(|board| board.file.identity());
        if own == Some(ticket.identity) {
            return Err(HandleError::Own);
        }
        let board = SharedFile::of_process(ticket.process, ticket.board, Purpose::Board);
        board.filter(|file| file.identity() == Some(ticket.identity)).ok_or(HandleError::Invalid)
    }

    fn board(&self) -> Result<Arc<Board>, HandleError> {
        let board = self.board.get_or_init(Board::create);
        board.clone().ok_or(HandleError::Unsupported)
    }
}

fn ticket(kind: u64, board: &Board, slot: u64) -> Result<Ticket, HandleError> {
    Ok(Ticket {
        kind,
        process: std::process::id(),
        board: board.file.number(),
        identity: board.file.identity().ok_or(HandleError::Unsupported)?,
        slot,
        ..Ticket::default()
    })
}
