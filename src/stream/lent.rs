//! Memory that is lent to a scope.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::CUstream;

use super::place::{Exclusive, Line, Located, Rows};
use crate::launch::addresses;
use crate::memory::{ArrayPart, ArrayView, Extent, Pitched, PitchedMut, Slice, SliceMut, Texel, resolve};
use crate::raw::debug::debug;
use crate::raw::seal::Key;
use crate::raw::this_thread::ThisThread;

/// Memory lent to a scope as a view `M`. Only the scope's stream uses it, in the order of the
/// calls, until the scope ends. Made by [`Scope::lend`](super::Scope::lend).
///
/// The scope copies and fills it, and kernels launched on the stream take it as an argument. It
/// does not dereference to its view, which could be used out of stream order. Memory lent to read
/// may be lent to other streams too; its loan is `Copy`, like its view.
///
/// | view | lent as | access |
/// |---|---|---|
/// | [`SliceMut`] | `&mut buffer`, a slice | read and write |
/// | [`Slice`] | `&buffer`, a slice | read |
/// | [`PitchedMut`], [`Pitched`] | `&mut rows`, `&rows`, a part of them | read and write, read |
/// | [`ArrayPart`] | `&array`, a part of it | read and write |
/// | [`PinnedMut`](crate::memory::PinnedMut) | `&mut pinned` | read and write |
/// | [`Peer`](crate::memory::Peer) of a view | `Peer(view)` | one side of copies |
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::SliceMut;
/// use cuprum::stream::{Lent, Scope};
/// use cuprum::{Buffer, MemoryError, Stream};
///
/// /// Sets the second half to the first one.
/// fn repeat<'scope>(
///     scope: &Scope<'scope, '_>,
///     lent: &Lent<'scope, SliceMut<'_, u32>>,
/// ) -> Result<(), MemoryError> {
///     let middle = lent.len() / 2;
///     let (Some(first), Some(second)) = (lent.slice(..middle), lent.slice(middle..)) else { return Ok(()) };
///     scope.copy(&second, &first)
/// }
///
/// let (stream, mut buffer) = (Stream::new(&cx)?, Buffer::from_slice(&cx, &[1u32, 2, 0, 0])?);
/// cx.scope(&stream, |scope| Ok(repeat(scope, &scope.lend(&mut buffer)?)?))?;
/// assert_eq!(buffer.to_vec(&cx)?, [1, 2, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Lent<'scope, M> {
    view: M,
    stream: CUstream,
    /// Invariant: with a shorter `'scope`, host memory could be borrowed for less than the scope.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _this_thread: ThisThread,
}

impl<'scope, M> Lent<'scope, M> {
    /// A view of memory that is borrowed for `'scope`, accepted by the scope of `stream`.
    #[inline]
    pub(crate) const fn new(view: M, stream: CUstream) -> Self {
        Self { view, stream, _scope: PhantomData, _this_thread: ThisThread::MARK }
    }

    #[inline]
    pub(crate) const fn view(&self) -> &M {
        &self.view
    }

    /// The driver's handle of the loan's stream, on which another library may use the memory.
    #[inline]
    pub const fn stream(&self) -> CUstream {
        self.stream
    }

    #[inline]
    pub(crate) const fn with<N>(&self, view: N) -> Lent<'scope, N> {
        Lent::new(view, self.stream)
    }
}

impl<M: Located> Lent<'_, M> {
    /// Returns the address of the first element, of page-locked memory on the host.
    #[inline]
    pub fn as_raw(&self) -> M::Address {
        self.view.address(Key::new())
    }
}

impl<M: Line> Lent<'_, M> {
    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.view.count(Key::new())
    }

    /// True if there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns some of the elements, or `None` if the range is out of bounds. Parts may overlap,
    /// because one stream uses them all, in order.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<Self> {
        let (start, len) = resolve(&range, self.len())?;
        Some(self.with(self.view.part(start, len, Key::new())))
    }
}

impl<'scope, M: Exclusive> Lent<'scope, M> {
    /// The same memory, to read.
    #[inline]
    pub fn as_shared(&self) -> Lent<'scope, M::Shared> {
        self.with(self.view.shared(Key::new()))
    }
}

impl<M: Rows> Lent<'_, M> {
    /// Number of elements per dimension.
    pub fn extent(&self) -> Extent {
        self.view.extent(Key::new())
    }

    /// Bytes from one row to the next.
    pub fn pitch_bytes(&self) -> usize {
        self.view.pitch_bytes(Key::new())
    }
}

impl<'a, T: Texel> Lent<'_, ArrayPart<'a, T>> {
    /// Number of elements per dimension.
    pub const fn extent(&self) -> Extent {
        self.view.extent()
    }

    /// The array of the loan.
    pub const fn array(&self) -> ArrayView<'a, T> {
        self.view.array()
    }
}

addresses! {
    In <- &Lent<'_, Slice<'_, T>>;
    In <- Lent<'_, Slice<'_, T>>;
    In <- &Lent<'_, SliceMut<'_, T>>;
    InOut <- &Lent<'_, SliceMut<'_, T>>;
    In <- &Lent<'_, Pitched<'_, T>>;
    In <- &Lent<'_, PitchedMut<'_, T>>;
    InOut <- &Lent<'_, PitchedMut<'_, T>>;
}

debug!([M: fmt::Debug] Lent<'_, M>: |this, f| f.debug_tuple("Lent").field(&this.view).finish());
