//! Memory that can be lent to a graph.

use std::marker::PhantomData;
use std::sync::Arc;

use super::error::GraphError;
use super::kept::{Entry, Kept, NOWHERE, Owned, Owner};
use super::loan::Loan;
use crate::context::ContextRef;
use crate::error::Error;
use crate::external::ExternalSemaphore;
use crate::launch::{In, InOut};
use crate::memory::{
    Buffer, DeviceData, MemoryError, PinnedBuffer, Pitched, PitchedBuffer, PitchedMut, Slice, SliceMut,
};
use crate::raw::debug::debug;
use crate::raw::seal::Key;
use crate::stream::{Signals, StreamValue};

/// Memory that [`Graph::lend`](super::Graph::lend) and [`Capture::lend`](super::Capture::lend)
/// take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent to a graph",
    label = "not memory that a graph can keep",
    note = "device memory is lent as `&mut buffer`, `&buffer`, a slice or rows, or is moved in; host memory is moved in, as a \
            `Vec` or a `PinnedBuffer`; anything that others use too comes in an `Arc`, a part of it as \
            `Part::of(&arc, |owner| owner.memory.as_slice())`"
)]
pub trait LendToGraph<'a> {
    /// Kind of memory that the [`Loan`] names.
    type Memory: ?Sized;
    #[doc(hidden)]
    fn keep(self, kept: &mut Kept<'a>, home: &ContextRef, key: Key)
    -> Result<Loan<Self::Memory>, GraphError>;
}

/// Checks that memory is of the graph's context.
pub(super) fn same_context(home: &ContextRef, context: &ContextRef) -> Result<(), GraphError> {
    let wrong = || Error::wrong_context(cuprum_sys::FnId::cuGraphCreate).into();
    if home == context { Ok(()) } else { Err(wrong()) }
}

/// Says how a graph keeps each kind of memory.
macro_rules! lent {
    ($($memory:ty as $kind:ty $(where $element:ident: $data:ident)? => |$this:ident, $kept:ident, $home:ident| $keep:expr;)*) => { $(
        impl<'a $(, $element: $data)?> LendToGraph<'a> for $memory {
            type Memory = $kind;

            fn keep(self, $kept: &mut Kept<'a>, $home: &ContextRef, _: Key) -> Result<Loan<$kind>, GraphError> {
                let $this = self;
                $keep
            }
        }
    )* };
}

lent! {
    SliceMut<'a, T> as InOut<T> where T: DeviceData => |this, kept, home| {
        same_context(home, this.context())?;
        Ok(Loan::run(this.as_raw(), this.len(), kept.push(Entry::Borrowed)))
    };
    Slice<'a, T> as In<T> where T: DeviceData => |this, kept, home| {
        same_context(home, this.context())?;
        Ok(Loan::run(this.as_raw(), this.len(), kept.push(Entry::Borrowed)))
    };
    PitchedMut<'a, T> as PitchedMut<'static, T> where T: DeviceData => |this, kept, home| {
        same_context(home, this.context())?;
        Ok(Loan::rows(this.as_raw(), this.strides(), this.is_aligned(), kept.push(Entry::Borrowed)))
    };
    Pitched<'a, T> as Pitched<'static, T> where T: DeviceData => |this, kept, home| {
        same_context(home, this.context())?;
        Ok(Loan::rows(this.as_raw(), this.strides(), this.is_aligned(), kept.push(Entry::Borrowed)))
    };
    &'a mut Buffer<'_, T> as InOut<T> where T: DeviceData => |this, kept, home| this.as_mut_slice().keep(kept, home, Key::new());
    &'a Buffer<'_, T> as In<T> where T: DeviceData => |this, kept, home| this.as_slice().keep(kept, home, Key::new());
    &'a mut PitchedBuffer<'_, T> as PitchedMut<'static, T> where T: DeviceData => |this, kept, home| this.as_pitched_mut().keep(kept, home, Key::new());
    &'a PitchedBuffer<'_, T> as Pitched<'static, T> where T: DeviceData => |this, kept, home| this.as_pitched().keep(kept, home, Key::new());
    Buffer<'a, T> as InOut<T> where T: DeviceData => |this, kept, home| {
        same_context(home, this.context())?;
        let (address, len) = (this.as_raw(), this.len());
        let place = kept.push(Entry::Owned(Owned::new(Owner::Buffer, this, NOWHERE)));
        Ok(Loan::run(address, len, place))
    };
    PitchedBuffer<'a, T> as PitchedMut<'static, T> where T: DeviceData => |this, kept, home| {
        same_context(home, this.context())?;
        let rows = this.as_pitched();
        let (address, strides, aligned) = (rows.as_raw(), rows.strides(), rows.is_aligned());
        let place = kept.push(Entry::Owned(Owned::new(Owner::PitchedBuffer, this, NOWHERE)));
        Ok(Loan::rows(address, strides, aligned, place))
    };
    Vec<T> as [T] where T: DeviceData => |this, kept, _home| {
        let mut host = this;
        let (start, len) = (host.as_mut_ptr().cast(), host.len());
        Ok(Loan::run(0, len, kept.push(Entry::Owned(Owned::new(Owner::Vec, host, start)))))
    };
    PinnedBuffer<'a, T> as [T] where T: DeviceData => |this, kept, home| {
        // Only of this context, whose end waits for the copies of a lost graph.
        same_context(home, this.context())?;
        if this.is_lost() {
            return Err(MemoryError::Lost.into());
        }
        let (start, len) = (this.as_raw().cast(), this.len());
        Ok(Loan::run(0, len, kept.push(Entry::Owned(Owned::new(Owner::PinnedBuffer, this, start)))))
    };
    Arc<Buffer<'a, T>> as In<T> where T: DeviceData => |this, kept, home| Part::of(&this, |buffer| buffer.as_slice()).keep(kept, home, Key::new());
    Arc<Signals<'a, T>> as Signals<'static, T> where T: StreamValue => |this, kept, home| {
        same_context(home, this.context())?;
        let (address, len) = (this.as_raw(), this.len());
        Ok(Loan::run(address, len, kept.push(Entry::Share { _share: this })))
    };
    Arc<ExternalSemaphore<'a>> as ExternalSemaphore<'static> => |this, kept, home| {
        same_context(home, this.context())?;
        Ok(Loan::run(0, 1, kept.push(Entry::Semaphore(this))))
    };
}

