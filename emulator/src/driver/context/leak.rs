//! Leaks of contexts that have ended.

use std::sync::{Mutex, PoisonError};

use crate::client;
use crate::memory::{Region, RegionKind};
use crate::message::{self, Message};
use crate::report::{Leak, LeakKind};

use crate::driver::call::objects;
use crate::driver::state::{memory, settings};

/// Maximum number of leaks kept; beyond it, the oldest are dropped.
const KEPT: usize = 4096;

#[derive(Debug)]
struct Leaks(Mutex<Vec<Leak>>);

impl Leaks {
    fn keep(&self, found: &[Leak]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(found);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }

    fn all(&self) -> Vec<Leak> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

static LEAKS: Leaks = Leaks(Mutex::new(Vec::new()));

/// Returns the leaks of contexts that have ended.
pub(crate) fn leaks() -> Vec<Leak> {
    LEAKS.all()
}

/// Records the objects that a context, given by its handle and its number, still owns when it ends.
/// With a sticky error the client could not free them, so they do not count as leaks.
pub(crate) fn end_of_context(handle: usize, number: u64) {
    let found = of_context(handle, number);
    if found.is_empty() {
        return;
    }
    LEAKS.keep(&found);
    if settings().check_leaks {
        message::tell(&Message::Leaks(&found));
    }
}

/// Lists the objects of a context by kind, in the order of their creation.
pub(super) fn of_context(handle: usize, number: u64) -> Vec<Leak> {
    // Variables are freed with their module, and the heap of kernels with the context.
    let own = |region: &Region| !matches!(region.kind, RegionKind::Global | RegionKind::Heap);
    let regions = memory().regions_of(handle as u64);
    let mut found: Vec<Leak> = regions
        .iter()
        .filter(|region| own(region))
        .map(|region| {
            let kind = LeakKind::Memory(region.kind);
            let leak = Leak::new(kind, region.id, Some(region.len), region.call, number);
            leak.made_at(client::frames(region.site))
        })
        .collect();
    for objects in objects() {
        objects.leaks(Some((handle, number)), &mut found);
    }
    found
}
