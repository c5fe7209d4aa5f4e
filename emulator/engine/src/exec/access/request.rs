//! A lane's memory request, and the bytes found for it.

use crate::exec::check::traces::Touch;
use crate::exec::touched::Manner;
use crate::program::memory::Order;
use crate::ptx::Space;

#[derive(Clone, Copy)]
pub(in crate::exec) struct Request {
    pub(super) space: Option<Space>,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) write: bool,
    pub(super) order: Order,
    /// True if it computes the new value from the old one.
    pub(super) update: bool,
    /// True for an atomic instruction, with or without a result.
    pub(super) atomic: bool,
    /// True if the kernel receives the old value of an update.
    pub(super) returns: bool,
    /// The bytes that a store writes, if they are known.
    pub(super) stored: Option<Stored>,
    pub(super) cache: usize,
}

pub(super) const MOST_BYTES: usize = 64;

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

    /// Returns the ways in which it accesses memory. An update whose result is used also reads.
    pub(super) fn manners(&self) -> impl Iterator<Item = Manner> {
        let manner = match (self.write, self.atomic || self.order.is_strong()) {
            (false, false) => Manner::Read,
            (true, false) => Manner::Write,
            (false, true) => Manner::StrongRead,
            (true, true) => Manner::StrongWrite,
        };
        [Some(manner), self.returns.then_some(Manner::StrongRead)].into_iter().flatten()
    }

    /// Describes the access for the race check, given the position of its bytes.
    #[inline]
    pub(super) fn touch(&self, host: *const u8) -> Touch {
        let count = self.bytes as usize;
        let same = self.stored.is_some_and(|stored| {
            let mut there = [0; MOST_BYTES];
            // SAFETY: the bytes of this access, in live memory; at most `MOST_BYTES`.
            unsafe { std::ptr::copy_nonoverlapping(host, there.as_mut_ptr(), count) };
            there[..count] == stored.0[..count]
        });
        Touch { write: self.write, order: self.order, update: self.update, atomic: self.atomic, same }
    }
}

pub(in crate::exec) struct Place {
    pub(in crate::exec) host: *mut u8,
    /// True if other workers can access the memory.
    pub(in crate::exec) global: bool,
}
