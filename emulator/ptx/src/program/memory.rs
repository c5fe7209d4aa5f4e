//! Memory operations of instructions.

use super::condition::Condition;
use super::types::Type;
use crate::ptx::Space;
use crate::semantics::{Predicate, Register, Width};

/// Position of the rank of the block in its cluster within an address of shared memory.
pub const RANK_SHIFT: u32 = 24;

/// A load or store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// `None` for generic addresses.
    pub space: Option<Space>,
    pub address: Address,
    /// Size of one element in bytes.
    pub bytes: u32,
    /// True if a load extends the sign.
    pub signed: bool,
    /// Width of the registers.
    pub width: Width,
    /// One register per vector element.
    pub registers: Vec<Register>,
    /// Its slot in the translation cache.
    pub cache: u32,
    pub order: Order,
    /// True for a volatile or ordered load that a loop repeats at the same address, until another
    /// thread stores there.
    pub polls: bool,
}

impl Access {
    /// Returns the size of all elements in bytes.
    #[must_use]
    pub fn total_bytes(&self) -> u32 {
        self.bytes * self.registers.len() as u32
    }
}

/// Scope of a synchronization between threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    Block,
    Device,
}

/// Memory order of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// No order.
    Weak,
    /// Volatile or atomic, so it must not be split or repeated. With `releases`, earlier accesses
    /// are visible to threads that read the written value.
    Strong { scope: Scope, releases: bool },
}

impl Order {
    #[inline]
    pub fn is_strong(self) -> bool {
        self != Order::Weak
    }
}

/// An address operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    pub base: Register,
    pub width: Width,
    pub offset: i64,
}

/// The operation of `atom` and `red`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicOperation {
    Add,
    Exchange,
    CompareExchange,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Increment, wrapping to zero beyond the operand.
    Increment,
    /// Decrement, wrapping to the operand.
    Decrement,
}

impl AtomicOperation {
    /// Returns false if it was an exchange that left the value as it was: an attempt that failed.
    #[inline]
    pub fn changes(self, old: u64, [a, b]: [u64; 2]) -> bool {
        match self {
            Self::Exchange => old != a,
            Self::CompareExchange => old == a && old != b,
            _ => true,
        }
    }
}

/// `atom` and `red`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Atomic {
    pub operation: AtomicOperation,
    pub ty: Type,
    pub space: Option<Space>,
    pub address: Address,
    pub out: Option<Register>,
    pub operands: [Register; 2],
    pub order: Order,
    pub cache: u32,
}

/// `cp.async`: copies bytes from global to shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsyncCopy {
    pub to: Address,
    pub from: Address,
    pub bytes: u32,
    /// Bytes to read; zeros follow.
    pub source_bytes: Option<Register>,
    /// Condition under which zeros are written instead of reading.
    pub ignored: Condition,
    /// Translation caches of destination and source.
    pub caches: [u32; 2],
}

/// `mbarrier`: an operation on a barrier in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryBarrier {
    /// `None` for generic addresses.
    pub space: Option<Space>,
    pub address: Address,
    pub action: MemoryBarrierAction,
    pub cache: u32,
}

/// Operation on a barrier in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryBarrierAction {
    Init {
        count: Register,
    },
    Invalidate,
    /// `out` receives the previous phase. With `drop`, later phases expect one arrival less.
    Arrive {
        out: Option<Register>,
        count: Option<Register>,
        transactions: Option<Register>,
        drop: bool,
    },
    /// Announces or completes bytes.
    Transactions {
        bytes: Register,
        complete: bool,
    },
    /// Tests whether the phase with this token or parity is complete.
    Test {
        out: Predicate,
        phase: Register,
        parity: bool,
    },
}
