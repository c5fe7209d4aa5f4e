//! Memory that can be lent to a scope.

use cuprum_sys::FnId;

use super::{Lent, Scope, Signals};
use crate::context::ContextRef;
use crate::error::Error;
use crate::memory::{
    Array, ArrayPart, ArrayView, Buffer, DeviceData, ForeignBuffer, ManagedBuffer, Mapping, MemoryError,
    PageLocked, Peer, PinnedMut, Pitched, PitchedBuffer, PitchedMut, Slice, SliceMut, Texel, copy,
    same_driver,
};
use crate::raw::seal::{Key, Sealed};
use crate::stream::value::StreamValue;

/// Memory that can be lent to a scope: an owner by `&mut` or `&`, or a borrowed part of it.
///
/// | memory | view of the [loan](Lent) |
/// |---|---|
/// | `&mut` [`Buffer`], [`ManagedBuffer`], [`ForeignBuffer`] and other owners; [`SliceMut`] | [`SliceMut`] |
/// | `&` of the same; [`Slice`] | [`Slice`] |
/// | `&mut` [`PitchedBuffer`]; [`PitchedMut`] | [`PitchedMut`] |
/// | `&` [`PitchedBuffer`]; [`Pitched`] | [`Pitched`] |
/// | `&` [`Array`]; [`ArrayView`], [`ArrayPart`] | [`ArrayPart`] |
/// | `&mut` [`PinnedBuffer`](crate::PinnedBuffer), [`Registered`](crate::memory::Registered) | [`PinnedMut`] |
/// | [`Peer`] of a [`Slice`], [`SliceMut`], [`Pitched`] or [`ArrayPart`], or of `&` or `&mut` of its owner | `Peer` of the view |
/// | `&` [`Signals`], [`Texture`](crate::texture::Texture), [`Surface`](crate::texture::Surface) | the same |
/// | `&mut` and `&` [`StreamBuffer`](crate::pool::StreamBuffer) in the order of the scope's stream | [`SliceMut`], [`Slice`] |
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::{Lend, Lent, Scope};
/// use cuprum::{Buffer, MemoryError, Stream};
///
/// /// Lends any two pieces of memory.
/// fn both<'scope, A: Lend<'scope>, B: Lend<'scope>>(
///     scope: &Scope<'scope, '_>,
///     (a, b): (A, B),
/// ) -> Result<(Lent<'scope, A::View>, Lent<'scope, B::View>), MemoryError> {
///     Ok((scope.lend(a)?, scope.lend(b)?))
/// }
///
/// let (stream, source) = (Stream::new(&cx)?, Buffer::from_slice(&cx, &[1u32, 2])?);
/// let mut target = Buffer::<u32>::zeroed(&cx, 2)?;
/// cx.scope(&stream, |scope| {
///     let (target, source) = both(scope, (&mut target, &source))?;
///     Ok(scope.copy(&target, &source)?)
/// })?;
/// assert_eq!(target.to_vec(&cx)?, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent to a scope",
    label = "not memory that can be lent",
    note = "lend an owner by `&mut buffer` or `&buffer`, or a view by value; of the host, a whole `PinnedBuffer` or \
            `Registered` by `&mut`: pageable memory needs no loan"
)]
pub trait Lend<'scope>: Sealed {
    /// The view of the loan.
    type View;

    /// Checks the memory, and waits for work that may still write it.
    #[doc(hidden)]
    fn lend(self, scope: &Scope<'scope, '_>, key: Key) -> Result<Self::View, MemoryError>;
}

/// Memory of a context, for its scopes and, as a [`Peer`], for scopes of other contexts.
pub trait InContext<'scope>: Sealed {
    /// The view of it.
    type View;

    #[doc(hidden)]
    fn view(self, key: Key) -> Self::View;

    #[doc(hidden)]
    fn home(view: &Self::View, key: Key) -> &ContextRef;
}

