//! Memory of clients: allocations, pools, virtual memory, queries about addresses, graph memory.

mod allocation;
mod bytes;
mod current_pool;
mod graph_memory;
mod handle_type;
mod host_access;
mod install;
mod ipc;
mod leftover;
mod mistake;
mod pointer;
mod pool;
mod pool_place;
mod returned;
mod shared_pool;
mod virtual_memory;

pub(crate) use allocation::{allocate_in, allocate_shared, take_away};
pub(crate) use bytes::{Bytes, Rows, unified};
pub(crate) use current_pool::CURRENT_POOLS;
pub(crate) use graph_memory::{BLOCKS, Block};
pub(crate) use host_access::watch as watch_host_accesses;
pub(crate) use install::install;
pub(crate) use ipc::refused;
pub(crate) use mistake::note_free;
pub(crate) use pool::{POOLS, join_pool, pool_of, will_leave_pool};
pub(crate) use pool_place::PoolPlace;
pub(crate) use virtual_memory::is_of_graph;
