//! Things that a graph has borrowed or owns for its nodes, and the tokens that reach them.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::{CUdeviceptr, CUfunction};

use super::GraphError;
use super::host::{HostNode, Payload};
use crate::context::ContextRef;
use crate::launch::addresses;
use crate::memory::elements::run;
use crate::memory::{Buffer, DeviceData, Slice, SliceMut, resolve};
use crate::raw::keep::Near;
use crate::stream::{Signals, StreamValue};

/// Identity of a graph within the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Brand(u64);

impl Brand {
    pub(super) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Position of something among the things that a graph keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    brand: Brand,
    /// `None` for memory that only exists while the graph runs.
    at: Option<usize>,
}

/// Device memory that a graph has to itself: nodes work on it, and between replays it is reached through the graph.
///
/// A token, `Copy`: it borrows nothing, and is good for its own graph and the executable made of it. Nodes without an
/// edge between them use the same memory in any order.
///
/// Example: that of [`Graph`](super::Graph), `give`.
#[derive(Clone, Copy)]
pub struct Loan<T: DeviceData> {
    part: SharedLoan<T>,
}

/// Device memory that was lent to a graph to be read. `Copy`.
///
/// Example: that of [`Current::capture`](crate::Current::capture), `lend_shared`.
#[derive(Clone, Copy)]
pub struct SharedLoan<T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    place: Place,
    _elements: PhantomData<fn() -> T>,
}

/// Memory of the host that a graph owns: its nodes read or write it, and between replays it is reached through the
/// graph. A token, `Copy`.
///
/// Example: that of [`Executable::replay`](super::Executable::replay), `add_copy_to_host`.
#[derive(Clone, Copy)]
pub struct HostLoan<T: DeviceData> {
    len: usize,
    place: Place,
    _elements: PhantomData<fn() -> T>,
}

macro_rules! tokens {
    ($($token:ident)*) => { $(
        impl<T: DeviceData> fmt::Debug for $token<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($token), "({} elements)"), self.len())
            }
        }
    )* };
}

tokens! { Loan SharedLoan HostLoan }

run!(SharedLoan<T>, with parts);

impl<T: DeviceData> SharedLoan<T> {
    /// The same memory, for what only asks whose it is.
    pub(super) const fn erased(self) -> SharedLoan<u8> {
        let Self { address, len, place, .. } = self;
        SharedLoan { address, len, place, _elements: PhantomData }
    }

    /// True if this and other memory of `bytes` bytes have some in common.
    pub(super) const fn overlaps(&self, other: CUdeviceptr, bytes: usize) -> bool {
        self.address < other + bytes as CUdeviceptr && other < self.address + bytes as CUdeviceptr
    }
}

run!(Loan<T>, of its part);

impl<T: DeviceData> Loan<T> {
    /// The same memory, to read.
    pub const fn as_shared(&self) -> SharedLoan<T> {
        self.part
    }

    /// Some of the elements, also of those that other parts have; `None` if the range does not lie in the loan.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Option<Self> {
        self.part.slice(range).map(|part| Self { part })
    }
}

impl<T: DeviceData> HostLoan<T> {
    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: DeviceData> From<Loan<T>> for SharedLoan<T> {
    fn from(loan: Loan<T>) -> Self {
        loan.part
    }
}

addresses! {
    In <- Loan<T>;
    In <- SharedLoan<T>;
    InOut <- Loan<T>;
}

/// A value whose type only its token knows.
struct Erased<'a> {
    at: NonNull<()>,
    free: unsafe fn(NonNull<()>),
    _value: PhantomData<Box<dyn Send + 'a>>,
}

// SAFETY: the value is `Send`, as `new` demands, and is lent only while this is borrowed.
unsafe impl Send for Erased<'_> {}

impl<'a> Erased<'a> {
    fn new<V: Send + 'a>(value: V) -> Self {
        /// # Safety
        /// `at` is of a box of a `V`, and is not used again.
        unsafe fn free<V>(at: NonNull<()>) {
            // SAFETY: the caller's word.
            drop(unsafe { Box::from_raw(at.as_ptr().cast::<V>()) });
        }
        let at = NonNull::from(Box::leak(Box::new(value))).cast();
        Self { at, free: free::<V>, _value: PhantomData }
    }

    /// # Safety
    /// It was made of a `V`, but for lifetimes, which may be shorter in this one.
    unsafe fn get<V>(&self) -> &V {
        // SAFETY: the caller's word; the value lives as long as this.
        unsafe { self.at.cast().as_ref() }
    }

    /// # Safety
    /// It was made of a `V`, without any lifetimes.
    unsafe fn get_mut<V>(&mut self) -> &mut V {
        // SAFETY: the caller's word; this is borrowed mutably.
        unsafe { self.at.cast().as_mut() }
    }

    /// # Safety
    /// The duties of [`get`](Self::get).
    unsafe fn into_value<V>(self) -> V {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the caller's word; the box is not freed by the `Drop` of this.
        *unsafe { Box::from_raw(this.at.as_ptr().cast::<V>()) }
    }
}

