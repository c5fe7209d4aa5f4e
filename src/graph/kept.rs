//! Objects that a graph borrows or owns for its nodes.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use cuprum_sys::{CUDA_HOST_NODE_PARAMS, CUdeviceptr, CUexternalSemaphore, CUfunction};

use super::error::GraphError;
use super::host_node::{HostNode, Payload};
use super::loan::sealed::Memory;
use super::loan::{Loan, Place};
use super::node::Brand;
use crate::external::ExternalSemaphore;
use crate::launch::InOut;
use crate::memory::DeviceData;
use crate::raw::debug::debug;
use crate::raw::shared::Share;

/// Type of an owner. Its token has the element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Owner {
    Buffer,
    PitchedBuffer,
    Vec,
    PinnedBuffer,
}

/// An owner whose element type only its token has.
pub(super) struct Owned<'a> {
    owner: Owner,
    at: NonNull<()>,
    /// The first element, if it is on the host.
    start: *mut u8,
    free: unsafe fn(NonNull<()>),
    _value: PhantomData<Box<dyn Send + 'a>>,
}

// SAFETY: the owner is `Send`, as `new` demands, and its elements are lent only while this is
// borrowed.
unsafe impl Send for Owned<'_> {}

impl<'a> Owned<'a> {
    /// Takes over `value`, whose type `owner` names. `start` is the address of its host elements,
    /// if it has some.
    pub(super) fn new<V: Send + 'a>(owner: Owner, value: V, start: *mut u8) -> Self {
        /// # Safety
        /// `at` points to a box of a `V`, and is not used again.
        unsafe fn free<V>(at: NonNull<()>) {
            // SAFETY: the caller's duty.
            drop(unsafe { Box::from_raw(at.as_ptr().cast::<V>()) });
        }
        let at = NonNull::from(Box::leak(Box::new(value))).cast();
        Self { owner, at, start, free: free::<V>, _value: PhantomData }
    }

    /// # Safety
    /// It was made from a `V`, whose lifetimes may be longer.
    pub(super) unsafe fn into_value<V>(self) -> V {
        let this = ManuallyDrop::new(self);
        // SAFETY: the caller's duty; the `Drop` of this does not free the box.
        *unsafe { Box::from_raw(this.at.as_ptr().cast::<V>()) }
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` made it for this type, and it is dropped once.
        unsafe { (self.free)(self.at) }
    }
}

/// One object that is kept.
pub(super) enum Entry<'a> {
    /// A borrowed object, which the lifetime keeps.
    Borrowed,
    Owned(Owned<'a>),
    Semaphore(Arc<ExternalSemaphore<'a>>),
    /// A share of an object that nodes use.
    Share {
        /// Dropped with the graph.
        _share: Share<'a>,
    },
}

/// All objects that a graph keeps. `pub` only because methods of a sealed trait take it.
pub struct Kept<'a> {
    pub(super) brand: Brand,
    entries: Vec<Entry<'a>>,
    host_calls: Vec<Arc<HostNode>>,
    /// Kernels of which the graph has shares.
    functions: HashSet<usize>,
    /// Addresses of objects of other libraries of which the graph has shares.
    shares: HashSet<usize>,
    /// Keepers of the graphs inside of this one.
    adopted: Vec<Kept<'a>>,
}

impl<'a> Kept<'a> {
    pub(super) fn new() -> Self {
        Self {
            brand: Brand::fresh(),
            entries: Vec::new(),
            host_calls: Vec::new(),
            functions: HashSet::new(),
            shares: HashSet::new(),
            adopted: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, entry: Entry<'a>) -> Place {
        self.entries.push(entry);
        Place { brand: self.brand, at: Some(self.entries.len() - 1) }
    }

    /// Returns a loan of memory at this address, which exists only while the graph runs.
    pub(super) fn inside<T: DeviceData>(&self, address: CUdeviceptr, len: usize) -> Loan<InOut<T>> {
        Loan::run(address, len, Place { brand: self.brand, at: None })
    }

    /// Keeps the code of a kernel once. No other kernel has its handle while it is kept.
    pub(super) fn share(&mut self, function: CUfunction, share: Share<'a>) {
        if self.functions.insert(function.0.addr()) {
            self.entries.push(Entry::Share { _share: share });
        }
    }

    /// Keeps an object of another library once. No other object has its address while it is kept.
    pub(super) fn keep(&mut self, share: Share<'a>) {
        if self.shares.insert(Arc::as_ptr(&share).cast::<()>().addr()) {
            self.entries.push(Entry::Share { _share: share });
        }
    }

    /// Keeps a host function as long as the graph and its executable exist.
    pub(super) fn call(&mut self, function: impl FnMut() + Send + 'static) -> CUDA_HOST_NODE_PARAMS {
        let call = HostNode::new(function);
        let params = HostNode::params(&call);
        self.host_calls.push(call);
        params
    }

    /// Takes over all objects that another graph kept. The tokens of that graph remain valid.
    pub(super) fn adopt(&mut self, other: Kept<'a>) {
        self.adopted.push(other);
    }

    /// Returns the keeper with a brand: this one, or one inside of it.
    fn of(&self, brand: Brand) -> Option<&Self> {
        if self.brand == brand { Some(self) } else { self.adopted.iter().find_map(|kept| kept.of(brand)) }
    }

    /// Same as `of`.
    fn of_mut(&mut self, brand: Brand) -> Option<&mut Self> {
        if self.brand == brand {
            return Some(self);
        }
        self.adopted.iter_mut().find_map(|kept| kept.of_mut(brand))
    }

    /// True if a host function has panicked and the panic has not been taken.
    pub(super) fn has_panicked(&self) -> bool {
        self.host_calls.iter().any(|call| call.has_panicked()) || self.adopted.iter().any(Self::has_panicked)
    }

    /// Takes a panic that has not been taken.
    pub(super) fn take_panic(&self) -> Option<Payload> {
        let inner = || self.adopted.iter().find_map(Self::take_panic);
        self.host_calls.iter().find_map(|call| call.take_panic()).or_else(inner)
    }

    /// Checks that a loan belongs to this graph. Memory that a child graph allocates exists only
    /// inside of the child.
    pub(super) fn check(&self, place: Place) -> Result<(), GraphError> {
        let known = self.of(place.brand).is_some_and(|_| place.at.is_some() || self.allocates(place));
        if known { Ok(()) } else { Err(GraphError::Foreign) }
    }

    /// Returns this if a loan belongs to this graph.
    pub(super) fn checked(&self, place: Place) -> Result<&Self, GraphError> {
        self.check(place).map(|()| self)
    }

    /// True if the graph allocates the memory while it runs.
    pub(super) fn allocates(&self, place: Place) -> bool {
        place.brand == self.brand && place.at.is_none()
    }

    fn entry(&self, place: Place) -> Option<&Entry<'a>> {
        self.of(place.brand)?.entries.get(place.at?)
    }

    /// Returns the address of the first element of a loan of host memory.
    pub(super) fn start<M: Memory + ?Sized>(&self, loan: Loan<M>) -> Result<*mut M::Element, GraphError> {
        match self.entry(loan.place) {
            Some(Entry::Owned(owned)) if !owned.start.is_null() => {
                Ok(owned.start.wrapping_add(loan.address as usize).cast())
            }
            _ => Err(GraphError::Foreign),
        }
    }

    /// Returns the handle of a semaphore.
    pub(super) fn semaphore(
        &self,
        loan: Loan<ExternalSemaphore<'static>>,
    ) -> Result<CUexternalSemaphore, GraphError> {
        match self.entry(loan.place) {
            Some(Entry::Semaphore(semaphore)) => Ok(semaphore.as_raw()),
            _ => Err(GraphError::Foreign),
        }
    }

    /// Takes the owner for which a token was made, if it has this type and was not taken before.
    pub(super) fn take(&mut self, place: Place, owner: Owner) -> Option<Owned<'a>> {
        let entry = self.of_mut(place.brand)?.entries.get_mut(place.at?)?;
        match std::mem::replace(entry, Entry::Borrowed) {
            Entry::Owned(owned) if owned.owner == owner => Some(owned),
            other => {
                *entry = other;
                None
            }
        }
    }
}

debug!(Kept<'_>: |this| "{} entries", this.entries.len());

/// The start of an owner without host elements.
pub(super) const NOWHERE: *mut u8 = ptr::null_mut();
