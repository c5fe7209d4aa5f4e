//! Page-locked memory, protected from the host while the device may still write it.
//!
//! After a fault every wait returns immediately, while copies to page-locked memory continue, and
//! no call reports their end (see the [module of streams](crate::stream)). So a failed wait proves
//! nothing: memory lent to the work must not be read, written or freed any more. Its owners carry a
//! [`Mark`] for that.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::DeviceData;
use super::place::Source;
use super::place::kind::kinds;
use crate::raw::debug::debug;
use crate::raw::mark::Mark;
use crate::raw::owner::len;
use crate::raw::seal::{Key, Sealed};

/// Elements in page-locked host memory.
///
/// It is `pub` only because a sealed trait returns it.
#[derive(Debug)]
pub struct Locked<T> {
    start: NonNull<T>,
    len: usize,
    /// True if it is page-locked for the driver's other contexts too.
    portable: bool,
    mark: Mark,
}

// SAFETY: it represents the elements, which can be sent; the mark consists of atomics.
unsafe impl<T: Send> Send for Locked<T> {}
// SAFETY: a shared reference gives shared references to the elements.
unsafe impl<T: Sync> Sync for Locked<T> {}

impl<T: DeviceData> Locked<T> {
    /// # Safety
    /// `len` initialized elements are at `start`, aligned, and used by no other code while this
    /// exists.
    pub(crate) unsafe fn new(start: NonNull<T>, len: usize, portable: bool) -> Self {
        Self { start, len, portable, mark: Mark::new() }
    }

    #[inline]
    pub(crate) const fn start(&self) -> NonNull<T> {
        self.start
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_portable(&self) -> bool {
        self.portable
    }

    pub(crate) const fn mark(&self) -> &Mark {
        &self.mark
    }

    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.mark.is_lost()
    }

    /// Number of elements that the host may access.
    #[inline]
    fn reachable(&self) -> usize {
        if self.is_lost() { 0 } else { self.len }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: this many initialized elements, unless they are lost, with the borrow of this.
        // The device writes them only while they are borrowed mutably for a scope, or after they
        // are lost.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.reachable()) }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.reachable()) }
    }
}

/// Common methods of the owners of page-locked elements, by their elements' type and their context.
macro_rules! locked {
    ([$of:ident: $bound:ident] $owner:ident: $element:ty, |$this:ident| $context:expr) => {
        impl<$of: $bound> $owner<'_, $of> {
            /// Returns the address of the first element on the host, lost or not.
            pub const fn as_raw(&self) -> *mut $element {
                self.elements.start().as_ptr()
            }

            $crate::raw::owner::context!(|$this| $context);

            /// True if the memory is [lost](crate::PinnedBuffer#when-it-is-lost): a wait for its
            /// work failed, and the device may still write it.
            #[inline]
            pub fn is_lost(&self) -> bool {
                self.elements.is_lost()
            }
        }

        impl<$of: $bound> std::ops::Deref for $owner<'_, $of> {
            type Target = [$element];

            #[inline]
            fn deref(&self) -> &[$element] {
                self.elements.as_slice()
            }
        }

        impl<$of: $bound> std::ops::DerefMut for $owner<'_, $of> {
            #[inline]
            fn deref_mut(&mut self) -> &mut [$element] {
                self.elements.as_mut_slice()
            }
        }

        impl<$of: $bound> $crate::memory::locked::sealed::PageLocked for $owner<'_, $of> {
            type Element = $element;

            fn locked(&self) -> &Locked<$element> {
                &self.elements
            }

            fn home(&self) -> &ContextRef {
                self.context()
            }
        }

        $crate::raw::debug::debug! {
            [$of: $bound] $owner<'_, $of>: |this|
            "{:p}, {} elements{}", this.as_raw(), this.elements.len(), if this.is_lost() { ", lost" } else { "" }
        }
    };
}

pub(super) use locked;

kinds! {
    /// Page-locked host memory that is lent to a scope.
    Pinned: NonNull<[T]>, NonNull<[T]>;
}

/// Borrows elements of page-locked memory [lent to a scope](crate::stream::Scope::lend).
///
/// It exists only in a loan, because the scope marks the owner if it cannot be waited for.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{PinnedFlags, PinnedMut};
/// use cuprum::stream::Lent;
/// use cuprum::{Buffer, PinnedBuffer, Stream};
///
/// /// The second half of a loan.
/// fn second_half<'scope>(host: &Lent<'scope, PinnedMut<'scope, u32>>) -> Lent<'scope, PinnedMut<'scope, u32>> {
///     host.slice(host.len() / 2..).expect("half of it")
/// }
///
/// let (stream, source) = (Stream::new(&cx)?, Buffer::from_slice(&cx, &[1u32, 2])?);
/// let mut host = PinnedBuffer::<u32>::zeroed(&cx, 4, PinnedFlags::empty())?;
/// cx.scope(&stream, |scope| Ok(scope.copy(&second_half(&scope.lend(&mut host)?), &scope.lend(&source)?)?))?;
/// assert_eq!(host[..], [0, 0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PinnedMut<'a, T: DeviceData> {
    elements: NonNull<[T]>,
    _elements: PhantomData<&'a mut [T]>,
}

impl<T: DeviceData> PinnedMut<'_, T> {
    /// Elements of an owner that is borrowed mutably, with its mark in a scope.
    pub(crate) const fn new(start: NonNull<T>, len: usize) -> Self {
        Self { elements: NonNull::slice_from_raw_parts(start, len), _elements: PhantomData }
    }

    len!(|this| this.elements.len());

    /// Address of the first element on the host.
    pub const fn as_raw(&self) -> *mut T {
        self.elements.as_ptr().cast()
    }

    /// Elements from `start` on; the caller has checked the range.
    pub(crate) fn part(&self, start: usize, len: usize) -> Self {
        let start = NonNull::new(self.as_raw().wrapping_add(start));
        Self::new(start.unwrap_or(NonNull::dangling()), len)
    }
}

impl<T: DeviceData> Sealed for PinnedMut<'_, T> {}

#[diagnostic::do_not_recommend]
impl<T: DeviceData> Source<T> for PinnedMut<'_, T> {
    type Kind = Pinned;

    #[inline]
    fn as_source(&self, _: Key) -> NonNull<[T]> {
        self.elements
    }
}

debug!([T: DeviceData] PinnedMut<'_, T>: |this| "{:p}, {} elements", this.as_raw(), this.len());

pub(crate) mod sealed {
    use super::{DeviceData, Locked};
    use crate::context::ContextRef;
    use crate::raw::seal::Sealed;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be lent as page-locked memory",
        label = "lend a whole `PinnedBuffer` or `Registered`: after a fault, only its owner can be kept from the host"
    )]
    /// An owner of page-locked memory: a [`PinnedBuffer`](crate::PinnedBuffer) or a
    /// [`Registered`](crate::memory::Registered).
    pub trait PageLocked: Sealed {
        /// The type of its elements.
        type Element: DeviceData;
        fn locked(&self) -> &Locked<Self::Element>;
        fn home(&self) -> &ContextRef;
    }
}
