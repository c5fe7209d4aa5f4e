//! Handles: numbers that name objects, and tables that check them.
//!
//! A handle is never an address. Each kind of object has a range of numbers, and no number is used
//! twice. A stale handle, or a handle of another kind, is therefore never mistaken for a live
//! object. One exception: a recreated primary context keeps its handle, as on hardware.
//!
//! A table is next to its type, and declares whether its objects end with a context and whether
//! they can leak. Such tables are registered with the functions of their module (`objects TABLE;`
//! in `calls!`), so the end of a context and the search for leaks are one loop each.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cuprum_sys::FnId;

use crate::client;
use crate::ordered::Ordered;
use crate::report::{Leak, LeakKind};
use crate::served::{self, Made};
use crate::settings::ApiCheck;

use super::misuse::misuse;

/// The kinds of objects. The number is part of each handle. Leaks are reported in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Context = 1,
    Stream,
    Event,
    Module,
    Function,
    Library,
    Kernel,
    Array,
    Mipmap,
    Texture,
    Surface,
    Graph,
    GraphNode,
    GraphExec,
    GraphBlock,
    Pool,
    Physical,
    Link,
    UserObject,
    Condition,
    Green,
    Description,
    LogCallback,
    ExternalMemory,
    ExternalSemaphore,
    Graphics,
}

impl Kind {
    /// Returns the kind as text for reports.
    fn words(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Stream => "stream",
            Self::Event => "event",
            Self::Module => "module",
            Self::Function => "function",
            Self::Library => "library",
            Self::Kernel => "kernel",
            Self::Array => "array",
            Self::Mipmap => "mipmapped array",
            Self::Texture => "texture object",
            Self::Surface => "surface object",
            Self::Graph => "graph",
            Self::GraphNode => "node of a graph",
            Self::GraphExec => "executable graph",
            Self::GraphBlock => "memory of a graph",
            Self::Pool => "memory pool",
            Self::Physical => "physical memory",
            Self::Link => "linker",
            Self::UserObject => "user object",
            Self::Condition => "condition",
            Self::Green => "green context",
            Self::Description => "description of resources",
            Self::LogCallback => "callback of the log",
            Self::ExternalMemory => "external memory",
            Self::ExternalSemaphore => "external semaphore",
            Self::Graphics => "resource of OpenGL",
        }
    }
}

/// Distance between two handles of a kind. Not 1, so that a handle looks like an aligned pointer.
const STEP: usize = 16;

/// Objects of one kind, for code that handles all kinds alike.
pub(crate) trait Objects: Sync {
    fn kind(&self) -> Kind;

    fn end_of_context(&self, context: usize);

    /// Appends the leaks among the objects of a context, given by its handle and its number, or
    /// among the objects without a context, in the order of their creation.
    fn leaks(&self, context: Option<(usize, u64)>, found: &mut Vec<Leak>);
}

/// Verdict on an object that was not destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaked {
    No,
    Yes,
    Bytes(u64),
}

/// Decides whether an object is a leak, given the object and the call that created it.
type Judge<T> = fn(&T, Option<FnId>) -> Leaked;

#[derive(Debug)]
pub(crate) struct Table<T> {
    all: Handles,
    /// Returns the handle of the context that owns an object.
    owner_of: Option<fn(&T) -> usize>,
    leak: Option<(LeakKind, Judge<T>)>,
}

/// The handles of one kind. Independent of the object's type, so that it is compiled only once.
#[derive(Debug)]
struct Handles {
    kind: Kind,
    next: AtomicUsize,
    live: RwLock<Live>,
}

#[derive(Debug)]
struct Live {
    objects: Ordered<Entry>,
    /// Pairs of a context and an object that ends with it.
    owned: BTreeSet<(u64, u64)>,
    /// Calls by which clients destroyed objects, by handle; only the newest handles.
    destroyed: BTreeMap<usize, Option<FnId>>,
}

/// Maximum number of destroyed handles that are remembered per kind.
const MOST_DESTROYED: usize = 4096;

type Object = Arc<dyn Any + Send + Sync>;

#[derive(Debug)]
struct Entry {
    object: Object,
    owner: Option<usize>,
    made: Made,
}

impl Live {
    fn owned_by(&self, owner: usize) -> impl Iterator<Item = u64> {
        let owner = owner as u64;
        self.owned.range((owner, 0)..=(owner, u64::MAX)).map(|(_, handle)| *handle)
    }
}

impl Handles {
    fn give(&self) -> usize {
        self.next.fetch_add(STEP, Ordering::Relaxed)
    }

    fn insert(&self, handle: usize, object: Object, owner: Option<usize>) {
        let mut live = self.write();
        live.objects.insert(handle as u64, Entry { object, owner, made: served::made() });
        live.destroyed.remove(&handle);
        if let Some(owner) = owner {
            live.owned.insert((owner as u64, handle as u64));
        }
    }

    fn get(&self, handle: usize) -> Option<Object> {
        let live = self.read();
        let found = live.objects.get(handle as u64).map(|entry| Arc::clone(&entry.object));
        found.or_else(|| self.miss(&live, handle))
    }

    fn remove(&self, handle: usize) -> Option<Object> {
        let mut live = self.write();
        let Some(entry) = live.objects.remove(handle as u64) else { return self.miss(&live, handle) };
        live.destroyed.insert(handle, served::call());
        if live.destroyed.len() > MOST_DESTROYED {
            live.destroyed.pop_first();
        }
        if let Some(owner) = entry.owner {
            live.owned.remove(&(owner as u64, handle as u64));
        }
        Some(entry.object)
    }

