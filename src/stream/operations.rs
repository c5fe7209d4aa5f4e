//! Several stream operations on numbers in one call.

use std::marker::PhantomData;

use cuprum_sys::{
    CUdeviceptr, CUresult, CUstream, CUstreamAtomicReductionDataType, CUstreamAtomicReductionOpType,
    CUstreamBatchMemOpParams, CUstreamBatchMemOpType, CUstreamMemOpAtomicReductionParams,
    CUstreamMemOpFlushRemoteWritesParams, CUstreamMemOpMemoryBarrierParams, CUstreamMemOpValue,
    CUstreamMemOpWaitValueParams, CUstreamMemOpWriteValueParams, CUstreamMemoryBarrier_flags, FnId,
};

use super::batch::same_stream;
use super::value::{StreamValue, Until, number, wait, write};
use super::{Lent, Scope, Signals};
use crate::context::{ContextRef, context_call};
use crate::error::Error;
use crate::memory::{MemoryError, Slice, SliceMut};
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::seal::{Key, Sealed};

/// A loan with numbers that a stream or graph can wait for: a `&Lent` of [`Slice`], [`SliceMut`] or
/// `&` [`Signals`], or a [`Loan`](crate::graph::Loan) of device memory or [`Signals`] in a graph.
///
/// Example: see [`Operations`], `wait`.
#[diagnostic::on_unimplemented(
    message = "an operation cannot wait for numbers of `{Self}`",
    label = "not a loan of linear memory or `Signals`"
)]
pub trait Watched: Sealed {
    /// The type of the numbers.
    type Element: StreamValue;
    /// The stream or graph that has the loan.
    type Home: Copy;

    /// The address, the count and the home of the numbers.
    #[doc(hidden)]
    fn numbers(&self, key: Key) -> (CUdeviceptr, usize, Self::Home);
}

/// A loan with numbers that a stream or graph can write: of [`SliceMut`] or [`Signals`], in a graph
/// [`InOut`](crate::InOut) or [`Signals`].
///
/// Example: see [`Operations`], `write`.
#[diagnostic::on_unimplemented(
    message = "an operation cannot write numbers of `{Self}`",
    label = "not lent to be written",
    note = "lend a buffer as `&mut buffer`; numbers that others reach too are `Signals`"
)]
pub trait Written: Watched {}

/// The stream of a scope. Its loans do not outlive the scope.
#[derive(Clone, Copy, Debug)]
pub struct OfScope<'scope> {
    pub(super) stream: CUstream,
    /// Invariant, as in [`Lent`].
    _scope: PhantomData<&'scope mut &'scope ()>,
}

macro_rules! numbers {
    ($($view:ty;)*) => { $(
        impl<'scope, T: StreamValue> Watched for &Lent<'scope, $view> {
            type Element = T;
            type Home = OfScope<'scope>;

            #[inline]
            fn numbers(&self, _: Key) -> (CUdeviceptr, usize, OfScope<'scope>) {
                let view = self.view();
                (view.as_raw(), view.len(), OfScope { stream: self.stream(), _scope: PhantomData })
            }
        }
    )* };
}

numbers! {
    Slice<'_, T>;
    SliceMut<'_, T>;
    &Signals<'_, T>;
}

impl<T: StreamValue> Written for &Lent<'_, SliceMut<'_, T>> {}
impl<T: StreamValue> Written for &Lent<'_, &Signals<'_, T>> {}

/// Operations on numbers, in order, that one call queues or one node of a graph executes.
///
/// They use loans of one scope ([`Scope::operate`]) or one graph
/// ([`Graph::add_operations`](crate::graph::Graph::add_operations)). Drivers accept up to 255.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use std::sync::atomic::Ordering;
///
/// use cuprum::stream::{Operations, Signals, Until};
/// use cuprum::{Stream};
///
/// let stream = Stream::non_blocking(&cx)?;
/// let signals = Signals::<u32>::new(&cx, 2)?;
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend(&signals)?;
///     let mut operations = Operations::default();
///     operations.wait(&lent, 0, Until::AtLeast(1))?.write(&lent, 1, 5)?;
///     scope.operate(&mut operations)?;
///     // The stream waits for the host.
///     signals[0].store(1, Ordering::Release);
///     Ok(())
/// })?;
/// assert_eq!(signals[1].load(Ordering::Acquire), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Operations<H> {
    pub(crate) list: Vec<CUstreamBatchMemOpParams>,
    pub(crate) homes: Vec<H>,
}

