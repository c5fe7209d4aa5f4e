//! Decoded instructions: what the execution modes run.

use crate::exec::semantics::video::Video;
use crate::exec::semantics::{PureInfo, TestInfo, Width};
use crate::ptx::Space;

/// Index of a register's first row in the register file of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) struct Register(pub(crate) u32);

/// Index of a predicate; each is one word, a bit for each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) struct Predicate(pub(crate) u32);

impl Predicate {
    /// The predicate that is true in every lane.
    pub(crate) const TRUE: Predicate = Predicate(0);
}

/// What a row of the register file belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowKind {
    /// A value of up to 32 bits.
    Single,
    /// The first row of a value of 64 bits: lanes 0 to 15.
    Lower,
    /// The second row of a value of 64 bits: lanes 16 to 31.
    Upper,
}

/// A predicate as an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Condition {
    pub(crate) predicate: Predicate,
    pub(crate) negated: bool,
}

impl Condition {
    pub(crate) const ALWAYS: Condition = Condition { predicate: Predicate::TRUE, negated: false };
}

/// Logic on predicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

impl Logic {
    pub(crate) fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}

/// A value that a row holds throughout a launch, or a block, or in a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Constant {
    Bits(u64),
    /// Bytes of the kernel's parameters, extended to the width of the row.
    Param {
        offset: u32,
        bytes: u32,
        signed: bool,
    },
    /// Address of a module variable plus an offset.
    Global {
        index: u32,
        offset: i64,
    },
    /// Address of a shared variable within shared memory plus an offset.
    Shared {
        index: u32,
        offset: i64,
    },
    /// Address of a function, as a function pointer holds it.
    Function {
        index: u32,
    },
    Special(Special),
}

/// Special registers that are the same whenever a thread reads them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Special {
    ThreadId(u8),
    BlockDim(u8),
    BlockId(u8),
    GridDim(u8),
    LaneId,
    WarpSize,
    WarpId,
    WarpsPerBlock,
    MultiprocessorId,
    MultiprocessorCount,
    GridId,
    /// Lanes equal to, less, at most, greater, at least this one.
    LaneMask(core::cmp::Ordering, bool),
    DynamicSharedBytes,
    TotalSharedBytes,
    /// With what the system keeps for itself.
    AllSharedBytes,
    SharedWindow,
    LocalWindow,
    ParamWindow,
    WindowBytes,
    Environment(u8),
    Zero,
    One,
}

/// Where an access goes, and what it moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    /// `None` for generic addresses.
    pub(crate) space: Option<Space>,
    pub(crate) address: Address,
    /// Bytes of one element.
    pub(crate) bytes: u32,
    /// Whether a load extends the sign.
    pub(crate) signed: bool,
    /// Width of the registers.
    pub(crate) width: Width,
    /// One a vector element.
    pub(crate) registers: Vec<Register>,
    /// Which slot of the translation cache it uses.
    pub(crate) cache: u32,
    pub(crate) order: Order,
}

/// How far an order between threads reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Scope {
    Block,
    Device,
}

/// How an access takes part in the order between threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Not at all.
    Weak,
    /// Volatile or atomic, so that it must not be split or repeated. With `releases`, what comes before it is seen by
    /// whoever reads what it wrote.
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

