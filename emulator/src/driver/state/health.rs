//! Health of a context: all that the queue of operations needs to know of one.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cuprum_sys::CUresult;

use crate::driver::answer::{Answer, ensure};

/// Life of a context, and its sticky error.
#[derive(Debug)]
pub(crate) struct Health {
    /// The handle of the context, by which everything that it owns refers to it.
    pub(crate) context: usize,
    alive: AtomicBool,
    /// The sticky error, or success.
    poison: AtomicU32,
}

impl Health {
    pub(crate) fn new(context: usize) -> Self {
        let poison = AtomicU32::new(CUresult::CUDA_SUCCESS.0);
        Self { context, alive: AtomicBool::new(true), poison }
    }

    /// Fails if the context was destroyed or has a sticky error.
    pub(crate) fn check(&self) -> Answer {
        ensure(self.is_alive(), CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)?;
        match self.poison.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(CUresult(code)),
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Notes that the context is destroyed.
    pub(crate) fn end(&self) {
        self.alive.store(false, Ordering::Release);
    }

    /// True if it has a sticky error.
    pub(super) fn is_poisoned(&self) -> bool {
        self.poison.load(Ordering::Acquire) != CUresult::CUDA_SUCCESS.0
    }

    /// Sets the sticky error; the first one stays.
    pub(crate) fn poison(&self, code: CUresult) {
        let clean = CUresult::CUDA_SUCCESS.0;
        let _ = self.poison.compare_exchange(clean, code.0, Ordering::AcqRel, Ordering::Acquire);
    }
}