impl<'scope> Scope<'scope, '_> {
    /// Lends memory to this scope, for any number of uses in order: by `&mut` to read and write, by
    /// `&` to read, also by other streams and the host. [`Lend`] lists the possible types.
    ///
    /// A non-blocking stream is not ordered with the default stream, on which synchronous copies
    /// and fills run. So the host first waits for the default stream when it lends device memory to
    /// one, unless it has already done so in this scope and nothing was queued there since. Only
    /// work queued through this crate counts: other code that uses the memory on the default stream
    /// through raw calls while the scope is open must wait for that work itself.
    ///
    /// Of the host, only owners of page-locked memory can be lent, and no slices: if the wait of
    /// the scope fails, the device may continue to write after its end, so the owner becomes
    /// [lost](crate::PinnedBuffer#when-it-is-lost). Copies from and to page-locked memory do not
    /// make the host wait.
    ///
    /// Memory of [another context](Peer) is ordered by this stream alone, so the host first waits
    /// for the default stream of that context. If the wait of the scope fails, no memory of either
    /// context is freed any more ([`Error::LOST`]), because the driver would not wait for copies
    /// between them.
    ///
    /// Example: see [`Lend`].
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] if the memory is of another context than the stream, and is
    /// neither a [`Peer`] nor portable page-locked memory of the same driver;
    /// [`MemoryError::Lost`]; [`MemoryError::NotInOrder`] for a
    /// [`StreamBuffer`](crate::pool::StreamBuffer) in the order of another stream; sticky errors of
    /// earlier work if it waits.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, for device memory on a non-blocking stream,
    /// otherwise none; for a [`Peer`] also `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`,
    /// CUDA 4.0+.
    #[doc(alias("cuStreamSynchronize", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    #[inline]
    pub fn lend<M: Lend<'scope>>(&self, memory: M) -> Result<Lent<'scope, M::View>, MemoryError> {
        Ok(Lent::new(memory.lend(self, Key::new())?, self.stream()))
    }

    /// Same as [`lend`](Scope::lend), for memory without earlier uses, which needs no wait.
    pub(crate) fn lend_fresh<T: DeviceData>(
        &self,
        memory: SliceMut<'scope, T>,
    ) -> Result<Lent<'scope, SliceMut<'scope, T>>, Error> {
        self.token().of(memory.context(), FnId::cuStreamSynchronize)?;
        Ok(Lent::new(memory, self.stream()))
    }
}

macro_rules! views {
    ($($view:ident of $element:ident;)*) => { $(
        impl<'scope, T: $element> InContext<'scope> for $view<'scope, T> {
            type View = Self;

            #[inline]
            fn view(self, _: Key) -> Self {
                self
            }

            #[inline]
            fn home(view: &Self, _: Key) -> &ContextRef {
                view.context()
            }
        }

        impl<'scope, T: $element> Lend<'scope> for $view<'scope, T> {
            type View = Self;

            #[inline]
            fn lend(self, scope: &Scope<'scope, '_>, _: Key) -> Result<Self, MemoryError> {
                scope.accept(self.context())?;
                Ok(self)
            }
        }
    )* };
}

views! {
    Slice of DeviceData;
    SliceMut of DeviceData;
    Pitched of DeviceData;
    PitchedMut of DeviceData;
    ArrayPart of Texel;
}

/// Lends owners, as views of all their elements.
macro_rules! owners {
    ($([$($mut:tt)?] $owner:ty, of $element:ident, by $view:ident as $method:ident $(and $all:ident)?;)*) => { $(
        impl<'scope, T: $element> $crate::stream::lend::InContext<'scope> for &'scope $($mut)? $owner {
            type View = $view<'scope, T>;

            #[inline]
            fn view(self, _: $crate::raw::seal::Key) -> $view<'scope, T> {
                self.$method()$(.$all())?
            }

            #[inline]
            fn home<'a>(view: &'a $view<'scope, T>, _: $crate::raw::seal::Key) -> &'a ContextRef {
                view.context()
            }
        }

        impl<'scope, T: $element> $crate::stream::Lend<'scope> for &'scope $($mut)? $owner {
            type View = $view<'scope, T>;

            #[inline]
            fn lend(
                self,
                scope: &$crate::stream::Scope<'scope, '_>,
                key: $crate::raw::seal::Key,
            ) -> Result<$view<'scope, T>, $crate::MemoryError> {
                self.$method()$(.$all())?.lend(scope, key)
            }
        }
    )* };
}

