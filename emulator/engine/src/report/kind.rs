//! Kinds of faults.

use core::fmt;

use cuprum_sys::CUresult;

/// Kind of a fault.
///
/// ```
/// use cuprum_engine::report::{Fault, FaultKind};
///
/// let fault = Fault::new(FaultKind::OutOfBounds, "sum");
/// assert_eq!(fault.code(), cuprum_sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
/// ```
///
/// [`Fault`]: super::Fault
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside of every live allocation.
    OutOfBounds,
    /// An access to memory that was freed.
    UseAfterFree,
    /// An access to the shared memory of a block that has ended, or that is not in the cluster.
    BlockNotPresent,
    /// An access to another block's shared memory by an instruction without support for it.
    OtherBlock,
    /// An address that is not a multiple of the access size.
    Misaligned,
    /// An access at the lower half of this address, whose upper half was lost: in a 32-bit integer,
    /// or in a call by `ctypes` without argument types.
    TruncatedAddress(u64),
    /// An access at or near address zero.
    NullPointer,
    /// An access to host memory that the device cannot see.
    HostPointer,
    /// An access to memory of another device, to which the context has no access.
    OtherDevice,
    /// A store to constant or read-only memory.
    WriteToReadOnly,
    /// A read of uninitialized bytes.
    UninitializedRead,
    /// An uninitialized register, used as an address, as the value of a store, or in a condition.
    UninitializedRegister,
    /// A store of a NaN that the kernel computed from numbers.
    /// [`Fault::related`](super::Fault::related) names the instruction that computed it.
    NanMade,
    /// The kernel executed `trap`.
    Trap,
    /// A failed `assert` in the kernel.
    Assert {
        /// The asserted expression.
        expression: String,
        /// The device function that contains it.
        function: String,
    },
    /// The launch exceeded its budget of instructions, or its time limit.
    Timeout,
    /// Threads of one block wait at different barriers, or some have exited.
    BarrierDivergence,
    /// No thread can run: some wait at barriers of the block, others for the rest of their warp.
    Deadlock,
    /// A call chain deeper than the stack.
    StackOverflow,
    /// Two unordered accesses to the same bytes by different threads, at least one of them writing.
    /// [`Fault::related`](super::Fault::related) names the other access.
    Race(Hazard),
    /// A call or jump to an address that is not code.
    InvalidCode,
    /// Threads at one barrier that expect different numbers of threads.
    BarrierCounts,
    /// A warp-level instruction whose member mask omits an executing thread, or whose members never
    /// arrive or state other masks.
    WrongMembers,
    /// A matrix product of a warp group, or a wait for one, that not all four warps reach.
    IncompleteGroup,
    /// A shuffle that reads from a thread which takes no part in it.
    InactiveLane,
    /// Misuse of the kernel's heap: a double free, or a free of an address never allocated.
    HeapMisuse,
    /// Misuse of a texture or surface object: no such object, or coordinates outside of it.
    Object(String),
    /// A copy of a part of a tensor that hardware does not support, as text.
    TensorCopy(String),
    /// Any other fault, as text.
    Other(String),
}

/// Kind of a race between two accesses.
///
/// ```
/// use cuprum_engine::report::Hazard;
///
/// assert_eq!(Hazard::WriteAfterRead.to_string(), "write after read");
/// ```
///
/// [`Fault`]: super::Fault
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hazard {
    /// A load of a value that another thread stored.
    ReadAfterWrite,
    /// A store over a value that another thread loaded.
    WriteAfterRead,
    /// A store over a value that another thread stored.
    WriteAfterWrite,
    /// A plain load of memory that another thread changes by an atomic instruction, in either
    /// order. Reported only on request.
    ReadBesideAtomic,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadAfterWrite => "read after write",
            Self::WriteAfterRead => "write after read",
            Self::WriteAfterWrite => "write after write",
            Self::ReadBesideAtomic => "plain read beside an atomic instruction",
        })
    }
}

impl FaultKind {
    /// Returns the code that the driver reports for it.
    pub fn code(&self) -> CUresult {
        match self {
            Self::OutOfBounds
            | Self::UseAfterFree
            | Self::TruncatedAddress(_)
            | Self::NullPointer
            | Self::HostPointer
            | Self::OtherDevice
            | Self::WriteToReadOnly
            | Self::Object(_)
            | Self::StackOverflow => CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            Self::Misaligned => CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
            Self::Assert { .. } => CUresult::CUDA_ERROR_ASSERT,
            Self::OtherBlock | Self::IncompleteGroup | Self::TensorCopy(_) => {
                CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            }
            Self::Timeout => CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
            Self::InvalidCode => CUresult::CUDA_ERROR_INVALID_PC,
            Self::UninitializedRead
            | Self::UninitializedRegister
            | Self::NanMade
            | Self::Trap
            | Self::BarrierDivergence
            | Self::Deadlock
            | Self::BarrierCounts
            | Self::Race(_)
            | Self::WrongMembers
            | Self::InactiveLane
            | Self::HeapMisuse
            | Self::BlockNotPresent
            | Self::Other(_) => CUresult::CUDA_ERROR_LAUNCH_FAILED,
        }
    }

    pub(super) fn is_access(&self) -> bool {
        matches!(
            self,
            Self::OutOfBounds
                | Self::UseAfterFree
                | Self::BlockNotPresent
                | Self::OtherBlock
                | Self::Misaligned
                | Self::TruncatedAddress(_)
                | Self::NullPointer
                | Self::HostPointer
                | Self::OtherDevice
                | Self::WriteToReadOnly
                | Self::UninitializedRead
                | Self::Race(_)
        )
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfBounds => "out-of-bounds access",
            Self::UseAfterFree => "use after free",
            Self::BlockNotPresent => {
                "access to the shared memory of a block that has ended or that the cluster does not have"
            }
            Self::OtherBlock => {
                "access to the shared memory of another block by an instruction without `.shared::cluster`"
            }
            Self::Misaligned => "misaligned access",
            Self::TruncatedAddress(whole) => {
                return write!(f, "access at the lower half of the address {whole:#x}, cut to 32 bits");
            }
            Self::NullPointer => "null pointer access",
            Self::HostPointer => "access to host memory that is not mapped to the device",
            Self::OtherDevice => "access to memory of another device without access to it",
            Self::WriteToReadOnly => "write to read-only memory",
            Self::UninitializedRead => "read of uninitialized memory",
            Self::UninitializedRegister => "use of a register that nobody wrote",
            Self::NanMade => "store of a NaN that the kernel has made of numbers",
            Self::Trap => "trap instruction",
            Self::Assert { expression, function } => {
                return write!(f, "assertion `{expression}` failed in `{function}`");
            }
            Self::Timeout => "out of instructions or time (endless loop?)",
            Self::BarrierDivergence => "barrier not reached by all threads of the block",
            Self::Deadlock => "deadlock: no thread can run",
            Self::StackOverflow => "stack overflow",
            Self::BarrierCounts => "threads at one barrier that expect different numbers of threads",
            Self::Race(hazard) => return write!(f, "data race, {hazard}"),
            Self::InvalidCode => "call or jump to an address that is not code",
            Self::WrongMembers => "warp-level operation with wrong member mask",
            Self::IncompleteGroup => "operation of a warp group without all its warps",
            Self::InactiveLane => "shuffle from a thread that takes no part in it",
            Self::HeapMisuse => "wrong free of kernel heap memory",
            Self::Object(text) | Self::TensorCopy(text) | Self::Other(text) => text,
        })
    }
}
