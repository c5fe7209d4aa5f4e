//! Tokens for memory of a graph.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::CUdeviceptr;

use self::sealed::{Device, Memory, Run};
use super::node::Brand;
use crate::external::ExternalSemaphore;
use crate::launch::{In, InOut, addresses};
use crate::memory::{DeviceData, Extent, Pitched, PitchedMut, Strides, resolve};
use crate::raw::owner::len;
use crate::stream::{Signals, StreamValue};

/// Memory of a graph. [`Graph::lend`](super::Graph::lend) makes it, nodes take it, and
/// [`GraphExec::view`](super::GraphExec::view) gives access between launches. It is a token that
/// borrows nothing, and is valid for its own graph and the executable of that graph.
///
/// `M` names the kind of memory without lifetimes, so a loan fits into a struct:
///
/// | `M` | memory |
/// |---|---|
/// | [`InOut<T>`](InOut) | of the device, to read and write; an argument for `In<T>` and `InOut<T>` |
/// | [`In<T>`](In) | of the device, to read |
/// | [`PitchedMut<'static, T>`](PitchedMut), [`Pitched<'static, T>`](Pitched) | rows of the device |
/// | `[T]` | of the host, pageable or page-locked, which the graph owns |
/// | [`Signals<'static, T>`](Signals) | numbers that the host has too |
/// | [`ExternalSemaphore<'static>`](ExternalSemaphore) | a semaphore of another API |
///
/// Without a path of edges between them, nodes use the same memory in any order.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::{Graph, Loan};
/// use cuprum::{Buffer, InOut};
///
/// let mut graph = Graph::new(&cx)?;
/// let memory: Loan<InOut<u32>> = graph.lend(Buffer::<u32>::alloc(&cx, 4)?)?;
/// graph.add_fill(&cx, &[], memory.slice(2..).ok_or("outside")?, 7)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Loan<M: ?Sized> {
    /// Address of the first element on the device, or its offset in bytes in host memory.
    pub(super) address: CUdeviceptr,
    /// One row of elements, unless the loan is of rows.
    pub(super) strides: Strides,
    /// True if the driver chose the distance of rows.
    pub(super) aligned: bool,
    pub(super) place: Place,
    _memory: PhantomData<fn(&M)>,
}

// For linear memory `M` is not the view (`SliceMut<'static, T>`): `In` and `InOut` mean the same in
// the signature of a kernel, and have no lifetime, which would be meaningless in a token that
// borrows nothing.

/// Position of an object among the objects that a graph keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub(super) brand: Brand,
    /// `None` for memory that exists only while the graph runs.
    pub(super) at: Option<usize>,
}

pub(crate) mod sealed {
    /// Kind of memory of a loan.
    pub trait Memory {
        type Element;
        const ON_HOST: bool = false;
        const ROWS: bool = false;
    }

    /// Adjacent elements.
    pub trait Run: Memory {}

    /// Memory with a device address.
    pub trait Device: Memory {}
}

macro_rules! memory {
    ($($memory:ty: $($marker:ident)* $(, $constant:ident)?;)*) => { $(
        impl<T: DeviceData> Memory for $memory {
            type Element = T;
            $( const $constant: bool = true; )?
        }
        $( impl<T: DeviceData> $marker for $memory {} )*
    )* };
}

memory! {
    In<T>: Run Device;
    InOut<T>: Run Device;
    [T]: Run, ON_HOST;
    Pitched<'static, T>: Device, ROWS;
    PitchedMut<'static, T>: Device, ROWS;
}

impl<T: StreamValue> Memory for Signals<'static, T> {
    type Element = T;
}

impl<T: StreamValue> Run for Signals<'static, T> {}
impl<T: StreamValue> Device for Signals<'static, T> {}

impl Memory for ExternalSemaphore<'static> {
    type Element = ();
}

impl<M: ?Sized> Loan<M> {
    /// Returns a loan of rows at a device address.
    pub(super) const fn rows(address: CUdeviceptr, strides: Strides, aligned: bool, place: Place) -> Self {
        Self { address, strides, aligned, place, _memory: PhantomData }
    }

    /// Returns a loan of `len` elements.
    pub(super) const fn run(address: CUdeviceptr, len: usize, place: Place) -> Self {
        let extent = Extent { width: len, height: 1, depth: 1 };
        Self::rows(address, Strides { extent, pitch: 0, rows: 0 }, true, place)
    }
}

impl<M: Run + ?Sized> Loan<M> {
    len!(|this| this.strides.extent.width);

    /// Returns a part of the elements. Returns `None` if the range is not within the loan.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Option<Self> {
        let (start, len) = resolve(&range, self.len())?;
        let offset = start * size_of::<M::Element>();
        Some(Self::run(self.address + offset as CUdeviceptr, len, self.place))
    }
}

impl<M: Device + ?Sized> Loan<M> {
    /// Returns the address of the first element in device memory.
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.address
    }
}

impl<T: DeviceData> Loan<InOut<T>> {
    /// Returns a loan of the same memory that is only read.
    pub const fn as_shared(&self) -> Loan<In<T>> {
        Loan::run(self.address, self.len(), self.place)
    }
}

impl<M: ?Sized> Clone for Loan<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: ?Sized> Copy for Loan<M> {}

impl<M: ?Sized> fmt::Debug for Loan<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extent { width, height, depth } = self.strides.extent;
        write!(f, "Loan({} elements)", width * height * depth)
    }
}

addresses! {
    In <- Loan<InOut<T>>;
    In <- Loan<In<T>>;
    InOut <- Loan<InOut<T>>;
    In <- Loan<PitchedMut<'static, T>>;
    In <- Loan<Pitched<'static, T>>;
    InOut <- Loan<PitchedMut<'static, T>>;
}
