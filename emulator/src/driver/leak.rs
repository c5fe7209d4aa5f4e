//! What clients left behind: in a context that ends, and in the process.

use std::sync::{Mutex, PoisonError};

use cuprum_sys::FnId;

use crate::memory::{Region, RegionKind};
use crate::message::{self, Message};
use crate::report::{Leak, LeakKind};

use super::context::Context;
use super::graph::Owner;
use super::handle::Table;
use super::state::{Emulator, emulator};

/// The most leaks that are kept; beyond that the oldest go.
const KEPT: usize = 4096;

/// The leaks of contexts that have ended.
#[derive(Debug, Default)]
pub(super) struct Leaks(Mutex<Vec<Leak>>);

impl Leaks {
    fn keep(&self, found: &[Leak]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(found);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }

    pub(super) fn all(&self) -> Vec<Leak> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Remembers what a context that is about to end still holds. In one with a sticky error nothing can be freed any more,
/// so what it holds is nobody's fault.
pub(super) fn end_of_context(context: &Context) {
    let emulator = emulator();
    if context.check().is_err() {
        return;
    }
    let found = of_context(emulator, context.handle);
    if found.is_empty() {
        return;
    }
    emulator.leaks.keep(&found);
    if emulator.settings.check_leaks {
        message::tell(&Message::Leaks(&found));
    }
}

/// Tells what is left when the process ends.
pub(super) fn end_of_process() {
    let found = alive();
    if !found.is_empty() {
        message::tell(&Message::Leaks(&found));
    }
}

/// All that clients hold now.
pub(super) fn alive() -> Vec<Leak> {
    let emulator = emulator();
    let mut found = Vec::new();
    let mut contexts = Vec::new();
    emulator
        .contexts
        .for_each_made(|handle, call, context| contexts.push((handle, call, context.is_primary)));
    contexts.sort_unstable_by_key(|(handle, ..)| *handle);
    for (handle, call, is_primary) in contexts {
        found.extend(of_context(emulator, handle));
        if !is_primary {
            let number = emulator.contexts.number(handle);
            found.push(Leak { kind: LeakKind::Context, number, bytes: None, call, context: number });
        }
    }
    collect(&mut found, LeakKind::Library, 0, &emulator.libraries, |_| Some(None));
    collect(&mut found, LeakKind::Graph, 0, &emulator.graphs, |graph| {
        (graph.owner == Owner::Client).then_some(None)
    });
    collect(&mut found, LeakKind::GraphExec, 0, &emulator.graph_execs, |_| Some(None));
    collect(&mut found, LeakKind::Pool, 0, &emulator.pools, |pool| (!pool.is_default).then_some(None));
    collect(&mut found, LeakKind::Physical, 0, &emulator.physical, |physical| {
        Some(Some(physical.bytes.bytes))
    });
    collect(&mut found, LeakKind::Link, 0, &emulator.links, |_| Some(None));
    found
}

/// What a context holds, in the order in which it was made, kind by kind.
fn of_context(emulator: &Emulator, handle: usize) -> Vec<Leak> {
    let context = emulator.contexts.number(handle);
    // Variables go with their module, and the heap of kernels with the context.
    let own = |region: &Region| !matches!(region.kind, RegionKind::Global | RegionKind::Heap);
    let regions = emulator.memory.regions_of(handle as u64);
    let mut found: Vec<Leak> = regions
        .iter()
        .filter(|region| own(region))
        .map(|region| Leak {
            kind: LeakKind::Memory(region.kind),
            number: region.id,
            bytes: Some(region.len),
            call: region.call,
            context,
        })
        .collect();
    collect_owned(&mut found, LeakKind::Stream, (handle, context), &emulator.streams);
    collect_owned(&mut found, LeakKind::Event, (handle, context), &emulator.events);
    collect_owned(&mut found, LeakKind::Module, (handle, context), &emulator.modules);
    // Those of libraries go with their library.
    let loads_module = |call: FnId| call.symbol().base.starts_with("cuModuleLoad");
    found.retain(|leak| leak.kind != LeakKind::Module || leak.call.is_some_and(loads_module));
    found
}

/// Adds those objects of a table for which `wanted` gives their size, if they have one.
fn collect<T>(
    found: &mut Vec<Leak>,
    kind: LeakKind,
    context: u64,
    table: &Table<T>,
    wanted: impl Fn(&T) -> Option<Option<u64>>,
) {
    let first = found.len();
    table.for_each_made(|handle, call: Option<FnId>, object| {
        if let Some(bytes) = wanted(object) {
            found.push(Leak { kind, number: table.number(handle), bytes, call, context });
        }
    });
    found[first..].sort_unstable_by_key(|leak| leak.number);
}

/// Adds the objects of a table that go with a context, given by its handle and its number.
fn collect_owned<T>(
    found: &mut Vec<Leak>,
    kind: LeakKind,
    (handle, context): (usize, u64),
    table: &Table<T>,
) {
    let first = found.len();
    table.for_each_owned(handle, |handle, call, _| {
        found.push(Leak { kind, number: table.number(handle), bytes: None, call, context });
    });
    found[first..].sort_unstable_by_key(|leak| leak.number);
}
