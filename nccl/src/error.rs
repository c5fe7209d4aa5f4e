//! Errors.

use std::fmt;

use cuprum::region::RegionError;
use cuprum::{AnyError, MemoryError};

use crate::NcclVersion;
use crate::raw::{FnId, ncclResult_t};

/// Error of a call of this crate, found on the host, by NCCL or by the driver.
///
/// ```
/// use cuprum_nccl::{Nccl, NcclError, NcclVersion, raw};
///
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let nccl = cuprum_nccl_stand_in::functions(library);
/// // A library that lacks a function lacks it for the calls that need it.
/// let without = |function: raw::FnId| if function == raw::FnId::ncclCommShrink { std::ptr::null() } else { nccl(function.name()) };
/// // SAFETY: the addresses belong to a library that stays loaded.
/// let nccl = unsafe { Nccl::from_resolver("an older one", without) }?;
/// let error = NcclError::from(nccl.require(raw::FnId::ncclCommShrink).unwrap_err());
/// assert!(matches!(error, NcclError::Missing(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NcclError {
    /// NCCL refused a call.
    #[error(transparent)]
    Call(CallError),
    /// The library lacks a function. Nothing was called.
    #[error(transparent)]
    Missing(#[from] MissingFunction),
    /// The communicator had been aborted. Nothing was called.
    #[error("the communicator was aborted: {reason}")]
    Aborted {
        /// Reason of the abort.
        reason: String,
    },
    /// The communicator is still being made, or an earlier call goes on in the background.
    #[error("an earlier call on the communicator is in progress: wait for it by `Communicator::wait`")]
    InProgress,
    /// A wait ended before the communicator was ready.
    #[error(
        "the communicator was not ready after {milliseconds} ms: some member did not make the same calls"
    )]
    NotInTime {
        /// Time limit.
        milliseconds: u128,
    },
    /// The numbers of elements do not go together. Nothing was called.
    #[error("{call} has {expected} elements here, not {found}")]
    Length {
        /// Call.
        call: FnId,
        /// Number of elements that the other side needs.
        expected: usize,
        /// Number of elements given.
        found: usize,
    },
    /// There is no such member. Nothing was called.
    #[error("there is no member {rank}: the group has {size}, numbered from 0")]
    NoMember {
        /// Number given.
        rank: u32,
        /// Number of members.
        size: u32,
    },
    /// Things that do not go together: memory, stream, communicator and library. Nothing was
    /// called.
    #[error("{0}")]
    Elsewhere(&'static str),
    /// The context is not the primary one of its device, which NCCL uses. Nothing was called.
    #[error(
        "NCCL uses the primary context of a device: enter `PrimaryContext` or `cuprum::open`, not a context of your own"
    )]
    NotPrimary,
    /// The communicator was not aborted, because a graph may have one of its collectives.
    #[error(
        "graphs may have collectives of the communicator, and NCCL would free memory that their replays use: drop these \
         graphs and the communicator, which then aborts it"
    )]
    Recorded,
    /// Another member ended, or could not be reached.
    #[error(transparent)]
    Member(#[from] crate::MemberError),
    /// Work on a region was refused.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// Memory was refused.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The driver refused.
    #[error(transparent)]
    Driver(#[from] cuprum::Error),
}

impl NcclError {
    /// True if the cause may be that another member has ended.
    pub(crate) const fn is_of_another_member(&self) -> bool {
        match self {
            Self::Call(call) => {
                matches!(call.code, ncclResult_t::ncclRemoteError | ncclResult_t::ncclSystemError)
            }
            Self::Aborted { .. } => true,
            _ => false,
        }
    }
}

/// NCCL's answer to a call that it refused.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl);
/// use cuprum_nccl::{NcclError, raw::ncclResult_t};
///
/// # cuprum_nccl_stand_in::fail_next("ncclGetUniqueId", 2);
/// match nccl.unique_id() {
///     Err(NcclError::Call(error)) if error.code == ncclResult_t::ncclSystemError => println!("{error}"),
///     other => println!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallError {
    /// Call.
    pub call: FnId,
    /// Code.
    pub code: ncclResult_t,
    /// NCCL's own text on it; empty if it has none.
    pub detail: String,
}

impl CallError {
    /// Advice on the code.
    fn advice(&self) -> &'static str {
        match self.code {
            ncclResult_t::ncclUnhandledCudaError => "a call of CUDA failed; NCCL_DEBUG=WARN shows which",
            ncclResult_t::ncclSystemError => {
                "a call of the system failed, mostly of the network or of shared memory; NCCL_DEBUG=WARN shows which"
            }
            ncclResult_t::ncclInternalError => {
                "NCCL failed for reasons of its own; NCCL_DEBUG=WARN shows more"
            }
            ncclResult_t::ncclInvalidArgument => "an argument is not valid; NCCL_DEBUG=WARN shows which",
            ncclResult_t::ncclInvalidUsage => {
                "the calls do not go together: one device per member, and the same calls by all members"
            }
            ncclResult_t::ncclRemoteError => "another member failed, or the network to it",
            _ => "NCCL_DEBUG=WARN shows more",
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, code, detail } = self;
        write!(f, "{call}: {code:?} ({}): {}", code.0, self.advice())?;
        if detail.is_empty() { Ok(()) } else { write!(f, "; NCCL says: {detail}") }
    }
}

impl std::error::Error for CallError {}

/// An NCCL lacks a function.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl);
/// use cuprum_nccl::raw::FnId;
///
/// if let Err(missing) = nccl.require(FnId::ncclCommShrink) {
///     println!("NCCL {} has it, this is {}", missing.since, missing.library);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingFunction {
    /// The function.
    pub function: FnId,
    /// The first version that has it.
    pub since: NcclVersion,
    /// The library's version.
    pub library: NcclVersion,
}

impl fmt::Display for MissingFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, since, library } = self;
        if since > library {
            write!(f, "{function} needs NCCL {since}, this is {library}")
        } else {
            write!(f, "{function} came with NCCL {since}, but this one of version {library} lacks it")
        }
    }
}

impl std::error::Error for MissingFunction {}

impl From<NcclError> for AnyError {
    fn from(error: NcclError) -> Self {
        match error {
            NcclError::Driver(error) => error.into(),
            NcclError::Region(error) => error.into(),
            NcclError::Memory(error) => error.into(),
            other => Self::other(other),
        }
    }
}