    /// Notes the use of an object that the client destroyed. Objects that ended with their context
    /// do not count: a client may clean up late.
    #[cold]
    fn miss(&self, live: &Live, handle: usize) -> Option<Object> {
        if let Some(by) = live.destroyed.get(&handle) {
            misuse(ApiCheck::Certain, || {
                let by = by.map(|call| format!(" by {}", call.symbol().base)).unwrap_or_default();
                format!("{} #{} was destroyed before{by}", self.kind.words(), self.number(handle))
            });
        }
        None
    }

    fn remove_owned(&self, owner: usize) -> Vec<Entry> {
        let mut live = self.write();
        let handles: Vec<u64> = live.owned_by(owner).collect();
        let mut gone = Vec::with_capacity(handles.len());
        for handle in handles {
            live.owned.remove(&(owner as u64, handle));
            gone.extend(live.objects.remove(handle));
        }
        gone
    }

    /// Visits the objects of an owner, or all objects, in the order of their creation.
    fn visit(&self, owner: Option<usize>, visit: &mut dyn FnMut(usize, &Entry)) {
        let live = self.read();
        let Some(owner) = owner else {
            return live.objects.iter().for_each(|(handle, entry)| visit(handle as usize, entry));
        };
        for handle in live.owned_by(owner) {
            if let Some(entry) = live.objects.get(handle) {
                visit(handle as usize, entry);
            }
        }
    }

    /// Appends the leaks among the objects of a context, given by handle and number, or among all.
    fn leaks(
        &self,
        kind: LeakKind,
        judge: &dyn Fn(&Entry) -> Leaked,
        context: Option<(usize, u64)>,
        found: &mut Vec<Leak>,
    ) {
        let number_of_context = context.map_or(0, |(_, number)| number);
        self.visit(context.map(|(context, _)| context), &mut |handle, entry| {
            let bytes = match judge(entry) {
                Leaked::No => return,
                Leaked::Yes => None,
                Leaked::Bytes(bytes) => Some(bytes),
            };
            let leak = Leak::new(kind, self.number(handle), bytes, entry.made.call, number_of_context);
            found.push(leak.made_at(client::frames(entry.made.site)));
        });
    }

    /// True if this handle was ever issued, even if its object has ended.
    fn was_given(&self, handle: usize) -> bool {
        let first = first(self.kind);
        (first..self.next.load(Ordering::Relaxed)).contains(&handle) && (handle - first) % STEP == 0
    }

    fn number(&self, handle: usize) -> u64 {
        ((handle - first(self.kind)) / STEP) as u64 + 1
    }

    fn read(&self) -> RwLockReadGuard<'_, Live> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Live> {
        self.live.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + Sync + 'static> Table<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        let live = Live { objects: Ordered::new(), owned: BTreeSet::new(), destroyed: BTreeMap::new() };
        let all = Handles { kind, next: AtomicUsize::new(first(kind)), live: RwLock::new(live) };
        Self { all, owner_of: None, leak: None }
    }

    /// Declares that objects end with their context, whose handle `owner_of` returns.
    pub(crate) const fn owned_by(mut self, owner_of: fn(&T) -> usize) -> Self {
        self.owner_of = Some(owner_of);
        self
    }

    /// Declares an object left at the end of its context or process a leak if `judge` says so.
    pub(crate) const fn leak(mut self, kind: LeakKind, judge: Judge<T>) -> Self {
        self.leak = Some((kind, judge));
        self
    }

    /// Creates an object that knows its own handle.
    pub(crate) fn insert_with(&self, make: impl FnOnce(usize) -> T) -> (usize, Arc<T>) {
        let handle = self.all.give();
        (handle, self.insert_again(handle, make(handle)))
    }

    /// Creates an object under a handle of this table whose previous object has ended.
    pub(crate) fn insert_again(&self, handle: usize, object: T) -> Arc<T> {
        let object = Arc::new(object);
        self.all.insert(handle, object.clone(), self.owner_of.map(|owner_of| owner_of(&object)));
        object
    }

    pub(crate) fn insert(&self, object: T) -> usize {
        self.insert_with(|_| object).0
    }

    pub(crate) fn get(&self, handle: usize) -> Option<Arc<T>> {
        self.all.get(handle)?.downcast().ok()
    }

    pub(crate) fn remove(&self, handle: usize) -> Option<Arc<T>> {
        self.all.remove(handle)?.downcast().ok()
    }

    /// True if this handle was ever issued, even if its object has ended.
    pub(crate) fn was_given(&self, handle: usize) -> bool {
        self.all.was_given(handle)
    }

    /// Visits every live object, with its handle and its creation, in the order of creation.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize, Made, &T)) {
        self.all.visit(None, &mut |handle, entry| {
            if let Some(object) = entry.object.downcast_ref() {
                visit(handle, entry.made, object);
            }
        });
    }

    /// Returns the number of the object among the objects of its kind, counted from 1.
    pub(crate) fn number(&self, handle: usize) -> u64 {
        self.all.number(handle)
    }
}

const fn first(kind: Kind) -> usize {
    0x4000_0000_0000 + ((kind as usize) << 38)
}

impl<T: Send + Sync + 'static> Objects for Table<T> {
    fn kind(&self) -> Kind {
        self.all.kind
    }

    fn end_of_context(&self, context: usize) {
        // Dropping an object may access tables, so no lock is held.
        drop(self.all.remove_owned(context));
    }

    fn leaks(&self, context: Option<(usize, u64)>, found: &mut Vec<Leak>) {
        let Some((kind, judge)) = self.leak else { return };
        if context.is_some() != self.owner_of.is_some() {
            return;
        }
        let judge = |entry: &Entry| match entry.object.downcast_ref() {
            Some(object) => judge(object, entry.made.call),
            None => Leaked::No,
        };
        self.all.leaks(kind, &judge, context, found);
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
