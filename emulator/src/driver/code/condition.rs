//! Conditions: numbers that kernels set, and that decide which graphs a conditional node runs, and how often.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use crate::driver::call::{Kind, Table};

/// The live conditions.
static CONDITIONS: Table<Weak<GraphCondition>> = Table::new(Kind::Condition);

/// A condition of a graph. It goes with the graph, and with the executable graphs made of it.
#[derive(Debug)]
pub(crate) struct GraphCondition {
    pub(crate) handle: usize,
    /// The handle of the graph in which a node may use it.
    pub(crate) graph: usize,
    value: AtomicU32,
    /// Value that each launch sets it to first.
    default: Option<u32>,
    /// True if a node uses it. One must, and only one may.
    used: AtomicBool,
}

impl GraphCondition {
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Makes a condition for a graph, which has to `keep` it; returns its handle.
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

    /// Notes that a node uses it; false if one does already.
    pub(crate) fn claim(&self) -> bool {
        !self.used.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn value(&self) -> u32 {
        self.value.load(Ordering::Relaxed)
    }

    /// Prepares it for a launch.
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

/// Sets a condition from a kernel; `false` if there is none of this number.
pub(crate) fn set(handle: u64, value: u32) -> bool {
    match find(handle) {
        Some(condition) => {
            condition.value.store(value, Ordering::Relaxed);
            true
        }
        None => false,
    }
}
