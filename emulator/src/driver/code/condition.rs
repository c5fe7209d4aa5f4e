//! Conditions: numbers set by kernels that select which graphs a node runs and how often.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use cuprum_sys::CUresult;

use crate::message::{self, Message};

use crate::driver::answer::Answer;
use crate::driver::call::{Kind, Table};
use crate::driver::state::settings;

static CONDITIONS: Table<Weak<GraphCondition>> = Table::new(Kind::Condition);

/// A condition of a graph. It lives as long as the graph and its executable graphs.
#[derive(Debug)]
pub(crate) struct GraphCondition {
    pub(crate) handle: usize,
    /// The handle of the graph whose node may use it.
    pub(crate) graph: usize,
    value: AtomicU32,
    /// Initial value for each launch.
    default: Option<u32>,
    /// True if a node uses it. Exactly one must.
    used: AtomicBool,
}

impl GraphCondition {
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Creates a condition for a graph, which `keep` stores. Returns its handle.
    pub(crate) fn create(graph: usize, default: Option<u32>, keep: impl FnOnce(Arc<Self>)) -> usize {
        let (handle, _) = CONDITIONS.insert_with(|handle| {
            let (value, used) = (AtomicU32::new(0), AtomicBool::new(false));
            let condition = Arc::new(Self { handle, graph, value, default, used });
            let known = Arc::downgrade(&condition);
            keep(condition);
            known
        });
        handle
    }

    /// Notes that a node uses it. Returns false if another node already does.
    pub(crate) fn claim(&self) -> bool {
        !self.used.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn value(&self) -> u32 {
        self.value.load(Ordering::Relaxed)
    }

    /// Runs the body of a loop as long as the condition is not zero, within the limits of the
    /// settings.
    pub(crate) fn repeat(&self, mut run: impl FnMut() -> Answer) -> Answer {
        let (start, settings) = (Instant::now(), settings());
        let mut runs = 0;
        while self.value() != 0 {
            let spent = settings.instruction_budget.is_some_and(|budget| runs >= budget);
            if spent || settings.time_limit.is_some_and(|limit| start.elapsed() > limit) {
                message::tell(&Message::EndlessLoop { runs });
                return Err(CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
            }
            run()?;
            runs += 1;
        }
        Ok(())
    }

    pub(crate) fn reset(&self) {
        if let Some(default) = self.default {
            self.value.store(default, Ordering::Relaxed);
        }
    }
}

impl Drop for GraphCondition {
    fn drop(&mut self) {
        CONDITIONS.remove(self.handle);
    }
}

pub(crate) fn find(handle: u64) -> Option<Arc<GraphCondition>> {
    CONDITIONS.get(usize::try_from(handle).ok()?)?.upgrade()
}

/// Sets a condition from a kernel. Returns false if the handle is invalid.
pub(crate) fn set(handle: u64, value: u32) -> bool {
    match find(handle) {
        Some(condition) => {
            condition.value.store(value, Ordering::Relaxed);
            true
        }
        None => false,
    }
}