/// Integer addition with the carry flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Carry {
    pub(crate) subtract: bool,
    pub(crate) width: Width,
    /// The carry flag comes in.
    pub(crate) reads: bool,
    /// The carry flag goes out.
    pub(crate) writes: bool,
    pub(crate) out: Register,
    pub(crate) sources: [Register; 2],
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
    pub(crate) ty: super::types::Type,
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
    /// Where this holds, nothing is read and zeros are written.
    pub(crate) ignored: Condition,
    /// Translation caches of destination and source.
    pub(crate) caches: [u32; 2],
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`: many bytes at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BulkCopy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    /// The spaces of destination and source.
    pub(crate) spaces: [Space; 2],
    pub(crate) bytes: Register,
    /// What is done to the destination, element by element, rather than to replace it.
    pub(crate) operation: Option<(AtomicOperation, super::types::Type)>,
    /// Translation caches of destination and source.
    pub(crate) caches: [u32; 2],
}

/// `mbarrier`: an operation on a barrier that lives in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MemoryBarrier {
    /// The address is one of shared memory rather than generic.
    pub(crate) shared: bool,
    pub(crate) address: Address,
    pub(crate) action: MemoryBarrierAction,
    pub(crate) cache: u32,
}

/// What is done to a barrier in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryBarrierAction {
    Init {
        count: Register,
    },
    Invalidate,
    /// The phase before goes to `out`. A dropped arrival is not expected in later phases either.
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
    /// Whether the phase with this token, or of this parity, is over.
    Test {
        out: Predicate,
        phase: Register,
        parity: bool,
    },
}

/// A matrix that takes part in a product: `d = a * b + c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    A,
    B,
    C,
    D,
}

/// The type of an element of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Element {
    F16,
    Bf16,
    /// Single precision whose low bits do not count.
    Tf32,
    F32,
    F64,
    S32,
    U8,
    S8,
    U4,
    S4,
    /// A single bit.
    B1,
    E4m3,
    E5m2,
}

impl Element {
    /// Size in a register and in memory.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Element::B1 => 1,
            Element::U4 | Element::S4 => 4,
            Element::U8 | Element::S8 | Element::E4m3 | Element::E5m2 => 8,
            Element::F16 | Element::Bf16 => 16,
            Element::Tf32 | Element::F32 | Element::S32 => 32,
            Element::F64 => 64,
        }
    }

    /// How many share a register.
    pub(crate) fn packed(self) -> u32 {
        (32 / self.bits()).max(1)
    }
}

/// Which lane holds which element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// As PTX documents it for `mma`.
    Documented,
    /// As it documents it for `mma.m8n8k4` of half precision: four products, each of eight lanes. Whether the factors
    /// are stored by column.
    QuadPairs { by_column: [bool; 2] },
    /// Any, as for `wmma`.
    Opaque,
}

/// `mma` and `wmma.mma`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MatrixProduct {
    pub(crate) layout: Layout,
    /// Rows of `a`, columns of `b`, and what they share.
    pub(crate) shape: [u32; 3],
    /// Types of the elements of `a`, `b`, `c` and `d`.
    pub(crate) types: [Element; 4],
    pub(crate) a: Vec<Register>,
    pub(crate) b: Vec<Register>,
    pub(crate) c: Vec<Register>,
    pub(crate) d: Vec<Register>,
    pub(crate) saturate: bool,
    /// Of single bits: whether a product is one where they differ rather than where both are set.
    pub(crate) differ: bool,
}

/// `wmma.load` and `wmma.store`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MatrixMove {
    pub(crate) store: bool,
    pub(crate) part: Part,
    pub(crate) by_column: bool,
    pub(crate) shape: [u32; 3],
    pub(crate) space: Option<Space>,
    pub(crate) ty: Element,
    pub(crate) registers: Vec<Register>,
    pub(crate) address: Address,
    /// Elements from one row, or column, to the next.
    pub(crate) stride: Option<Register>,
    pub(crate) cache: u32,
}

/// `ldmatrix` and `stmatrix`: up to four tiles of 8 x 8, a row at each lane's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MatrixRows {
    pub(crate) store: bool,
    pub(crate) registers: Vec<Register>,
    pub(crate) address: Address,
    pub(crate) space: Option<Space>,
    pub(crate) transposed: bool,
    pub(crate) cache: u32,
}

/// What the lanes of a warp do with matrices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Matrix {
    Product(MatrixProduct),
    Move(MatrixMove),
    Rows(MatrixRows),
    /// `movmatrix`: a tile of 8 x 8, rows for columns.
    Transpose {
        out: Register,
        value: Register,
    },
}

