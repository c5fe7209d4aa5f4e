//! Errors of members of a group of processes.

use std::fmt;

/// A member of a group of processes is missing, or has ended.
///
/// ```
/// use cuprum_nccl::MemberError;
///
/// let error = MemberError::Missing { ranks: vec![3], size: 4, milliseconds: 500 };
/// println!("{error}"); // names the process that did not come
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemberError {
    /// Some members did not come in time.
    #[error("{} of {size} processes did not come within {milliseconds} ms: {}", ranks.len(), Ranks(ranks))]
    Missing {
        /// Their numbers.
        ranks: Vec<u32>,
        /// Number of members.
        size: u32,
        /// Time limit.
        milliseconds: u64,
    },
    /// Member 0 could not be reached in time.
    #[error("member 0 did not answer at {address} within {milliseconds} ms: {reason}")]
    NotReached {
        /// Its address.
        address: String,
        /// Time limit.
        milliseconds: u64,
        /// Reason, in the system's words.
        reason: String,
    },
    /// Member 0 could not open its address.
    #[error("member 0 could not listen at {address}: {reason}; MASTER_PORT chooses another port")]
    NoPort {
        /// Address.
        address: String,
        /// Reason, in the system's words.
        reason: String,
    },
    /// A member ended without leaving the group: it crashed, was killed, returned early, or its
    /// connection broke.
    #[error("member {rank} ended: {reason}")]
    Ended {
        /// Its number.
        rank: u32,
        /// The evidence of it.
        reason: String,
    },
    /// This process has another number of members than member 0, or a number that another one has.
    #[error(
        "member 0 refused this process as number {rank} of {size}: another process has that number, or the sizes differ"
    )]
    Refused {
        /// Number of this process.
        rank: u32,
        /// Number of members, as this process has it.
        size: u32,
    },
    /// A variable of the environment has no usable value.
    #[error("{variable}: {reason}")]
    Variable {
        /// Name.
        variable: String,
        /// Reason.
        reason: String,
    },
}

struct Ranks<'a>(&'a [u32]);

impl fmt::Display for Ranks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rank) in self.0.iter().enumerate() {
            write!(f, "{}{rank}", if index == 0 { "number " } else { ", " })?;
        }
        Ok(())
    }
}
