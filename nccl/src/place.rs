//! Places where collectives are queued, and the memory that they use there.

use std::marker::PhantomData;

use cuprum::ContextRef;
use cuprum::graph::{Capture, Loan};
use cuprum::launch::{In, InOut};
use cuprum::memory::{Slice, SliceMut};
use cuprum::region::{Queue, Region};
use cuprum::stream::{Lent, Scope};
use cuprum::sys::CUstream;

use crate::call::Work;
use crate::{Communicator, Element, NcclError};

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A place where a collective is queued: a [`Scope`], a [`Capture`], a [`Queue`] of regions, or one
/// of them [in a group](crate::Group::on).
///
/// `'c` is the time for which the communicator is borrowed: with a scope, at least until that has
/// waited for its stream. A queue keeps the communicator instead, until the work is over or the
/// graph that has it is dropped, and so does the graph of a capture.
///
/// ```
/// use cuprum_nccl::{Communicator, Element, Executor, NcclError, Reduction, Write};
///
/// /// Sums on all members, in a scope, in a capture or on a queue.
/// fn sum<'c, X: Executor<'c>, T: Element>(
///     member: &'c Communicator,
///     on: &X,
///     numbers: &impl Write<X::Tier, Element = T>,
/// ) -> Result<(), NcclError> {
///     member.all_reduce(on, numbers, numbers, Reduction::Sum)
/// }
/// ```
pub trait Executor<'c>: sealed::Sealed {
    /// Kind of memory that is used there: [`InScope`], [`InCapture`] or [`InQueue`].
    type Tier;

    /// The driver's handle of the stream.
    #[doc(hidden)]
    fn stream(&self) -> CUstream;

    #[doc(hidden)]
    fn context(&self) -> &ContextRef;

    #[doc(hidden)]
    fn queue(&self) -> Option<&Queue>;

    /// True if memory may be used there: if it is lent to this stream or to this graph. Queues
    /// check their regions.
    #[doc(hidden)]
    fn has(&self, place: &Place<'_>) -> bool {
        place.stream.is_none_or(|stream| stream == self.stream())
    }

    /// Keeps the communicator, where that is not borrowed or noted with the regions.
    #[doc(hidden)]
    fn keep(&self, _member: &Communicator) {}

    #[doc(hidden)]
    fn submit(&self, work: Work<'_, 'c>) -> Result<(), NcclError>;
}

/// Kind of memory that was lent to a scope. It is only named in bounds.
///
/// ```
/// use cuprum_nccl::{InScope, Read};
///
/// fn accept<'scope>(_: &impl Read<InScope<'scope>, Element = f32>) {}
/// ```
#[derive(Debug)]
pub struct InScope<'scope>(PhantomData<fn(&'scope ()) -> &'scope ()>);

/// Kind of memory that was lent to a graph. It is only named in bounds.
///
/// ```
/// use cuprum_nccl::{InCapture, Read};
///
/// fn accept(_: &impl Read<InCapture, Element = f32>) {}
/// ```
#[derive(Debug)]
pub struct InCapture(());

/// Kind of memory of which queues take note. It is only named in bounds.
///
/// ```
/// use cuprum_nccl::{InQueue, Read};
///
/// fn accept(_: &impl Read<InQueue, Element = f32>) {}
/// ```
#[derive(Debug)]
pub struct InQueue(());

/// Address, number of elements and region of one side of a collective.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub(crate) address: u64,
    pub(crate) len: usize,
    pub(crate) region: Option<&'a Region>,
    pub(crate) stream: Option<CUstream>,
    pub(crate) loan: Option<&'a dyn OfGraph>,
}

/// A loan of a graph, of any type.
pub(crate) trait OfGraph: std::fmt::Debug {
    fn is_lent_to(&self, capture: &Capture<'_, '_, '_>) -> bool;
}

/// Memory that a collective reads: memory [lent](Lent) to a scope by `&` or `&mut`, a [`Loan`] of a
/// graph, or [`Elements`] of a region.
///
/// ```
/// use cuprum_nccl::{InQueue, Read};
///
/// /// Accepts elements of a region, for a collective on a queue.
/// fn input(_: &impl Read<InQueue, Element = f32>) {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that a collective here can read",
    label = "not lent to this scope or graph, or not elements of a region",
    note = "in a scope give `&scope.lend(&buffer)?`, in a capture `&capture.lend(&buffer)?`, on a queue \
            `&Elements::<f32>::of(&region)?`"
)]
pub trait Read<Tier>: sealed::Sealed {
    /// Type of the elements.
    type Element: Element;

    #[doc(hidden)]
    fn place(&self) -> Place<'_>;
}

/// Memory that a collective writes: memory [lent](Lent) to a scope by `&mut`, a [`Loan`] of a graph
/// of memory that it may write, or [`Elements`] of a region.
///
/// ```
/// use cuprum_nccl::{InQueue, Write};
///
/// /// Accepts elements of a region that a collective on a queue writes.
/// fn output(_: &impl Write<InQueue, Element = f32>) {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that a collective here can write",
    label = "not lent to be written",
    note = "in a scope give `&scope.lend(&mut buffer)?`, in a capture `&capture.lend(&mut buffer)?`, on a queue \
            `&Elements::<f32>::of(&region)?`"
)]
pub trait Write<Tier>: Read<Tier> {}

