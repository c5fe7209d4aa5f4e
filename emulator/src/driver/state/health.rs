//! Health of a context: the state of it that the queue of operations needs.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cuprum_sys::CUresult;

use crate::driver::answer::{Answer, ensure};

/// State of a context: alive or ended, and its sticky error.
#[derive(Debug)]
pub(crate) struct Health {
    /// The handle of the context, by which its objects refer to it.
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

    /// Marks the context as destroyed.
    pub(crate) fn end(&self) {
        self.alive.store(false, Ordering::Release);
    }

    pub(super) fn is_poisoned(&self) -> bool {
        self.poison.load(Ordering::Acquire) != CUresult::CUDA_SUCCESS.0
    }

    /// Sets the sticky error. Only the first call has an effect.
    pub(crate) fn poison(&self, code: CUresult) {
        let clean = CUresult::CUDA_SUCCESS.0;
        let _ = self.poison.compare_exchange(clean, code.0, Ordering::AcqRel, Ordering::Acquire);
    }
}
