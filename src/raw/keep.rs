//! Keeping alive the thing that an object was made in: by a borrow, or by one of a counted number of shares.
//!
//! One family of types serves both. A borrowed thing stays in its owner, which the borrow checker keeps in
//! place for `'a`. A shared thing is in a [`Shared`](super::shared::Shared), whose shares are counted; its objects
//! are `'static`, and the last of them to go drops the thing. Telling the two apart costs one predictable branch when an
//! object is made and one when it is dropped, and nothing in between.
//!
//! For that reason, no method hands out a reference to the thing for `'a`, only for the loan of the object or the token
//! in hand: for a shared thing, `'a` means nothing.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A thing that may be shared.
///
/// # Safety
/// If it says that it is shared, it does so for the rest of its life, and is in a [`Shared`].
///
/// [`Shared`]: super::shared::Shared
pub(crate) unsafe trait Shareable: Sized {
    /// False for a thing that is borrowed.
    fn is_shared(&self) -> bool;
}

/// The address of a thing that is alive as long as the holder of this: the holder borrows it or has a share.
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

// SAFETY: it gives out shared references alone.
unsafe impl<T: Sync> Send for Near<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Near<'_, T> {}

impl<'a, T> Near<'a, T> {
    /// A thing that is borrowed for all of `'a`, so that no share taken from here can be the last: by the address of a
    /// reference nothing may be freed. The addresses from [`Keep::near`] of a share and from a [`Shared`] may be used for
    /// that.
    ///
    /// [`Shared`]: super::shared::Shared
    #[inline]
    pub(crate) fn borrowed(thing: &'a T) -> Self {
        Self(NonNull::from(thing), PhantomData)
    }

    /// A thing that is shared, by the address from which its shares are counted.
    #[inline]
    pub(crate) const fn shared(thing: NonNull<T>) -> Self {
        Self(thing, PhantomData)
    }

    /// The same thing, for as long as it is kept alive otherwise.
    ///
    /// # Safety
    /// The thing is alive as long as the copy is used; for instance because the same value also has a
    /// [`Keep`] of something that keeps the thing alive.
    #[inline]
    pub(crate) unsafe fn outlived<'b>(self) -> Near<'b, T> {
        Near(self.0, PhantomData)
    }
}

impl<T> Deref for Near<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the holder of this keeps the thing alive; all that is lent of it is shared.
        unsafe { self.0.as_ref() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Near<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A thing kept alive: borrowed for `'a`, or by one share.
pub(crate) struct Keep<'a, T: Shareable>(Near<'a, T>);

// SAFETY: it gives out shared references alone, and ends the thing on whichever thread drops the last share.
unsafe impl<T: Shareable + Send + Sync> Send for Keep<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Shareable + Send + Sync> Sync for Keep<'_, T> {}

impl<'a, T: Shareable> Keep<'a, T> {
    /// Keeps a thing that is near: takes a share of it if it is shared.
    #[inline]
    pub(crate) fn new(thing: Near<'a, T>) -> Self {
        if thing.is_shared() {
            take_share(thing);
        }
        Self(thing)
    }

    /// The address of the thing, for the time that this is held.
    #[inline]
    pub(crate) fn near(&self) -> Near<'_, T> {
        self.0
    }
}

/// Counts one share more.
#[cold]
#[inline(never)]
fn take_share<T: Shareable>(thing: Near<'_, T>) {
    // SAFETY: a shared thing is in an `Arc`, which the address comes from; the holder of the address keeps it.
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

/// Counts one share less, and drops the thing after the last.
#[cold]
#[inline(never)]
fn give_share<T: Shareable>(thing: Near<'_, T>) {
    // SAFETY: the caller has a share of a thing in an `Arc`, and gives it up.
    unsafe { Arc::decrement_strong_count(thing.0.as_ptr()) };
}
