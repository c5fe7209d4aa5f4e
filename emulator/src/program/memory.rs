//! Memory operations of instructions.

use super::instruction::Condition;
use super::types::Type;
use crate::ptx::Space;
use crate::semantics::{Predicate, Register, Width};

/// How far up in an address of shared memory the rank of the block in its cluster stands.
pub(crate) const RANK_SHIFT: u32 = 24;

/// Where an access goes, and what it moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    /// `None` for generic addresses.
    pub(crate) space: Option<Space>,
    pub(crate) address: Address,
    /// Bytes of one element.
    pub(crate) bytes: u32,
    /// True if a load extends the sign.
    pub(crate) signed: bool,
    /// Width of the registers.
    pub(crate) width: Width,
    /// One register per vector element.
    pub(crate) registers: Vec<Register>,
    /// Its slot in the translation cache.
    pub(crate) cache: u32,
    pub(crate) order: Order,
}

/// Reach of an order between threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Scope {
    Block,
    Device,
}

/// Role of an access in the order between threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Not at all.
    Weak,
    /// Volatile or atomic, so that it must not be split or repeated. With `releases`, earlier accesses are visible to
    /// readers of the value that it wrote.
    Strong { scope: Scope, releases: bool },
}

impl Order {
    pub(crate) fn is_strong(self) -> bool {
        self != Order::Weak
    }
}

/// An address operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    pub(crate) base: Register,
    pub(crate) width: Width,
    pub(crate) offset: i64,
}

/// The operation of `atom` and `red`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtomicOperation {
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
pub(crate) struct Atomic {
    pub(crate) operation: AtomicOperation,
    pub(crate) ty: Type,
    pub(crate) space: Option<Space>,
    pub(crate) address: Address,
    pub(crate) out: Option<Register>,
    pub(crate) operands: [Register; 2],
    pub(crate) order: Order,
    pub(crate) cache: u32,
}

/// `cp.async`: bytes from global to shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AsyncCopy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: u32,
    /// Bytes to read; zeros follow.
    pub(crate) source_bytes: Option<Register>,
    /// Condition under which nothing is read and zeros are written.
    pub(crate) ignored: Condition,
    /// Translation caches of destination and source.
    pub(crate) caches: [u32; 2],
}

/// `mbarrier`: an operation on a barrier that lives in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MemoryBarrier {
    /// `None` for generic addresses.
    pub(crate) space: Option<Space>,
    pub(crate) address: Address,
    pub(crate) action: MemoryBarrierAction,
    pub(crate) cache: u32,
}

/// Operation on a barrier in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryBarrierAction {
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
