//! Keeping alive the thing that an object was made in: by a borrow, or by one of a counted number of shares.
//!
//! One family of types serves both. A thing that is borrowed lies in its owner, which the borrow checker keeps in
//! place for `'a`. A thing that is shared lies in an allocation of its own with a count in it; its objects are
//! `'static`, and the last of them to go ends the thing. Telling the two apart costs one predictable branch when an
//! object is made and one when it is dropped, and nothing in between.
//!
//! For that reason, no method hands out a reference to the thing for `'a`, only for the loan of the object or the token
//! in hand: for a shared thing, `'a` means nothing.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thing that may be shared.
///
/// # Safety
/// `shares` is the same for the whole life of a value; if it is some, the value lies in a `Box` that nobody owns but
/// the shares.
pub(crate) unsafe trait Shareable: Sized {
    /// The number of shares; `None` for a thing that is borrowed.
    fn shares(&self) -> Option<&AtomicUsize>;

    /// Ends the thing, as its last share is gone. Called once.
    fn end(&self);
}

/// The address of a thing that is alive while whoever holds this is: the holder borrows it or has a share.
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
    /// reference nothing may be freed. The address from [`Keep::as_near`] of a share may be used for that.
    #[inline]
    pub(crate) fn borrowed(thing: &'a T) -> Self {
        Self(NonNull::from(thing), PhantomData)
    }

    /// The same thing, for as long as it is kept alive otherwise.
    ///
    /// # Safety
    /// The thing is alive as long as the copy is used; for instance because in the same value, beside the copy, is a
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
        // SAFETY: whoever holds this keeps the thing alive; all that is lent of it is shared.
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
    pub(crate) fn near(thing: Near<'a, T>) -> Self {
        if let Some(shares) = thing.shares() {
            take_share(shares);
        }
        Self(thing)
    }

    /// The first share of a thing whose count says one.
    pub(crate) fn first(thing: Box<T>) -> Self
    where
        T: 'a,
    {
        Self(Near(NonNull::from(Box::leak(thing)), PhantomData))
    }

    /// The address of the thing, for the time that this is held.
    #[inline]
    pub(crate) fn as_near(&self) -> Near<'_, T> {
        self.0
    }
}

/// Counts one share more. As in `Arc`, a program that forgets so many objects that the count would overflow ends.
#[cold]
#[inline(never)]
fn take_share(shares: &AtomicUsize) {
    if shares.fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
        std::process::abort();
    }
}

impl<T: Shareable> Clone for Keep<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        Self::near(self.0)
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
        if self.0.shares().is_some() {
            give_share(self.0);
        }
    }
}

/// Counts one share less, and ends the thing after the last.
#[cold]
#[inline(never)]
fn give_share<T: Shareable>(thing: Near<'_, T>) {
    let last = thing.shares().is_some_and(|shares| shares.fetch_sub(1, Ordering::AcqRel) == 1);
    if last {
        // Other threads' uses of the thing happened before.
        thing.end();
        // SAFETY: the thing lies in a box of its own, as it has a count, and the last share is this one.
        drop(unsafe { Box::from_raw(thing.0.as_ptr()) });
    }
}
