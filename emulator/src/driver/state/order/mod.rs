//! The check of the order between streams: finds unordered operations on the same bytes.
//!
//! | file | contents |
//! |---|---|
//! | `work` | the bytes that an operation accesses, collected while it runs |
//! | `mask` | bytes of a page |
//! | `clocks` | the order between operations |
//! | `shadow` | the last operations that accessed each byte |
//! | `journal` | operations, waits and frees in the order of the calls, and the verdicts |
//! | `nodes` | the order between nodes of a graph |
//! | `guard` | page-locked memory that the host must not access yet |
//!
//! Judges operations in the order of issue, not of execution: verdicts are the same in all modes.

mod clocks;
mod guard;
mod journal;
mod mask;
mod nodes;
mod shadow;
mod work;

pub(crate) use guard::note_host_access;
pub(crate) use journal::{Issued, Journal};
pub(crate) use nodes::Body;
pub(crate) use work::{Act, Number, Part, at_node, gather, is_gathering, note};
