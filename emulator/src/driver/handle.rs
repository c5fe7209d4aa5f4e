//! Handles: numbers that name objects, and tables that check them.
//!
//! A handle is never the address of anything. Each kind of object counts in a range of its own and
//! no number is given twice, so a stale handle, or one of another kind, is never mistaken for a
//! live object. The exception is the primary context of a device, whose handle stays when it is made
//! again, as on hardware.

use core::ffi::c_void;
use std::collections::HashMap;
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
    live: RwLock<HashMap<usize, Entry<T>>>,
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
        Self { first, next: AtomicUsize::new(first), live: RwLock::new(HashMap::new()) }
    }

    /// Makes an object that knows its own handle.
    pub(super) fn insert_with(&self, make: impl FnOnce(usize) -> T) -> (usize, Arc<T>) {
        let handle = self.next.fetch_add(STEP, Ordering::Relaxed);
        let object = Arc::new(make(handle));
        let entry = Entry { object: Arc::clone(&object), made_by: served::call() };
        self.write().insert(handle, entry);
        (handle, object)
    }

    /// Makes an object under a handle that this table has given before, and whose object is gone.
    pub(super) fn insert_again(&self, handle: usize, object: T) -> Arc<T> {
        let object = Arc::new(object);
        let entry = Entry { object: Arc::clone(&object), made_by: served::call() };
        self.write().insert(handle, entry);
        object
    }

    pub(super) fn insert(&self, object: T) -> usize {
        self.insert_with(|_| object).0
    }

    pub(super) fn get(&self, handle: usize) -> Option<Arc<T>> {
        self.read().get(&handle).map(|entry| Arc::clone(&entry.object))
    }

    pub(super) fn remove(&self, handle: usize) -> Option<Arc<T>> {
        self.write().remove(&handle).map(|entry| entry.object)
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
        for (&handle, entry) in self.read().iter() {
            visit(handle, entry.made_by, &entry.object);
        }
    }

    /// Which object of its kind a handle names, counted from 1.
    pub(super) fn number(&self, handle: usize) -> u64 {
        ((handle - self.first) / STEP) as u64 + 1
    }

    /// Removes the objects for which `belongs` holds.
    pub(super) fn remove_if(&self, belongs: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut live = self.write();
        let gone: Vec<usize> =
            live.iter().filter(|(_, entry)| belongs(&entry.object)).map(|(&handle, _)| handle).collect();
        gone.iter().filter_map(|handle| live.remove(handle)).map(|entry| entry.object).collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<usize, Entry<T>>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<usize, Entry<T>>> {
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