impl Drop for Erased<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new` for this very type, and dropped once.
        unsafe { (self.free)(self.at) }
    }
}

/// One thing that is kept.
enum Entry<'a> {
    /// Borrowed: the lifetime keeps it.
    Borrowed,
    /// A buffer, or a vector, of the element type of its token.
    Owned(Erased<'a>),
    /// A share of something that nodes use.
    Share(#[allow(dead_code, reason = "it is there to be dropped")] Box<dyn Send + 'a>),
}

/// All that a graph keeps.
pub(super) struct Kept<'a> {
    pub(super) brand: Brand,
    entries: Vec<Entry<'a>>,
    pub(super) host_calls: Vec<Arc<HostNode>>,
    /// The kernels of which it has shares.
    functions: HashSet<usize>,
    /// Things that graphs inside of this one keep.
    adopted: Vec<Kept<'a>>,
}

impl<'a> Kept<'a> {
    pub(super) fn new() -> Self {
        Self {
            brand: Brand::fresh(),
            entries: Vec::new(),
            host_calls: Vec::new(),
            functions: HashSet::new(),
            adopted: Vec::new(),
        }
    }

    fn push(&mut self, entry: Entry<'a>) -> Place {
        self.entries.push(entry);
        Place { brand: self.brand, at: Some(self.entries.len() - 1) }
    }

    pub(super) fn lend<T: DeviceData>(&mut self, memory: SliceMut<'a, T>) -> Loan<T> {
        let place = self.push(Entry::Borrowed);
        Loan {
            part: SharedLoan { address: memory.as_raw(), len: memory.len(), place, _elements: PhantomData },
        }
    }

    pub(super) fn lend_shared<T: DeviceData>(&mut self, memory: Slice<'a, T>) -> SharedLoan<T> {
        let place = self.push(Entry::Borrowed);
        SharedLoan { address: memory.as_raw(), len: memory.len(), place, _elements: PhantomData }
    }

    pub(super) fn give<T: DeviceData>(&mut self, buffer: Buffer<'a, T>) -> Loan<T> {
        let (address, len) = (buffer.as_raw(), buffer.len());
        let place = self.push(Entry::Owned(Erased::new(buffer)));
        Loan { part: SharedLoan { address, len, place, _elements: PhantomData } }
    }

    /// Takes over memory of the host; also returns its address, which does not change.
    pub(super) fn give_host<T: DeviceData>(&mut self, mut host: Vec<T>) -> (HostLoan<T>, *mut T) {
        let (at, len) = (host.as_mut_ptr(), host.len());
        let place = self.push(Entry::Owned(Erased::new(host)));
        (HostLoan { len, place, _elements: PhantomData }, at)
    }

    /// Keeps a share of numbers that the host has too.
    pub(super) fn give_signals<T: StreamValue>(&mut self, signals: Arc<Signals<'a, T>>) -> SharedLoan<T> {
        let (address, len) = (signals.as_raw(), signals.len());
        let place = self.give_share(Box::new(signals));
        SharedLoan { address, len, place, _elements: PhantomData }
    }

    /// Keeps a share of something that nodes use.
    pub(super) fn give_share(&mut self, share: Box<dyn Send + 'a>) -> Place {
        self.push(Entry::Share(share))
    }

    /// Memory at this address that exists only while the graph runs.
    pub(super) fn inside<T: DeviceData>(&self, address: CUdeviceptr, len: usize) -> Loan<T> {
        let place = Place { brand: self.brand, at: None };
        Loan { part: SharedLoan { address, len, place, _elements: PhantomData } }
    }

    /// Keeps the code of a kernel, once: its handle is no other kernel's while it is kept.
    pub(super) fn share(&mut self, function: CUfunction, share: Box<dyn Send + 'a>) {
        if self.functions.insert(function.0.addr()) {
            self.entries.push(Entry::Share(share));
        }
    }

    /// Takes over the things that another graph kept, which the tokens of that one still reach.
    pub(super) fn adopt(&mut self, other: Kept<'a>) {
        self.adopted.push(other);
    }

    /// The keeper of a brand's things: this, or one inside of it.
    fn of(&self, brand: Brand) -> Option<&Self> {
        if self.brand == brand { Some(self) } else { self.adopted.iter().find_map(|kept| kept.of(brand)) }
    }

    /// Like `of`.
    fn of_mut(&mut self, brand: Brand) -> Option<&mut Self> {
        if self.brand == brand {
            return Some(self);
        }
        self.adopted.iter_mut().find_map(|kept| kept.of_mut(brand))
    }

    /// True if a function of the host has panicked and nobody took that panic yet.
    pub(super) fn has_panicked(&self) -> bool {
        self.host_calls.iter().any(|call| call.has_panicked()) || self.adopted.iter().any(Self::has_panicked)
    }

    /// Takes a panic that was not taken yet.
    pub(super) fn take_panic(&self) -> Option<Payload> {
        let inner = || self.adopted.iter().find_map(Self::take_panic);
        self.host_calls.iter().find_map(|call| call.take_panic()).or_else(inner)
    }

    /// Checks that a loan is of this graph. Memory that a child graph allocates exists inside of the child alone.
    pub(super) fn check<T: DeviceData>(&self, loan: SharedLoan<T>) -> Result<(), GraphError> {
        let known =
            self.of(loan.place.brand).is_some_and(|_| loan.place.at.is_some() || self.allocates(loan));
        if known { Ok(()) } else { Err(GraphError::Foreign) }
    }

    /// Checks that a place is among the things that this graph keeps.
    pub(super) fn check_place(&self, place: Place) -> Result<(), GraphError> {
        if self.of(place.brand).is_some() { Ok(()) } else { Err(GraphError::Foreign) }
    }

    /// True if the graph allocates this memory while it runs.
    pub(super) fn allocates<T: DeviceData>(&self, loan: SharedLoan<T>) -> bool {
        loan.place.brand == self.brand && loan.place.at.is_none()
    }

    pub(super) fn host<T: DeviceData>(&self, loan: HostLoan<T>) -> Result<&[T], GraphError> {
        let kept = self.of(loan.place.brand).ok_or(GraphError::Foreign)?;
        match loan.place.at.and_then(|at| kept.entries.get(at)) {
            // SAFETY: the token has the brand of what keeps this entry, and was made with it: a vector of its elements.
            Some(Entry::Owned(host)) => Ok(unsafe { host.get::<Vec<T>>() }),
            _ => Err(GraphError::Foreign),
        }
    }

    pub(super) fn host_mut<T: DeviceData>(&mut self, loan: HostLoan<T>) -> Result<&mut [T], GraphError> {
        let kept = self.of_mut(loan.place.brand).ok_or(GraphError::Foreign)?;
        match loan.place.at.and_then(|at| kept.entries.get_mut(at)) {
            // SAFETY: as in `host`; a vector of plain data has no lifetime.
            Some(Entry::Owned(host)) => Ok(unsafe { host.get_mut::<Vec<T>>() }),
            _ => Err(GraphError::Foreign),
        }
    }

    /// Takes out the value for which a token was made, if it is owned and still there.
    fn take(&mut self, place: Place) -> Option<Erased<'a>> {
        let entry = self.of_mut(place.brand)?.entries.get_mut(place.at?)?;
        match std::mem::replace(entry, Entry::Borrowed) {
            Entry::Owned(owned) => Some(owned),
            other => {
                *entry = other;
                None
            }
        }
    }
}

/// The memory of a loan, while nothing runs that uses it.
pub(super) fn slice_of<'s, T: DeviceData>(
    loan: SharedLoan<T>,
    context: Near<'s, ContextRef>,
) -> Result<Slice<'s, T>, GraphError> {
    match loan.place.at {
        Some(_) => Ok(Slice::new(loan.address, loan.len, context)),
        None => Err(GraphError::Inside),
    }
}

/// Like `slice_of`, to write.
pub(super) fn slice_mut_of<'s, T: DeviceData>(
    loan: Loan<T>,
    context: Near<'s, ContextRef>,
) -> Result<SliceMut<'s, T>, GraphError> {
    match loan.part.place.at {
        Some(_) => Ok(SliceMut::new(loan.part.address, loan.part.len, context)),
        None => Err(GraphError::Inside),
    }
}

/// Things that a graph kept, after its end: buffers and host memory are taken back from here, the rest goes with it.
///
/// Example: that of [`Graph`](super::Graph), `close`.
pub struct Returned<'a>(pub(super) Kept<'a>);

impl<'a> Returned<'a> {
    /// The buffer that was given for this loan, or a part of it; `None` if it was taken before, was not given, or is of
    /// another graph.
    pub fn buffer<T: DeviceData>(&mut self, loan: Loan<T>) -> Option<Buffer<'a, T>> {
        // SAFETY: the token was made with this entry, a buffer of its elements that lives for `'a`, or longer.
        self.0.take(loan.part.place).map(|buffer| unsafe { buffer.into_value::<Buffer<'a, T>>() })
    }

    /// The memory of the host that was given for this loan; `None` as for [`buffer`](Returned::buffer).
    pub fn host<T: DeviceData>(&mut self, loan: HostLoan<T>) -> Option<Vec<T>> {
        // SAFETY: the token was made with this entry, a vector of its elements.
        self.0.take(loan.place).map(|host| unsafe { host.into_value::<Vec<T>>() })
    }
}

impl fmt::Debug for Returned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Returned({} things)", self.0.entries.len())
    }
}
