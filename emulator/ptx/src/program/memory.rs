//! Memory operations of instructions.

use super::instruction::Condition;
use super::types::Type;
use crate::ptx::Space;
use crate::semantics::{Predicate, Register, Width};

/// How far up in an address of shared memory the rank of the block in its cluster stands.
pub const RANK_SHIFT: u32 = 24;

/// Where an access goes, and what it moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// `None` for generic addresses.
    pub space: Option<Space>,
    pub address: Address,
    /// Bytes of one element.
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
}

/// Reach of an order between threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    Block,
    Device,
}

/// Role of an access in the order between threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Not at all.
    Weak,
    /// Volatile or atomic, so that it must not be split or repeated. With `releases`, earlier accesses are visible to
    /// readers of the value that it wrote.
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

/// `cp.async`: bytes from global to shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsyncCopy {
    pub to: Address,
    pub from: Address,
    pub bytes: u32,
    /// Bytes to read; zeros follow.
    pub source_bytes: Option<Register>,
    /// Condition under which nothing is read and zeros are written.
    pub ignored: Condition,
    /// Translation caches of destination and source.
    pub caches: [u32; 2],
}

/// `mbarrier`: an operation on a barrier that lives in memory.
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
    /// `out` receives the previous phase. A dropped arrival is not expected in later phases either.
    Arrive {
        out: Option<Register>,
        count: Option<Register>,
        transactions: Option<Register>,
        drop: bool,
    },
    /// Bytes announced, or complete.
    Transactions {
        bytes: Register,
        complete: bool,
    },
    /// Tests if the phase with this token, or of this parity, is over.
    Test {
        out: Predicate,
        phase: Register,
        parity: bool,
    },
}
