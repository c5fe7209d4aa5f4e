//! Buffers that a worker reuses in later launches, so that a warm launch allocates nothing.

use super::cached::Cached;
use super::scalars::Scalars;
use super::warp::Warp;
use std::cell::RefCell;

/// Number of kernels whose parts a thread keeps.
const KEPT: usize = 8;
/// Size in bytes above which parts are freed.
const LARGEST: usize = 64 << 20;

/// The parts of a block. They fit any launch of the same kernel with the same block size.
#[derive(Debug, Default)]
pub(in crate::exec) struct Parts {
    kernel: u64,
    block: [u32; 3],
    /// The worker whose values the special registers have that do not depend on the block.
    pub(in crate::exec) worker: Option<usize>,
    pub(in crate::exec) warps: Vec<Warp>,
    pub(in crate::exec) shared: Vec<u64>,
    pub(in crate::exec) caches: Vec<Cached>,
    pub(in crate::exec) uniform: Vec<u64>,
    pub(in crate::exec) scalars: Scalars,
    #[cfg(feature = "compile")]
    pub(in crate::exec) machine: super::cached::MachineState,
}

thread_local! {
    /// Ordered by their last use.
    #[allow(clippy::vec_box, reason = "they move to a block and back in every launch")]
    static IDLE: RefCell<Vec<Box<Parts>>> = const { RefCell::new(Vec::new()) };
}

impl Parts {
    /// Returns the parts of an earlier launch, or empty ones.
    #[inline]
    pub(in crate::exec) fn take(kernel: u64, block: [u32; 3]) -> Box<Parts> {
        // Fails only while the thread ends, when destructors of its variables may run kernels.
        let found = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            let at = idle.iter().rposition(|parts| parts.kernel == kernel && parts.block == block)?;
            Some(idle.remove(at))
        });
        found.ok().flatten().unwrap_or_else(|| Box::new(Parts { kernel, block, ..Parts::default() }))
    }

    #[inline]
    pub(in crate::exec) fn keep(self: Box<Self>) {
        if self.warps.iter().map(Warp::bytes).sum::<usize>() > LARGEST {
            return;
        }
        // Fails only while the thread ends; nothing has to be kept then.
        let _ = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            if idle.len() >= KEPT {
                idle.remove(0);
            }
            idle.push(self);
        });
    }
}