/// What a block barrier does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    /// Counts the threads whose condition holds.
    CountOnes {
        condition: Condition,
        out: Register,
    },
    /// Whether the condition holds in all threads, or in any.
    Combine {
        condition: Condition,
        out: Predicate,
        all: bool,
    },
}

/// Where `shfl` reads from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// Instructions of a warp that wait for the lanes of a member mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Collective {
    Shuffle {
        mode: ShuffleMode,
        out: Register,
        inside: Option<Predicate>,
        value: Register,
        lane: Register,
        clamp: Register,
    },
    VoteAll {
        out: Predicate,
        condition: Condition,
    },
    VoteAny {
        out: Predicate,
        condition: Condition,
    },
    VoteUniform {
        out: Predicate,
        condition: Condition,
    },
    VoteBallot {
        out: Register,
        condition: Condition,
    },
    MatchAny {
        out: Register,
        value: Register,
        width: Width,
    },
    MatchAll {
        out: Register,
        agreed: Option<Predicate>,
        value: Register,
        width: Width,
    },
    Reduce {
        operation: AtomicOperation,
        signed: bool,
        out: Register,
        value: Register,
    },
    Elect {
        out: Register,
        elected: Predicate,
    },
    WarpBarrier,
}

/// Functions that the device provides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SystemCall {
    Printf,
    Assert,
    Malloc,
    Free,
    SetCondition,
}

/// Whom a call goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Callee {
    /// Index into the kernel's functions.
    Direct(u32),
    /// Function pointer.
    Indirect(Register),
    System(SystemCall),
}

/// A call: rows of the caller that hold arguments and results, word by word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<Register>,
    pub(crate) results: Vec<Register>,
}

/// Clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    Cycles,
    CyclesHigh,
    Nanoseconds,
    NanosecondsHigh,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Pure {
        info: &'static PureInfo,
        out: Register,
        sources: [Register; 4],
    },
    Test {
        info: &'static TestInfo,
        out: Predicate,
        inverse: Option<Predicate>,
        sources: [Register; 2],
        combine: Option<(Logic, Condition)>,
    },
    Logic {
        logic: Logic,
        out: Predicate,
        a: Condition,
        b: Condition,
    },
    Select {
        width: Width,
        out: Register,
        a: Register,
        b: Register,
        condition: Condition,
    },
    Carry(Carry),
    Video {
        video: Box<Video>,
        out: Register,
        sources: [Register; 3],
    },
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<Atomic>),
    AsyncCopy(Box<AsyncCopy>),
    BulkCopy(Box<BulkCopy>),
    MemoryBarrier(Box<MemoryBarrier>),
    Matrix(Box<Matrix>),
    /// On a texture or surface object.
    Object(Box<super::texture::ObjectOp>),
    /// Address of a local variable of a device function: its frame plus an offset.
    LocalAddress {
        out: Register,
        offset: u32,
        width: Width,
    },
    /// Takes bytes of the thread's stack, until the function returns.
    Alloca {
        out: Register,
        size: Register,
        /// A power of two.
        align: u32,
        width: Width,
    },
    StackSave {
        out: Register,
        width: Width,
    },
    StackRestore {
        pointer: Register,
        width: Width,
    },
    Branch {
        target: u32,
    },
    BranchIndexed {
        index: Register,
        targets: Box<[u32]>,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    ClusterBarrier {
        /// Whether to wait for the others rather than to announce oneself.
        wait: bool,
    },
    Barrier {
        kind: BarrierKind,
        /// Lanes of a warp come to it together, or not at all.
        aligned: bool,
        id: Register,
        count: Option<Register>,
    },
    Collective {
        operation: Collective,
        members: Register,
    },
    ActiveMask {
        out: Register,
    },
    Clock {
        clock: Clock,
        out: Register,
        width: Width,
    },
    Fence(Scope),
    /// A hint to let others run.
    Yield,
}

/// One decoded instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) guard: Condition,
    pub(crate) op: Op,
    /// Index into the origins of the kernel.
    pub(crate) origin: u32,
}