owners! {
    [] Buffer<'_, T>, of DeviceData, by Slice as as_slice;
    [] ManagedBuffer<'_, T>, of DeviceData, by Slice as as_slice;
    [] ForeignBuffer<'_, T>, of DeviceData, by Slice as as_slice;
    [] Mapping<'_, T>, of DeviceData, by Slice as as_slice;
    [] PitchedBuffer<'_, T>, of DeviceData, by Pitched as as_pitched;
    [] Array<'_, T>, of Texel, by ArrayPart as view and all;
    [mut] Buffer<'_, T>, of DeviceData, by SliceMut as as_mut_slice;
    [mut] ManagedBuffer<'_, T>, of DeviceData, by SliceMut as as_mut_slice;
    [mut] ForeignBuffer<'_, T>, of DeviceData, by SliceMut as as_mut_slice;
    [mut] Mapping<'_, T>, of DeviceData, by SliceMut as as_mut_slice;
    [mut] PitchedBuffer<'_, T>, of DeviceData, by PitchedMut as as_pitched_mut;
}

impl<'scope, T: Texel> Lend<'scope> for ArrayView<'scope, T> {
    type View = ArrayPart<'scope, T>;

    fn lend(self, scope: &Scope<'scope, '_>, key: Key) -> Result<ArrayPart<'scope, T>, MemoryError> {
        self.all().lend(scope, key)
    }
}

impl<'scope, M: InContext<'scope>> Lend<'scope> for Peer<M> {
    type View = Peer<M::View>;

    fn lend(self, scope: &Scope<'scope, '_>, key: Key) -> Result<Peer<M::View>, MemoryError> {
        let view = self.0.view(key);
        scope.accept_peer(M::home(&view, Key::new()))?;
        Ok(Peer(view))
    }
}

impl<'scope, M: PageLocked + ?Sized> Lend<'scope> for &'scope mut M {
    type View = PinnedMut<'scope, M::Element>;

    fn lend(self, scope: &Scope<'scope, '_>, _: Key) -> Result<Self::View, MemoryError> {
        let (context, home, elements) = (scope.token().get()?, self.home(), self.locked());
        let is_near = *context == *home || (elements.is_portable() && context.driver() == home.driver());
        if !is_near {
            return Err(Error::wrong_context(FnId::cuMemcpyDtoHAsync_v2).into());
        }
        if elements.is_lost() {
            return Err(MemoryError::Lost);
        }
        // SAFETY: the owner is borrowed mutably for the scope, so it is lent to no other. The
        // borrow outlives the scope's wait, because the body does not choose the lifetime.
        unsafe { scope.marks().add(elements.mark()) };
        Ok(PinnedMut::new(elements.start(), elements.len()))
    }
}

impl<'scope, 'ctx, T: StreamValue> Lend<'scope> for &'scope Signals<'ctx, T> {
    type View = Self;

    fn lend(self, scope: &Scope<'scope, '_>, _: Key) -> Result<Self, MemoryError> {
        scope.token().of(self.context(), FnId::cuStreamWaitValue32_v2)?;
        if self.is_lost() {
            return Err(MemoryError::Lost);
        }
        // SAFETY: the owner is borrowed for the scope, beyond its wait: the body cannot shorten
        // that.
        unsafe { scope.marks().add_shared(self.mark()) };
        Ok(self)
    }
}

impl Scope<'_, '_> {
    /// Checks the memory of another context, waits for work that may still write it, and marks both
    /// contexts if the wait of the scope fails.
    fn accept_peer(&self, home: &ContextRef) -> Result<(), Error> {
        let here = self.token().get()?;
        same_driver(&here, home, FnId::cuMemcpyPeerAsync)?;
        copy::wait_for_other(home)?;
        for context in [home, &*here] {
            // SAFETY: memory of that context is borrowed for the scope, beyond its wait, and the
            // scope borrows the other context; neither moves or ends before that.
            unsafe { self.marks().add_shared(context.mark()) };
        }
        Ok(())
    }
}