/// A region as elements of a type.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// use cuprum::region::Pool;
/// use cuprum_nccl::{Communicator, Config, Elements, NcclError, Reduction};
///
/// let sums = context.enter(|cx| {
///     let alone = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 1, Config::default())?;
///     let pool = Pool::new(cx);
///     let queue = pool.queue(cx)?;
///     let region = queue.alloc(cx, 12)?;
///     queue.fill(cx, &region, 2.5f32)?;
///     let elements = Elements::<f32>::of(&region)?;
///     assert!(matches!(Elements::<f64>::of(&region), Err(NcclError::Elsewhere(_))), "12 bytes are no two of them");
///     alone.all_reduce(&queue, &elements, &elements, Reduction::Sum)?;
///     Ok(queue.read(cx, &region, pool.pinned(cx, 12)?)?.wait()?.elements::<f32>().map(<[f32]>::to_vec))
/// })?;
/// assert_eq!(sums, Some(vec![2.5; 3]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a, T> {
    region: &'a Region,
    _element: PhantomData<T>,
}

impl<'a, T: Element> Elements<'a, T> {
    /// The elements of a region.
    ///
    /// # Errors
    /// [`NcclError::Elsewhere`] if its bytes are not a whole number of elements, or its address is
    /// not a multiple of their size.
    pub fn of(region: &'a Region) -> Result<Self, NcclError> {
        if region.len() % size_of::<T>() != 0 || region.as_raw() % size_of::<T>() as u64 != 0 {
            return Err(NcclError::Elsewhere("the region's bytes are not whole elements of the type"));
        }
        Ok(Self { region, _element: PhantomData })
    }
}

impl<T> sealed::Sealed for Elements<'_, T> {}

impl<T: Element> Read<InQueue> for Elements<'_, T> {
    type Element = T;

    fn place(&self) -> Place<'_> {
        let len = self.region.len() / size_of::<T>();
        Place { address: self.region.as_raw(), len, region: Some(self.region), stream: None, loan: None }
    }
}

impl<T: Element> Write<InQueue> for Elements<'_, T> {}

impl<M> sealed::Sealed for Lent<'_, M> {}

macro_rules! lent {
    ($($view:ident)*) => { $(
        impl<'scope, T: Element> Read<InScope<'scope>> for Lent<'scope, $view<'_, T>> {
            type Element = T;

            #[inline]
            fn place(&self) -> Place<'_> {
                Place { address: self.as_raw(), len: self.len(), region: None, stream: Some(self.stream()), loan: None }
            }
        }
    )* };
}

lent! { Slice SliceMut }

impl<'scope, T: Element> Write<InScope<'scope>> for Lent<'scope, SliceMut<'_, T>> {}

impl sealed::Sealed for Scope<'_, '_> {}

impl<'c: 'scope, 'scope, 'env> Executor<'c> for Scope<'scope, 'env> {
    type Tier = InScope<'scope>;

    #[inline]
    fn stream(&self) -> CUstream {
        Scope::stream(self)
    }

    #[inline]
    fn context(&self) -> &ContextRef {
        Scope::context(self)
    }

    #[inline]
    fn queue(&self) -> Option<&Queue> {
        None
    }

    #[inline]
    fn submit(&self, work: Work<'_, 'c>) -> Result<(), NcclError> {
        work.make(Scope::stream(self))
    }
}

impl sealed::Sealed for Queue {}

impl<'c> Executor<'c> for Queue {
    type Tier = InQueue;

    #[inline]
    fn stream(&self) -> CUstream {
        self.as_raw()
    }

    #[inline]
    fn context(&self) -> &ContextRef {
        Queue::context(self)
    }

    #[inline]
    fn queue(&self) -> Option<&Queue> {
        Some(self)
    }

    #[inline]
    fn submit(&self, work: Work<'_, 'c>) -> Result<(), NcclError> {
        let kept = work.member.kept(self);
        self.with_raw(work.regions.into_iter().flatten().chain([kept]), |stream, is_recorded| {
            if is_recorded {
                work.member.shared().note_recorded();
            }
            work.make(stream)
        })
    }
}

impl<M: ?Sized> sealed::Sealed for Loan<M> {}

impl<M: ?Sized> OfGraph for Loan<M> {
    fn is_lent_to(&self, capture: &Capture<'_, '_, '_>) -> bool {
        capture.check(*self).is_ok()
    }
}

macro_rules! loan {
    ($($kind:ident)*) => { $(
        impl<T: Element> Read<InCapture> for Loan<$kind<T>> {
            type Element = T;

            fn place(&self) -> Place<'_> {
                Place { address: self.as_raw(), len: self.len(), region: None, stream: None, loan: Some(self) }
            }
        }
    )* };
}

loan! { In InOut }

impl<T: Element> Write<InCapture> for Loan<InOut<T>> {}

impl sealed::Sealed for Capture<'_, '_, '_> {}

impl<'c> Executor<'c> for Capture<'_, '_, '_> {
    type Tier = InCapture;

    fn stream(&self) -> CUstream {
        self.as_raw()
    }

    fn context(&self) -> &ContextRef {
        Capture::context(self)
    }

    fn queue(&self) -> Option<&Queue> {
        None
    }

    fn has(&self, place: &Place<'_>) -> bool {
        place.loan.is_some_and(|loan| loan.is_lent_to(self))
    }

    fn keep(&self, member: &Communicator) {
        member.shared().note_recorded();
        Capture::keep(self, member.owner());
    }

    fn submit(&self, work: Work<'_, 'c>) -> Result<(), NcclError> {
        Executor::keep(self, work.member);
        work.make(self.as_raw())
    }
}
