//! Several operations of a stream on numbers, by one call.

use std::fmt;

use cuprum_sys::{
    CUdeviceptr, CUresult, CUstream, CUstreamAtomicReductionDataType, CUstreamAtomicReductionOpType,
    CUstreamBatchMemOpParams, CUstreamBatchMemOpType, CUstreamMemOpAtomicReductionParams,
    CUstreamMemOpFlushRemoteWritesParams, CUstreamMemOpMemoryBarrierParams, CUstreamMemOpValue,
    CUstreamMemOpWaitValueParams, CUstreamMemOpWriteValueParams, CUstreamMemoryBarrier_flags, FnId,
};

use super::batch::{Batch, batches};
use super::value::{StreamValue, Until, number, sealed};
use super::{Lent, LentShared, LentSignals, Scope};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::raw::call::context_call;

/// Loans with numbers that an operation may wait for: [`Lent`], [`LentShared`], [`LentSignals`].
///
/// Example: that of [`Operations`], `wait`.
pub trait Watched<'scope, T: StreamValue>: sealed::Numbers<T> {}

/// Loans with numbers that an operation may write: [`Lent`], [`LentSignals`].
///
/// Example: that of [`Operations`], `write`.
pub trait Written<'scope, T: StreamValue>: Watched<'scope, T> {}

macro_rules! numbers {
    ($($loan:ty: $($marker:ident)+;)*) => { $(
        impl<'scope, T: StreamValue> sealed::Numbers<T> for $loan {
            fn at(&self) -> (CUdeviceptr, usize, CUstream) {
                let loan = self.as_shared();
                (loan.as_raw(), loan.len(), loan.stream())
            }
        }

        $( impl<'scope, T: StreamValue> $marker<'scope, T> for $loan {} )+
    )* };
}

numbers! {
    &Lent<'scope, T>: Watched Written;
    LentShared<'scope, T>: Watched;
    LentSignals<'scope, T>: Watched Written;
}

/// Operations of one stream that one call queues, in order: made of loans, and queued by [`Scope::operate`].
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use std::sync::atomic::Ordering;
///
/// use cuprum::stream::{Operations, Signals, Until};
/// use cuprum::{MemoryError, Stream};
///
/// let stream = Stream::non_blocking(&cx)?;
/// let signals = Signals::<u32>::new(&cx, 2)?;
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend_signals(&signals)?;
///     let mut operations = Operations::new();
///     operations.wait(lent, 0, Until::at_least(1))?.write(lent, 1, 5)?;
///     scope.operate(&mut operations)?;
///     // The stream waits for the host.
///     signals[0].store(1, Ordering::Release);
///     Ok::<(), MemoryError>(())
/// })??;
/// assert_eq!(signals[1].load(Ordering::Acquire), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Operations<'scope> {
    batch: Batch<'scope, CUstreamBatchMemOpParams>,
}

batches! {
    Operations { batch }, "Number of operations. Drivers take up to 255 by one call.";
}

impl<'scope> Operations<'scope> {
    fn push<T: StreamValue>(
        &mut self,
        (address, len, stream): (CUdeviceptr, usize, CUstream),
        at: usize,
        operation: impl FnOnce(CUdeviceptr) -> CUstreamBatchMemOpParams,
    ) -> Result<&mut Self, MemoryError> {
        let address = number::<T>(address, len, at)?;
        self.batch.accept(&[stream])?;
        self.batch.list.push(operation(address));
        Ok(self)
    }

    /// A wait until the number at `at` of a loan is as `until` says.
    ///
    /// # Errors
    /// [`MemoryError::Index`]; [`MemoryError::OtherStream`].
    pub fn wait<T: StreamValue>(
        &mut self,
        loan: impl Watched<'scope, T>,
        at: usize,
        until: Until<T>,
    ) -> Result<&mut Self, MemoryError> {
        self.push::<T>(loan.at(), at, |address| wait_of(address, until))
    }

    /// A write of `value` at `at` of a loan.
    ///
    /// # Errors
    /// Those of [`wait`](Operations::wait).
    pub fn write<T: StreamValue>(
        &mut self,
        loan: impl Written<'scope, T>,
        at: usize,
        value: T,
    ) -> Result<&mut Self, MemoryError> {
        self.push::<T>(loan.at(), at, |address| write_of(address, value))
    }