impl<H: Copy> Operations<H> {
    fn push<L: Watched<Home = H>>(
        &mut self,
        loan: L,
        at: usize,
        operation: impl FnOnce(CUdeviceptr) -> CUstreamBatchMemOpParams,
    ) -> Result<&mut Self, MemoryError> {
        let (address, len, home) = loan.numbers(Key::new());
        self.list.push(operation(number::<L::Element>(address, len, at)?));
        self.homes.push(home);
        Ok(self)
    }

    /// Adds a wait until the number at `at` of a loan satisfies `until`.
    ///
    /// # Errors
    /// [`MemoryError::Index`].
    pub fn wait<L: Watched<Home = H>>(
        &mut self,
        loan: L,
        at: usize,
        until: Until<L::Element>,
    ) -> Result<&mut Self, MemoryError> {
        self.push(loan, at, |address| wait_of(address, until))
    }

    /// Adds a write of `value` at `at` of a loan.
    ///
    /// # Errors
    /// [`MemoryError::Index`].
    pub fn write<L: Written<Home = H>>(
        &mut self,
        loan: L,
        at: usize,
        value: L::Element,
    ) -> Result<&mut Self, MemoryError> {
        self.push(loan, at, |address| write_of(address, value))
    }

    /// Adds an atomic operation with `value` on the number at `at` of a loan. CUDA 13.1.
    ///
    /// # Errors
    /// [`MemoryError::Index`].
    pub fn reduce<L: Written<Home = H>>(
        &mut self,
        loan: L,
        at: usize,
        operation: CUstreamAtomicReductionOpType,
        value: L::Element,
    ) -> Result<&mut Self, MemoryError> {
        self.push(loan, at, |address| reduction_of(address, operation, value))
    }

    /// Adds a barrier: earlier writes are visible to later work, in the system or on the device.
    #[inline]
    pub fn barrier(&mut self, reach: CUstreamMemoryBarrier_flags) -> &mut Self {
        self.list.push(barrier_of(reach));
        self
    }

    /// Makes earlier writes from outside the device visible to later work, on devices with
    /// [`CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES`](cuprum_sys::CUdevice_attribute).
    #[inline]
    pub fn flush_remote_writes(&mut self) -> &mut Self {
        self.list.push(flush_of());
        self
    }
}

impl<H> Default for Operations<H> {
    fn default() -> Self {
        Self { list: Vec::new(), homes: Vec::new() }
    }
}

debug!([H] Operations<H>: |this| "{}", this.list.len());

impl<'scope> Scope<'scope, '_> {
    /// Queues operations on numbers, in order, by at most one call. The host does not wait.
    ///
    /// # Errors
    /// [`MemoryError::OtherStream`] for loans of another stream; the errors of
    /// [`wait_value`](Scope::wait_value). Operations before the refused one may be queued.
    ///
    /// Driver: `cuStreamBatchMemOp_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamBatchMemOp_v2")]
    #[inline]
    pub fn operate(&self, operations: &mut Operations<OfScope<'scope>>) -> Result<(), MemoryError> {
        let (context, stream) = (self.token().get()?, self.stream());
        operations.homes.iter().try_for_each(|home| same_stream([home.stream, stream]))?;
        let too_many = |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuStreamBatchMemOp_v2);
        let count = u32::try_from(operations.list.len()).map_err(too_many)?;
        if count == 0 {
            return Ok(());
        }
        let first = operations.list.as_mut_ptr();
        // SAFETY: there are `count` operations, on numbers in memory that is lent to a scope that
        // waits for this stream.
        Ok(unsafe { context_call!(&context, cuStreamBatchMemOp_v2(stream, count, first, 0)) }?)
    }

    /// Makes the stream wait until the number at `at` satisfies `until`. The host does not wait.
    ///
    /// Earlier work of this stream may write the number, or another writer: the host or another
    /// stream, for [`Signals`](super::Signals), a peer, another process, or a kernel with the
    /// address. See [the module](crate::stream#waits-for-values) for a wait that never ends.
    ///
    /// # Errors
    /// [`MemoryError::Index`]; [`MemoryError::OtherStream`]; [`Error::UNRESOLVED`] on drivers
    /// before CUDA 11.7; `CUDA_ERROR_NOT_SUPPORTED` if the device does not support it.
    ///
    /// Driver: `cuStreamWaitValue32_v2` or `cuStreamWaitValue64_v2`, CUDA 11.7+.
    #[doc(alias("cuStreamWaitValue32_v2", "cuStreamWaitValue64_v2"))]
    #[inline]
    pub fn wait_value<L: Watched<Home = OfScope<'scope>>>(
        &self,
        loan: L,
        at: usize,
        until: Until<L::Element>,
    ) -> Result<(), MemoryError> {
        let (context, address) = self.number(loan, at)?;
        // SAFETY: the number is in memory lent to a scope that waits for this stream.
        Ok(unsafe { wait(&context, self.stream(), address, until) }?)
    }

    /// Queues a write of `value` at `at` of a loan. Code that sees the value also sees all earlier
    /// work of the stream. The host does not wait.
    ///
    /// # Errors
    /// Same as [`wait_value`](Scope::wait_value).
    ///
    /// Driver: `cuStreamWriteValue32_v2` or `cuStreamWriteValue64_v2`, CUDA 11.7+.
    #[doc(alias("cuStreamWriteValue32_v2", "cuStreamWriteValue64_v2"))]
    #[inline]
    pub fn write_value<L: Written<Home = OfScope<'scope>>>(
        &self,
        loan: L,
        at: usize,
        value: L::Element,
    ) -> Result<(), MemoryError> {
        let (context, address) = self.number(loan, at)?;
        // SAFETY: the number is in memory lent to be written to a scope that waits for this stream,
        // or in memory that the host and other streams access only by atomics; any bytes are a `T`.
        Ok(unsafe { write(&context, self.stream(), address, value) }?)
    }

    /// The address of a number of a loan, and the context.
    fn number<L: Watched<Home = OfScope<'scope>>>(
        &self,
        loan: L,
        at: usize,
    ) -> Result<(Near<'scope, ContextRef>, CUdeviceptr), MemoryError> {
        let context = self.token().get()?;
        let (address, len, home) = loan.numbers(Key::new());
        same_stream([self.stream(), home.stream])?;
        Ok((context, number::<L::Element>(address, len, at)?))
    }
}

