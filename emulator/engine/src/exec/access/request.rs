//! A lane's request for memory, and the place that it may use.

use crate::exec::check::traces::Touch;
use crate::exec::touched::Manner;
use crate::program::memory::Order;
use crate::ptx::Space;

/// Request of a lane.
#[derive(Clone, Copy)]
pub(in crate::exec) struct Request {
    pub(super) space: Option<Space>,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) write: bool,
    pub(super) order: Order,
    /// It makes the new value from the old one.
    pub(super) update: bool,
    /// True for an instruction that is atomic, with or without a result.
    pub(super) atomic: bool,
    /// The kernel learns the old value of an update.
    pub(super) returns: bool,
    /// Bytes that a store writes, where they are known.
    pub(super) stored: Option<Stored>,
    pub(super) cache: usize,
}

/// Most bytes of one lane's access.
pub(super) const MOST_BYTES: usize = 64;

/// The bytes of a store.
#[derive(Clone, Copy)]
pub(super) struct Stored(pub(super) [u8; MOST_BYTES]);

impl Request {
    pub(in crate::exec) fn read(space: Option<Space>, address: u64, bytes: u32, cache: u32) -> Self {
        Request {
            space,
            address,
            bytes,
            write: false,
            order: Order::Weak,
            update: false,
            atomic: false,
            returns: false,
            stored: None,
            cache: cache as usize,
        }
    }

    pub(in crate::exec) fn write(space: Option<Space>, address: u64, bytes: u32, cache: u32) -> Self {
        Request { write: true, ..Request::read(space, address, bytes, cache) }
    }

    pub(in crate::exec) fn update(space: Option<Space>, address: u64, bytes: u32, cache: u32) -> Self {
        Request { update: true, ..Request::write(space, address, bytes, cache) }
    }

    pub(in crate::exec) fn ordered(self, order: Order) -> Self {
        Request { order, ..self }
    }

    pub(super) fn atomically(self, order: Order) -> Self {
        Request { order, atomic: true, ..self }
    }

    pub(super) fn returning(self, returns: bool) -> Self {
        Request { returns, ..self }
    }

    pub(super) fn storing(self, stored: Option<Stored>) -> Self {
        Request { stored, ..self }
    }

    /// The ways in which it uses memory: an update whose result is used reads as well.
    pub(super) fn manners(&self) -> impl Iterator<Item = Manner> {
        let manner = match (self.write, self.atomic || self.order.is_strong()) {
            (false, false) => Manner::Read,
            (true, false) => Manner::Write,
            (false, true) => Manner::StrongRead,
            (true, true) => Manner::StrongWrite,
        };
        [Some(manner), self.returns.then_some(Manner::StrongRead)].into_iter().flatten()
    }

    /// Part of the access in a race, given the place of its bytes.
    #[inline]
    pub(super) fn touch(&self, host: *const u8) -> Touch {
        let count = self.bytes as usize;
        let same = self.stored.is_some_and(|stored| {
            let mut there = [0; MOST_BYTES];
            // SAFETY: the bytes of this access, found to be in live memory; no access has more than `MOST_BYTES`.
            unsafe { std::ptr::copy_nonoverlapping(host, there.as_mut_ptr(), count) };
            there[..count] == stored.0[..count]
        });
        Touch { write: self.write, order: self.order, update: self.update, atomic: self.atomic, same }
    }
}

/// Place of an access that was found to be allowed.
pub(in crate::exec) struct Place {
    pub(in crate::exec) host: *mut u8,
    /// Memory that other workers see.
    pub(super) global: bool,
}
