//! The functions of this room.

use super::{allocation, graph_memory, ipc, pointer, pool, shared_pool, virtual_memory};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    allocation::install(builder);
    graph_memory::install(builder);
    ipc::install(builder);
    pointer::install(builder);
    pool::install(builder);
    shared_pool::install(builder);
    virtual_memory::install(builder);
}
