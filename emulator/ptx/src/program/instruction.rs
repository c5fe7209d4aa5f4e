//! Decoded instructions, which the execution modes run.

#[doc(hidden)]
pub use super::condition::{Condition, Logic};

use super::bulk::{BulkCopy, BulkGroup, MapOp};
use super::matrix::Matrix;
use super::memory::{Access, AsyncCopy, Atomic, AtomicOperation, MemoryBarrier, Scope};
use super::texture::ObjectOp;
use super::warp_group::GroupOp;
use crate::semantics::shuffle::ShuffleMode;
use crate::semantics::video::Video;
use crate::semantics::{Predicate, PureInfo, Register, TestInfo, Width};

/// Use of a row of the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// A value of up to 32 bits.
    Single,
    /// The first row of a 64-bit value: lanes 0 to 15.
    Lower,
    /// The second row of a 64-bit value: lanes 16 to 31.
    Upper,
}

/// A constant value of a row, for a launch, a block or a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Constant {
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
    /// Address of a function, as in a function pointer.
    Function {
        index: u32,
    },
    Special(Special),
}

/// Special registers whose value never changes within a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Special {
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
    /// Lanes equal to, below, at most, above, or at least this one.
    LaneMask(core::cmp::Ordering, bool),
    DynamicSharedBytes,
    TotalSharedBytes,
    /// All shared memory, including the part that the system reserves.
    AllSharedBytes,
    SharedWindow,
    LocalWindow,
    ParamWindow,
    WindowBytes,
    Environment(u8),
    Zero,
    /// The cluster of the block, among the clusters of the grid.
    ClusterId(u8),
    GridDimInClusters(u8),
    /// The block, among the blocks of its cluster.
    BlockIdInCluster(u8),
    ClusterDim(u8),
    BlockRank,
    BlocksPerCluster,
    /// 1 if the kernel or the launch states clusters.
    ExplicitCluster,
    /// Generic address of the block's part of the cluster's window, and the distance to the next.
    OwnSharedWindow,
    OwnWindowBytes,
}

/// Integer addition with the carry flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carry {
    pub subtract: bool,
    pub width: Width,
    /// True if it reads the carry flag.
    pub reads: bool,
    /// True if it writes the carry flag.
    pub writes: bool,
    pub out: Register,
    pub sources: [Register; 2],
}

/// Operation of a block barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierKind {
    Sync,
    Arrive,
    /// Counts the threads for which the condition holds.
    CountOnes {
        condition: Condition,
        out: Register,
    },
    /// Combines the condition of all threads: whether it holds in all, or in any.
    Combine {
        condition: Condition,
        out: Predicate,
        all: bool,
    },
}

/// Instructions of a warp that wait for the lanes of a member mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collective {
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
pub enum SystemCall {
    Printf,
    Assert,
    Malloc,
    Free,
    SetCondition,
    /// A function of the device runtime library, such as a launch by a kernel.
    Runtime,
}

/// Target of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// Index into the kernel's functions.
    Direct(u32),
    /// Function pointer.
    Indirect(Register),
    System(SystemCall),
}

/// A call, with the rows of the caller that contain arguments and results, word by word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub callee: Callee,
    pub arguments: Vec<Register>,
    pub results: Vec<Register>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    Cycles,
    CyclesHigh,
    Nanoseconds,
    NanosecondsHigh,
}

/// Operation of an instruction.
#[derive(Clone, Debug)]
pub enum Op {
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
    BulkGroup(BulkGroup),
    /// An operation on a tensor map.
    Map(Box<MapOp>),
    MemoryBarrier(Box<MemoryBarrier>),
    Matrix(Box<Matrix>),
    WarpGroup(Box<GroupOp>),
    /// An operation on a texture or surface object.
    Object(Box<ObjectOp>),
    /// Address of a local variable of a device function: its frame plus an offset.
    LocalAddress {
        out: Register,
        offset: u32,
        width: Width,
    },
    /// Allocates on the thread's stack, until the function returns.
    Alloca {
        out: Register,
        size: Register,
        /// Alignment, a power of two.
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
        /// True to wait for the others, false to arrive.
        wait: bool,
        /// True if the arrival has release semantics.
        releases: bool,
    },
    Barrier {
        kind: BarrierKind,
        /// True if the lanes of a warp must reach it together, or not at all.
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
    /// A hint to let other lanes run.
    Yield,
}

/// One decoded instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub guard: Condition,
    pub op: Op,
    /// Index into the origins of the kernel.
    pub origin: u32,
}
