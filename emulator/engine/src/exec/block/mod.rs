//! A block: its warps, its shared memory, its barriers.
//!
//! This room contains the state of a block and the code that changes it: waiting at barriers, and
//! creating faults. Rooms above contain the effects of instructions, and `launch` selects the mode
//! that runs them.

mod barrier;
pub(in crate::exec) mod cached;
pub(in crate::exec) mod cluster;
pub(in crate::exec) mod copies;
mod fault;
pub(in crate::exec) mod launch;
mod parts;
mod products;
pub(in crate::exec) mod rows;
pub(in crate::exec) mod scalars;
mod site;
pub(in crate::exec) mod special;
pub(in crate::exec) mod stack;
pub(in crate::exec) mod state;
pub(in crate::exec) mod warp;

pub(in crate::exec) use fault::Stop;
pub(in crate::exec) use site::{Issue, Lanes, Site};
pub(in crate::exec) use special::thread_index;
pub(in crate::exec) use state::Block;
