//! Sources and destinations of copies.

use std::sync::Arc;

use super::super::DeviceData;
use super::kind::{Elsewhere, Host, Kind};
use crate::raw::seal::{Key, Sealed};

/// A source of elements of `T`: on the host or the device, with or without gaps, owned or borrowed.
///
/// Owners, and mutable borrows such as `SliceMut`, are read by `&`, also inside a `Box` or an
/// `Arc`.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Buffer, Source};
///
/// /// Accepts numbers on the host and on the device.
/// fn numbers<S: Source<u32> + ?Sized>(_: &S) {}
/// numbers(&Buffer::<u32>::alloc(&cx, 3)?);
/// numbers(&[1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no elements of `{T}` to copy from",
    label = "not memory of `{T}`, which the destination has"
)]
pub trait Source<T: DeviceData>: Sealed {
    #[doc(hidden)]
    type Kind: Kind;

    #[doc(hidden)]
    fn as_source(&self, key: Key) -> <Self::Kind as Kind>::View<'_, T>;
}

/// Memory that is copied to, or filled.
///
/// It is borrowed mutably during the call. If a view needs no exclusive borrow, such as an
/// [`ArrayView`](super::super::ArrayView), it can be made for the call.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Buffer;
/// use cuprum::memory::Target;
///
/// /// Size of an element of a place in bytes.
/// fn element_bytes<D: Target + ?Sized>(_: &D) -> usize {
///     size_of::<D::Element>()
/// }
///
/// assert_eq!(element_bytes(&Buffer::<f64>::alloc(&cx, 3)?), 8);
/// assert_eq!(element_bytes(&[0u16; 3]), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "nothing can be copied to `{Self}`",
    label = "not memory that can be written",
    note = "a variable that is a `&mut` itself is given as it is: `y`, not `&mut y`"
)]
pub trait Target: Sealed {
    /// The type of the elements.
    type Element: DeviceData;

    #[doc(hidden)]
    type Kind: Kind;

    #[doc(hidden)]
    fn as_target(&mut self, key: Key) -> <Self::Kind as Kind>::ViewMut<'_, Self::Element>;
}

/// Memory of another context, as a source: on the same device or another one.
///
/// Without this wrapper, memory of another context is an error: the copy would use the bus or the
/// host.
///
/// A copy comes after all earlier work of both contexts, and the host waits until it is complete,
/// because the driver would not wait when it frees either side. It needs no [peer
/// access](crate::Current::enable_peer_access); with it, the data does not pass through the host.
/// If the wait fails, no memory of either context is freed any more
/// ([`Error::LOST`](crate::Error::LOST)). [`Scope::lend`](crate::stream::Scope::lend) waits
/// once for many copies.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let device = cuprum::Driver::init(library)?.device(0)?;
/// use cuprum::memory::Peer;
/// use cuprum::context::{Context, ContextFlags, ContextStack};
/// use cuprum::Buffer;
///
/// let (here, there) =
///     (Context::create(device, ContextFlags::empty())?, Context::create(device, ContextFlags::empty())?);
/// let mut stack = ContextStack::take()?;
/// let mut cx = stack.push(&here)?;
/// let mut mine = Buffer::<u32>::zeroed(&cx, 3)?;
/// let theirs = Buffer::from_slice(&cx.push(&there)?, &[1u32, 2, 3])?;
/// cx.copy(&mut mine, &Peer(&theirs))?;
/// assert_eq!(mine.to_vec(&cx)?, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "one place")]
pub struct Peer<M>(pub M);

impl<M: Sealed> Sealed for Peer<M> {}

#[diagnostic::do_not_recommend]
impl<T: DeviceData, M: Source<T>> Source<T> for Peer<M> {
    type Kind = Elsewhere<M::Kind>;

    #[inline]
    fn as_source(&self, key: Key) -> <M::Kind as Kind>::View<'_, T> {
        self.0.as_source(key)
    }
}

/// Makes a type a place of a kind, by its views to read, to write, or both.
macro_rules! place {
    (@seal [$($generics:tt)*] $place:ty) => {
        impl<$($generics)*> $crate::raw::seal::Sealed for $place {}
    };
    (@read [$($generics:tt)*] $place:ty: $kind:ty, of $element:ty, |$this:ident| $view:expr) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::memory::Source<$element> for $place {
            type Kind = $kind;

            #[inline]
            fn as_source(
                &self,
                _: $crate::raw::seal::Key,
            ) -> <$kind as $crate::memory::place::kind::Kind>::View<'_, $element> {
                let $this = self;
                $view
            }
        }
    };
    (@write [$($generics:tt)*] $place:ty: $kind:ty, of $element:ty, |$this:ident| $view:expr) => {
        impl<$($generics)*> $crate::memory::Target for $place {
            type Element = $element;
            type Kind = $kind;

            #[inline]
            fn as_target(
                &mut self,
                _: $crate::raw::seal::Key,
            ) -> <$kind as $crate::memory::place::kind::Kind>::ViewMut<'_, $element> {
                let $this = self;
                $view
            }
        }
    };
    ($generics:tt $place:ty: $kind:ty, of $element:ty $(, $act:ident |$this:ident| $view:expr)+) => {
        $crate::memory::place::place!(@seal $generics $place);
        $( $crate::memory::place::place!(@$act $generics $place: $kind, of $element, |$this| $view); )+
    };
}

pub(crate) use place;

/// Pointers to places, which are read like the places.
macro_rules! pointers {
    ($($pointer:ty)*) => { $(
        impl<M: Sealed + ?Sized> Sealed for $pointer {}

        #[diagnostic::do_not_recommend]
        impl<T: DeviceData, M: Source<T> + ?Sized> Source<T> for $pointer {
            type Kind = M::Kind;

            #[inline]
            fn as_source(&self, key: Key) -> <M::Kind as Kind>::View<'_, T> {
                (**self).as_source(key)
            }
        }
    )* };
}

pointers!(&M &mut M Box<M> Arc<M>);

impl<M: Target + ?Sized> Target for Box<M> {
    type Element = M::Element;
    type Kind = M::Kind;

    #[inline]
    fn as_target(&mut self, key: Key) -> <M::Kind as Kind>::ViewMut<'_, M::Element> {
        (**self).as_target(key)
    }
}

place!([T: DeviceData] [T]: Host, of T, read |this| this, write |this| this);
place!([T: DeviceData, const N: usize] [T; N]: Host, of T, read |this| this, write |this| this);
place!([T: DeviceData] Vec<T>: Host, of T, read |this| this, write |this| this);