const fn wide<T: StreamValue>(
    narrow: CUstreamBatchMemOpType,
    wide: CUstreamBatchMemOpType,
) -> CUstreamBatchMemOpType {
    if T::WIDE { wide } else { narrow }
}

/// An operation, in zeroed memory.
fn operation(set: impl FnOnce(&mut CUstreamBatchMemOpParams)) -> CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams { pad: [0; 6] };
    set(&mut operation);
    operation
}

pub(crate) fn wait_of<T: StreamValue>(address: CUdeviceptr, until: Until<T>) -> CUstreamBatchMemOpParams {
    type Kind = CUstreamBatchMemOpType;
    let kind = wide::<T>(Kind::CU_STREAM_MEM_OP_WAIT_VALUE_32, Kind::CU_STREAM_MEM_OP_WAIT_VALUE_64);
    let (value64, flags) = until.raw();
    operation(|operation| {
        operation.waitValue = CUstreamMemOpWaitValueParams {
            operation: kind,
            address,
            u: CUstreamMemOpValue { value64 },
            flags,
            alias: 0,
        };
    })
}

pub(crate) fn write_of<T: StreamValue>(address: CUdeviceptr, value: T) -> CUstreamBatchMemOpParams {
    type Kind = CUstreamBatchMemOpType;
    let kind = wide::<T>(Kind::CU_STREAM_MEM_OP_WRITE_VALUE_32, Kind::CU_STREAM_MEM_OP_WRITE_VALUE_64);
    operation(|operation| {
        operation.writeValue = CUstreamMemOpWriteValueParams {
            operation: kind,
            address,
            u: CUstreamMemOpValue { value64: value.bits() },
            flags: 0,
            alias: 0,
        };
    })
}

pub(crate) fn reduction_of<T: StreamValue>(
    address: CUdeviceptr,
    kind: CUstreamAtomicReductionOpType,
    value: T,
) -> CUstreamBatchMemOpParams {
    type Width = CUstreamAtomicReductionDataType;
    let (narrow, wide) =
        (Width::CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32, Width::CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64);
    operation(|operation| {
        operation.atomicReduction = CUstreamMemOpAtomicReductionParams {
            operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_ATOMIC_REDUCTION,
            flags: 0,
            reductionOp: kind,
            dataType: if T::WIDE { wide } else { narrow },
            address,
            value: value.bits(),
            alias: 0,
        };
    })
}

pub(crate) fn barrier_of(reach: CUstreamMemoryBarrier_flags) -> CUstreamBatchMemOpParams {
    operation(|operation| {
        operation.memoryBarrier = CUstreamMemOpMemoryBarrierParams {
            operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_BARRIER,
            flags: reach.0,
        };
    })
}

pub(crate) fn flush_of() -> CUstreamBatchMemOpParams {
    operation(|operation| {
        operation.flushRemoteWrites = CUstreamMemOpFlushRemoteWritesParams {
            operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES,
            flags: 0,
        };
    })
}
