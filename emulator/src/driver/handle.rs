//! Handles: numbers that name objects, and tables that check them.
//!
//! A handle is never the address of anything. Each kind of object counts in a range of its own and
//! no number is given twice, so a stale handle, or one of another kind, is never mistaken for a
//! live object. The exception is the primary context of a device, whose handle stays when it is made
//! again, as on hardware.

use core::ffi::c_void;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cuprum_sys::*;

use crate::served;

/// A C handle type.
pub(super) trait Handle: Copy {
    fn addr(self) -> usize;
    fn from_addr(addr: usize) -> Self;
}

macro_rules! handles {
    ($($name:ident),* $(,)?) => { $(
        impl Handle for $name {
            fn addr(self) -> usize {
                self.0.addr()
            }

            fn from_addr(addr: usize) -> Self {
                Self(core::ptr::without_provenance_mut::<c_void>(addr))
            }
        }
    )* };
}

handles!(
    CUarray,
    CUcontext,
    CUdevResourceDesc,
    CUevent,
    CUfunction,
    CUgraph,
    CUgraphExec,
    CUgraphNode,
    CUgreenCtx,
    CUkernel,
    CUlibrary,
    CUlinkState,
    CUmemoryPool,
    CUmipmappedArray,
    CUmodule,
    CUstream,
    CUtexref,
    CUsurfref,
    CUuserObject,
);

/// The kinds of objects. The number is part of each handle.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Context = 1,
    Stream,
    Event,
    Module,
    Function,
    Library,
    Kernel,
    Pool,
    Array,
    Graph,
    GraphNode,
    GraphExec,
    Link,
    Physical,
    UserObject,
    Condition,
    Green,
    Description,
    Mipmap,
    Texture,
    Surface,
}

/// Distance between two handles of a kind. Not 1, so that a handle looks like an aligned pointer.
const STEP: usize = 16;

/// The live objects of one kind.
#[derive(Debug)]
pub(super) struct Table<T> {
    first: usize,
    next: AtomicUsize,
    /// Which object of another kind it goes with.
    owner: Option<fn(&T) -> usize>,
    live: RwLock<Live<T>>,
}

#[derive(Debug)]
struct Live<T> {
    objects: HashMap<usize, Entry<T>>,
    /// What goes with each owner, where they have owners.
    owned: HashMap<usize, HashSet<usize>>,
}

#[derive(Debug)]
struct Entry<T> {
    object: Arc<T>,
    /// The call that made it.
    made_by: Option<FnId>,
}

impl<T> Table<T> {
    pub(super) fn new(kind: Kind) -> Self {
        let first = 0x4000_0000_0000 + ((kind as usize) << 38);
        let live = Live { objects: HashMap::new(), owned: HashMap::new() };
        Self { first, next: AtomicUsize::new(first), owner: None, live: RwLock::new(live) }
    }

    /// A table whose objects have an owner, with which they go.
    pub(super) fn owned(kind: Kind, owner: fn(&T) -> usize) -> Self {
        Self { owner: Some(owner), ..Self::new(kind) }
    }

    /// Makes an object that knows its own handle.
    pub(super) fn insert_with(&self, make: impl FnOnce(usize) -> T) -> (usize, Arc<T>) {
        let handle = self.next.fetch_add(STEP, Ordering::Relaxed);
        (handle, self.insert_again(handle, make(handle)))
    }

    /// Makes an object under a handle that this table has given before, and whose object is gone.
    pub(super) fn insert_again(&self, handle: usize, object: T) -> Arc<T> {
        let object = Arc::new(object);
        let entry = Entry { object: Arc::clone(&object), made_by: served::call() };
        let mut live = self.write();
        live.objects.insert(handle, entry);
        if let Some(owner) = self.owner {
            live.owned.entry(owner(&object)).or_default().insert(handle);
        }
        drop(live);
        object
    }

    pub(super) fn insert(&self, object: T) -> usize {
        self.insert_with(|_| object).0
    }

    pub(super) fn get(&self, handle: usize) -> Option<Arc<T>> {
        self.read().objects.get(&handle).map(|entry| Arc::clone(&entry.object))
    }

    pub(super) fn remove(&self, handle: usize) -> Option<Arc<T>> {
        let mut live = self.write();
        let object = live.objects.remove(&handle)?.object;
        if let Some(owner) = self.owner.map(|owner| owner(&object)) {
            let owned = live.owned.get_mut(&owner);
            if owned.is_some_and(|owned| owned.remove(&handle) && owned.is_empty()) {
                live.owned.remove(&owner);
            }
        }
        Some(object)
    }

    /// Whether this handle was given out, live or not.
    pub(super) fn was_given(&self, handle: usize) -> bool {
        (self.first..self.next.load(Ordering::Relaxed)).contains(&handle) && (handle - self.first) % STEP == 0
    }

    /// Visits every live object.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&T)) {
        self.for_each_handle(|_, object| visit(object));
    }

    /// Visits every live object with its handle.
    pub(super) fn for_each_handle(&self, mut visit: impl FnMut(usize, &T)) {
        self.for_each_made(|handle, _, object| visit(handle, object));
    }

    /// Visits every live object with its handle and the call that made it.
    pub(super) fn for_each_made(&self, mut visit: impl FnMut(usize, Option<FnId>, &T)) {
        for (&handle, entry) in &self.read().objects {
            visit(handle, entry.made_by, &entry.object);
        }
    }

    /// Which object of its kind a handle names, counted from 1.
    pub(super) fn number(&self, handle: usize) -> u64 {
        ((handle - self.first) / STEP) as u64 + 1
    }

    /// Visits what goes with an owner, with its handle and the call that made it.
    pub(super) fn for_each_owned(&self, owner: usize, mut visit: impl FnMut(usize, Option<FnId>, &T)) {
        let live = self.read();
        for handle in live.owned.get(&owner).into_iter().flatten() {
            if let Some(entry) = live.objects.get(handle) {
                visit(*handle, entry.made_by, &entry.object);
            }
        }
    }

    /// Removes what goes with an owner.
    pub(super) fn remove_owned(&self, owner: usize) -> Vec<Arc<T>> {
        let mut live = self.write();
        let gone = live.owned.remove(&owner).unwrap_or_default();
        gone.iter().filter_map(|handle| live.objects.remove(handle)).map(|entry| entry.object).collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, Live<T>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Live<T>> {
        self.live.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_checked_and_never_reused() {
        let streams = Table::new(Kind::Stream);
        let events = Table::new(Kind::Event);
        let first = streams.insert("a");
        let event = events.insert("e");
        assert_eq!(streams.get(first).as_deref(), Some(&"a"));
        assert!(streams.get(event).is_none());
        assert!(!streams.was_given(event));
        streams.remove(first);
        assert!(streams.get(first).is_none());
        assert!(streams.was_given(first));
        assert!(!streams.was_given(first + 1));
        assert_ne!(streams.insert("b"), first);
    }
}
