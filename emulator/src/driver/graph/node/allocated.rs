//! Memory of nodes that allocate.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::memory::Block;

/// An allocation node: its memory, and its parameters for clients that request them.
#[derive(Debug)]
pub(crate) struct Allocated {
    pub(crate) block: Arc<Block>,
    pub(super) params: CUDA_MEM_ALLOC_NODE_PARAMS,
}

// SAFETY: the pointers in the parameters are only returned to the client.
unsafe impl Send for Allocated {}

// SAFETY: as above.
unsafe impl Sync for Allocated {}

impl Allocated {
    /// Ignores the address in the parameters.
    pub(super) fn new(block: Arc<Block>, params: CUDA_MEM_ALLOC_NODE_PARAMS) -> Self {
        Self { params: CUDA_MEM_ALLOC_NODE_PARAMS { dptr: block.base, ..params }, block }
    }
}
