//! Kinds of messages.
//!
//! | kind | numbers | bytes |
//! |---|---|---|
//! | `JOIN` | key of the group, rank, size, device and process | |
//! | `JOINED`, `REFUSED` | | |
//! | `COLLECTIVE` | request, function, data type, operator, root, count, factor | the member's elements |
//! | `SPLIT` | request, color, key | |
//! | `SHRINK` | request | ranks to leave out |
//! | `SEND`, `RECEIVE` | request, peer | elements |
//! | `RESULT` | request, code, for a new group its key, rank and size | elements |
//! | `LOST` | rank | |
//! | `BYE` | | |

pub(crate) const JOIN: u64 = 1;
pub(crate) const JOINED: u64 = 2;
pub(crate) const REFUSED: u64 = 3;
pub(crate) const COLLECTIVE: u64 = 4;
pub(crate) const SPLIT: u64 = 5;
pub(crate) const SHRINK: u64 = 6;
pub(crate) const SEND: u64 = 7;
pub(crate) const RECEIVE: u64 = 8;
pub(crate) const RESULT: u64 = 9;
pub(crate) const LOST: u64 = 10;
pub(crate) const BYE: u64 = 11;

/// Collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Function {
    AllReduce,
    Reduce,
    Broadcast,
    AllGather,
    ReduceScatter,
    Send,
    Receive,
}

impl Function {
    pub(crate) fn of(number: u64) -> Option<Self> {
        use Function::*;
        [AllReduce, Reduce, Broadcast, AllGather, ReduceScatter, Send, Receive].get(number as usize).copied()
    }
}

/// Color of a member that is in no part of a split.
pub(crate) const NO_COLOR: u64 = u64::MAX;
