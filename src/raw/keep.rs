//! Keeps alive the object that another one was made in: by a borrow, or by a counted share.
//!
//! One family of types serves both. A borrowed object stays in its owner, which the borrow checker
//! keeps in place for `'a`. A shared object is in a [`Shared`](super::shared::Shared) with counted
//! shares; objects made in it are `'static`, and the last share drops it. The distinction costs one
//! predictable branch when an object is made and one when it is dropped.
//!
//! So no method returns a reference for `'a`, but only for the borrow of the object or token at
//! hand: for a shared object, `'a` means nothing.

use super::debug::debug;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// An object that can be shared.
///
/// # Safety
/// If it reports that it is shared, it does so for the rest of its life, and is in a [`Shared`].
///
/// [`Shared`]: super::shared::Shared
pub(crate) unsafe trait Shareable: Sized {
    /// False for a borrowed object.
    fn is_shared(&self) -> bool;
}

/// The address of an object that its holder keeps alive, by a borrow or a share.
///
/// It is `pub` only because a sealed trait returns it.
pub struct Near<'a, T>(NonNull<T>, PhantomData<&'a T>);

impl<T> Clone for Near<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Near<'_, T> {}

// SAFETY: it gives only shared references.
unsafe impl<T: Sync> Send for Near<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Near<'_, T> {}

impl<'a, T> Near<'a, T> {
    /// An object borrowed for all of `'a`, so that no share taken from here can be the last:
    /// nothing may be freed through the address of a reference. The addresses from [`Keep::near`]
    /// of a share and from a [`Shared`] are also allowed.
    ///
    /// [`Shared`]: super::shared::Shared
    #[inline]
    pub(crate) fn borrowed(thing: &'a T) -> Self {
        Self(NonNull::from(thing), PhantomData)
    }

    /// A shared object, by the address of its counted allocation.
    #[inline]
    pub(crate) const fn shared(thing: NonNull<T>) -> Self {
        Self(thing, PhantomData)
    }

    /// Extends the lifetime, for an object that is kept alive in another way.
    ///
    /// # Safety
    /// The object is alive while the copy is used, for example because the same value also has a
    /// [`Keep`] of something that keeps it alive.
    #[inline]
    pub(crate) unsafe fn outlived<'b>(self) -> Near<'b, T> {
        Near(self.0, PhantomData)
    }
}

impl<T> Deref for Near<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the holder of this keeps the object alive; all references to it are shared.
        unsafe { self.0.as_ref() }
    }
}

debug!([T: fmt::Debug] Near<'_, T>: |this, f| (**this).fmt(f));

/// Keeps an object alive: borrowed for `'a`, or by one share.
pub(crate) struct Keep<'a, T: Shareable>(Near<'a, T>);

// SAFETY: it gives only shared references; any thread may drop the last share.
unsafe impl<T: Shareable + Send + Sync> Send for Keep<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Shareable + Send + Sync> Sync for Keep<'_, T> {}

impl<'a, T: Shareable> Keep<'a, T> {
    /// Keeps an object. Takes a share of it if it is shared.
    #[inline]
    pub(crate) fn new(thing: Near<'a, T>) -> Self {
        if thing.is_shared() {
            take_share(thing);
        }
        Self(thing)
    }

    /// The address of the object, while this is held.
    #[inline]
    pub(crate) fn near(&self) -> Near<'_, T> {
        self.0
    }
}

#[cold]
#[inline(never)]
fn take_share<T: Shareable>(thing: Near<'_, T>) {
    // SAFETY: the address is of a shared object in an `Arc`, which its holder keeps.
    unsafe { Arc::increment_strong_count(thing.0.as_ptr()) };
}

impl<T: Shareable> Clone for Keep<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl<T: Shareable> Deref for Keep<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Shareable> Drop for Keep<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_shared() {
            give_share(self.0);
        }
    }
}

#[cold]
#[inline(never)]
fn give_share<T: Shareable>(thing: Near<'_, T>) {
    // SAFETY: the caller has a share of an object in an `Arc`, and gives it up.
    unsafe { Arc::decrement_strong_count(thing.0.as_ptr()) };
}
