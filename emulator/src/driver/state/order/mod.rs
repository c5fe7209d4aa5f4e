//! The check of the order between streams: which operations touch the same bytes, and whether something orders them.
//!
//! | file | what it has |
//! |---|---|
//! | `work` | the bytes that an operation touches, gathered while it runs |
//! | `mask` | bytes of a page |
//! | `clocks` | which operations are ordered before which |
//! | `shadow` | the last operations that touched each byte |
//! | `journal` | operations, waits and frees in the order of the calls, and the verdicts |
//! | `nodes` | which nodes of a graph are ordered before which |
//!
//! Operations are judged in the order in which they were issued, whenever they run, so that the verdicts are the same in
//! all modes.

mod clocks;
mod journal;
mod mask;
mod nodes;
mod shadow;
mod work;

pub(crate) use journal::{Issued, Journal};
pub(crate) use nodes::Body;
pub(crate) use work::{Act, Number, Part, at_node, gather, is_gathering, note};
