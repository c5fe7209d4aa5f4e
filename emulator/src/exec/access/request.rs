//! What a lane wants of memory, and where it may have it.

use crate::exec::check::traces::Touch;
use crate::program::memory::Order;
use crate::ptx::Space;

/// What a lane wants.
#[derive(Clone, Copy)]
pub(in crate::exec) struct Request {
    pub(super) space: Option<Space>,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) write: bool,
    pub(super) order: Order,
    /// It makes a new value from the old one.
    pub(super) update: bool,
    /// By an instruction that is atomic, with or without a result.
    pub(super) atomic: bool,
    /// What a store writes, where that is known.
    pub(super) stored: Option<Stored>,
    pub(super) cache: usize,
}

/// The most bytes of one lane's access.
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

    pub(super) fn storing(self, stored: Option<Stored>) -> Self {
        Request { stored, ..self }
    }

    /// How it takes part in a race, given where its bytes are.
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

/// An access found to be allowed: where its bytes are.
pub(in crate::exec) struct Place {
    pub(in crate::exec) host: *mut u8,
    /// Memory that other workers see.
    pub(super) global: bool,
}