    /// An atomic operation with `value` on the number at `at` of a loan. CUDA 13.1.
    ///
    /// # Errors
    /// Those of [`wait`](Operations::wait).
    pub fn reduce<T: StreamValue>(
        &mut self,
        loan: impl Written<'scope, T>,
        at: usize,
        operation: CUstreamAtomicReductionOpType,
        value: T,
    ) -> Result<&mut Self, MemoryError> {
        self.push::<T>(loan.at(), at, |address| reduction_of(address, operation, value))
    }

    /// A barrier: what the stream did before is seen before what it does behind it, by the whole system or the device.
    #[inline]
    pub fn barrier(&mut self, reach: CUstreamMemoryBarrier_flags) -> &mut Self {
        self.batch.list.push(barrier_of(reach));
        self
    }

    /// Makes writes from outside of the device that came before be seen by later work, on devices that have
    /// [`CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES`](cuprum_sys::CUdevice_attribute).
    #[inline]
    pub fn flush_remote_writes(&mut self) -> &mut Self {
        self.batch.list.push(flush_of());
        self
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Queues operations on numbers, in their order, by one call. None need no call. The host does not wait.
    ///
    /// # Errors
    /// [`MemoryError::OtherStream`] for loans of another stream; as [`LentShared::wait_value`]. Those before one that the
    /// driver refuses may have been queued.
    ///
    /// Driver: `cuStreamBatchMemOp_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamBatchMemOp_v2")]
    #[inline]
    pub fn operate(&self, operations: &mut Operations<'scope>) -> Result<(), MemoryError> {
        let (stream, token) = self.parts();
        let context = token.get()?;
        operations.batch.check(stream)?;
        let too_many = |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuStreamBatchMemOp_v2);
        let count = u32::try_from(operations.len()).map_err(too_many)?;
        if count == 0 {
            return Ok(());
        }
        let first = operations.batch.list.as_mut_ptr();
        // SAFETY: there are `count` operations, on numbers in memory that is lent to a scope that waits for this stream.
        Ok(unsafe { context_call!(&context, cuStreamBatchMemOp_v2(stream, count, first, 0)) }?)
    }
}

const fn wide<T: StreamValue>(
    narrow: CUstreamBatchMemOpType,
    wide: CUstreamBatchMemOpType,
) -> CUstreamBatchMemOpType {
    if T::WIDE { wide } else { narrow }
}

/// One operation, in room without any bytes that were not written.
fn operation(set: impl FnOnce(&mut CUstreamBatchMemOpParams)) -> CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams { pad: [0; 6] };
    set(&mut operation);
    operation
}

/// A wait for the number at an address.
pub(crate) fn wait_of<T: StreamValue>(address: CUdeviceptr, until: Until<T>) -> CUstreamBatchMemOpParams {
    type Kind = CUstreamBatchMemOpType;
    let kind = wide::<T>(Kind::CU_STREAM_MEM_OP_WAIT_VALUE_32, Kind::CU_STREAM_MEM_OP_WAIT_VALUE_64);
    operation(|operation| {
        operation.waitValue = CUstreamMemOpWaitValueParams {
            operation: kind,
            address,
            u: CUstreamMemOpValue { value64: until.bits() },
            flags: until.flags(),
            alias: 0,
        };
    })
}

/// A write of the number at an address.
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

/// An atomic operation on the number at an address.
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

/// A barrier.
pub(crate) fn barrier_of(reach: CUstreamMemoryBarrier_flags) -> CUstreamBatchMemOpParams {
    operation(|operation| {
        operation.memoryBarrier = CUstreamMemOpMemoryBarrierParams {
            operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_BARRIER,
            flags: reach.0,
        };
    })
}

/// A flush of writes from outside.
pub(crate) fn flush_of() -> CUstreamBatchMemOpParams {
    operation(|operation| {
        operation.flushRemoteWrites = CUstreamMemOpFlushRemoteWritesParams {
            operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES,
            flags: 0,
        };
    })
}
