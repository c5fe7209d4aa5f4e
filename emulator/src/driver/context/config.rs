//! Settings of a context: limits, and preferences without effect here.

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};

#[derive(Debug, Clone)]
pub(super) struct Config {
    limits: [(CUlimit, usize); 6],
    /// Limits that launched kernels rely on.
    in_use: Vec<CUlimit>,
    pub(super) cache: CUfunc_cache,
    pub(super) shared: CUsharedconfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: [
                (CUlimit::CU_LIMIT_STACK_SIZE, 1024),
                // 64 KiB for each multiprocessor of an H100.
                (CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, 132 << 16),
                (CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20),
                (CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048),
                (CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128),
                (CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0),
            ],
            in_use: Vec::new(),
            cache: CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE,
            shared: CUsharedconfig::CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE,
        }
    }
}

impl Config {
    pub(super) fn limit(&self, limit: CUlimit) -> Answer<usize> {
        let found = self.limits.iter().find(|(known, _)| *known == limit);
        found.map(|&(_, value)| value).ok_or_else(|| unknown_limit(limit))
    }

    /// Returns a limit and fixes it from now on.
    pub(super) fn use_limit(&mut self, limit: CUlimit) -> Answer<usize> {
        if !self.in_use.contains(&limit) {
            self.in_use.push(limit);
        }
        self.limit(limit)
    }

    pub(super) fn set_limit(&mut self, limit: CUlimit, value: usize) -> Answer {
        let found = self.limits.iter_mut().find(|(known, _)| *known == limit);
        let place = found.ok_or_else(|| unknown_limit(limit))?;
        ensure(!self.in_use.contains(&limit), INVALID_VALUE)?;
        // As recorded on an H100, which accepts any number; 0 if rounding overflows.
        place.1 = match limit {
            CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => {
                (value.max(512 << 10).wrapping_add(255) & !255).min(2 << 30)
            }
            CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => value.max(4 << 20),
            CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT => value.clamp(32, 599_186),
            _ => value,
        };
        Ok(())
    }
}

/// Returns the error for a limit that does not exist, or only on other devices.
fn unknown_limit(limit: CUlimit) -> CUresult {
    match limit.name() {
        Some(_) => CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT,
        None => INVALID_VALUE,
    }
}