/// Elements of a shared object, such as the weights of one layer of a model. A graph to which they
/// are lent keeps a share of the object.
///
/// ```
/// # cuprum::example!(driver, context);
/// use std::sync::Arc;
///
/// use cuprum::graph::{Graph, GraphExec, InstantiateFlags, Part};
/// use cuprum::{Buffer, Stream};
///
/// struct Model {
///     layers: Vec<Buffer<'static, f32>>,
/// }
///
/// # context.enter(|cx| {
/// let model = Arc::new(Model { layers: vec![Buffer::from_slice(cx, &[1.0, 2.0])?] });
/// let mut graph = Graph::new(cx)?;
/// let weights = graph.lend(Part::of(&model, |model| model.layers[0].as_slice()))?;
/// let output = graph.lend(vec![0.0; 2])?;
/// graph.add_copy(cx, &[], output, weights)?;
/// let mut exec: GraphExec<'static> = graph.instantiate(cx, InstantiateFlags::empty())?;
/// drop(model);
/// exec.launch(cx, &Stream::new(cx)?)?;
/// assert_eq!(exec.view(output)?, [1.0, 2.0]);
/// # Ok(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Part<O, T, F> {
    whole: Arc<O>,
    part: F,
    _elements: PhantomData<fn() -> T>,
}

impl<O, T: DeviceData, F: FnOnce(&O) -> Slice<'_, T>> Part<O, T, F> {
    /// Selects the elements of `whole` that `part` returns. Calls `part` when they are lent.
    pub fn of(whole: &Arc<O>, part: F) -> Self {
        Self { whole: Arc::clone(whole), part, _elements: PhantomData }
    }
}

debug!([O, T, F] Part<O, T, F>: |this| "{:p}", Arc::as_ptr(&this.whole));

impl<'a, O, T, F> LendToGraph<'a> for Part<O, T, F>
where
    O: Send + Sync + 'a,
    T: DeviceData,
    F: FnOnce(&O) -> Slice<'_, T>,
{
    type Memory = In<T>;

    fn keep(self, kept: &mut Kept<'a>, home: &ContextRef, _: Key) -> Result<Loan<In<T>>, GraphError> {
        let Self { whole, part, .. } = self;
        // `part` takes a borrow of any length, so the memory lives, and is only read, as long as
        // the whole is shared.
        let elements = part(&whole);
        same_context(home, elements.context())?;
        let (address, len) = (elements.as_raw(), elements.len());
        Ok(Loan::run(address, len, kept.push(Entry::Share { _share: whole })))
    }
}
