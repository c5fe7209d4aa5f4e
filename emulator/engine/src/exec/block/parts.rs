//! Buffers that a worker keeps from one launch to the next, so that a launch allocates nothing once warm.

use super::cached::Cached;
use super::scalars::Scalars;
use super::warp::Warp;
use std::cell::RefCell;

/// Number of kernels for which a thread keeps parts.
const KEPT: usize = 8;
/// Size in bytes above which parts are given back to the system.
const LARGEST: usize = 64 << 20;

/// The parts of a block. They fit any launch of the same kernel with the same block size.
#[derive(Debug, Default)]
pub(in crate::exec) struct Parts {
    kernel: u64,
    block: [u32; 3],
    pub(in crate::exec) warps: Vec<Warp>,
    pub(in crate::exec) shared: Vec<u64>,
    pub(in crate::exec) caches: Vec<Cached>,
    /// Values that the constant rows hold.
    pub(in crate::exec) uniform: Vec<u64>,
    pub(in crate::exec) scalars: Scalars,
}

thread_local! {
    /// The parts used last come last.
    static IDLE: RefCell<Vec<Parts>> = const { RefCell::new(Vec::new()) };
}

impl Parts {
    /// Parts left by an earlier launch, or empty ones.
    #[inline]
    pub(in crate::exec) fn take(kernel: u64, block: [u32; 3]) -> Parts {
        // Fails only while the thread ends: destructors of its other variables may run kernels then.
        let found = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            let at = idle.iter().rposition(|parts| parts.kernel == kernel && parts.block == block)?;
            Some(idle.remove(at))
        });
        found.ok().flatten().unwrap_or_else(|| Parts { kernel, block, ..Parts::default() })
    }

    /// Leaves the parts for a later launch.
    #[inline]
    pub(in crate::exec) fn keep(self) {
        if self.warps.iter().map(Warp::bytes).sum::<usize>() > LARGEST {
            return;
        }
        // Fails only while the thread ends; then nothing is to be kept.
        let _ = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            if idle.len() >= KEPT {
                idle.remove(0);
            }
            idle.push(self);
        });
    }
}
