//! Operations of streams on single numbers in memory: writing one, waiting for one, and several by one call.
//!
//! A wait that never ends is the subject of a chapter of the [module of streams](super).

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{
    CUdeviceptr, CUresult, CUstream, CUstreamAtomicReductionDataType, CUstreamAtomicReductionOpType,
    CUstreamBatchMemOpParams, CUstreamBatchMemOpType, CUstreamMemOpAtomicReductionParams,
    CUstreamMemOpFlushRemoteWritesParams, CUstreamMemOpMemoryBarrierParams, CUstreamMemOpValue,
    CUstreamMemOpWaitValueParams, CUstreamMemOpWriteValueParams, CUstreamMemoryBarrier_flags,
    CUstreamWaitValue_flags,
};

use super::{Lent, LentShared, LentSignals, Scope};
use crate::context::ContextRef;
use crate::error::Error;
use crate::memory::{DeviceData, MemoryError};
use crate::raw::call::context_call;

/// A number that streams write and wait for: `u32`, `u64`.
///
/// Those of 64 bits need a device that has
/// [`CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS`](cuprum_sys::CUdevice_attribute).
pub trait StreamValue: DeviceData + sealed::Value {}

impl StreamValue for u32 {}
impl StreamValue for u64 {}

pub(crate) mod sealed {
    use super::{CUdeviceptr, CUstream, ContextRef, Error};

    pub trait Value: Copy {
        /// The number as both calls and batches take it.
        fn bits(self) -> u64;
        /// Whether it has 64 bits.
        const WIDE: bool;
        /// What the host reaches it by while a device does.
        type Atomic: Sync;
        /// # Safety
        /// The stream is live, its context is current, and a number of this type lies at the address until it is done.
        unsafe fn write(
            context: &ContextRef,
            stream: CUstream,
            at: CUdeviceptr,
            value: Self,
            flags: u32,
        ) -> Result<(), Error>;
        /// # Safety
        /// As for `write`.
        unsafe fn wait(
            context: &ContextRef,
            stream: CUstream,
            at: CUdeviceptr,
            value: Self,
            flags: u32,
        ) -> Result<(), Error>;
    }

    /// What was lent and has numbers in it.
    pub trait Numbers<T> {
        fn at(&self) -> (CUdeviceptr, usize, CUstream);
    }
}

macro_rules! values {
    ($($value:ty, $atomic:ident, $wide:literal, $write:ident, $wait:ident;)*) => { $(
        impl sealed::Value for $value {
            const WIDE: bool = $wide;
            type Atomic = std::sync::atomic::$atomic;

            fn bits(self) -> u64 {
                u64::from(self)
            }

            unsafe fn write(
                context: &ContextRef,
                stream: CUstream,
                at: CUdeviceptr,
                value: Self,
                flags: u32,
            ) -> Result<(), Error> {
                // SAFETY: the caller's word.
                unsafe { context_call!(context, $write(stream, at, value, flags)) }
            }

            unsafe fn wait(
                context: &ContextRef,
                stream: CUstream,
                at: CUdeviceptr,
                value: Self,
                flags: u32,
            ) -> Result<(), Error> {
                // SAFETY: the caller's word.
                unsafe { context_call!(context, $wait(stream, at, value, flags)) }
            }
        }
    )* };
}

values! {
    u32, AtomicU32, false, cuStreamWriteValue32_v2, cuStreamWaitValue32_v2;
    u64, AtomicU64, true, cuStreamWriteValue64_v2, cuStreamWaitValue64_v2;
}

/// The end of a wait for a number in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Until<T> {
    value: T,
    flags: CUstreamWaitValue_flags,
}

impl<T: StreamValue> Until<T> {
    /// The number in memory is `value` or larger. Counted around the end of the numbers: the difference of both, as a
    /// signed number, is not negative.
    pub const fn at_least(value: T) -> Self {
        Self { value, flags: CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_GEQ }
    }

    /// The number in memory is `value`.
    pub const fn equal(value: T) -> Self {
        Self { value, flags: CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ }
    }

    /// The number in memory has one of the bits of `value`.
    pub const fn any_bit(value: T) -> Self {
        Self { value, flags: CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_AND }
    }

    /// The number in memory lacks one of the bits that `value` lacks: `!(memory | value) != 0`. On devices that have
    /// [`CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR`](cuprum_sys::CUdevice_attribute).
    pub const fn nor(value: T) -> Self {
        Self { value, flags: CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_NOR }
    }

    /// The same, after which writes from outside of the device that came before are seen by later work. On devices that have
    /// [`CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES`](cuprum_sys::CUdevice_attribute).
    #[must_use]
    pub const fn then_flush(self) -> Self {
        let flush = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_FLUSH.0;
        Self { flags: CUstreamWaitValue_flags(self.flags.0 | flush), ..self }
    }
}

/// The address of a number, if there is one.
pub(crate) fn number<T: DeviceData>(
    address: CUdeviceptr,
    len: usize,
    at: usize,
) -> Result<CUdeviceptr, MemoryError> {
    if at < len {
        Ok(address + (at * size_of::<T>()) as CUdeviceptr)
    } else {
        Err(MemoryError::Index { index: at, len })
    }
}

impl<T: StreamValue> LentShared<'_, T> {
    /// Makes the stream wait until the number at `at` is as `until` says. The host does not wait.
    ///
    /// Nothing in the scope can write memory that is lent to be read: the writer is a peer, another process, or a kernel
    /// that was told the address. See [the module](crate::stream#waits-for-numbers) for a wait that never ends.
    ///
    /// # Errors
    /// [`MemoryError::Index`]; [`Error::is_unresolved`] on drivers before CUDA 11.7; `CUDA_ERROR_NOT_SUPPORTED` for
    /// what the device lacks; the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamWaitValue32_v2` or `cuStreamWaitValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWaitValue32_v2")]
    #[doc(alias = "cuStreamWaitValue64_v2")]
    pub fn wait_value(&self, at: usize, until: Until<T>) -> Result<(), MemoryError> {
        let context = self.here()?;
        let address = number::<T>(self.as_raw(), self.len(), at)?;
        // SAFETY: the number lies in memory that is lent to a scope that waits for this stream.
        Ok(unsafe { T::wait(&context, self.stream(), address, until.value, until.flags.0) }?)
    }
}

impl<T: StreamValue> Lent<'_, T> {
    /// As [`LentShared::wait_value`], for what this very stream has written before, or a kernel that it runs will.
    ///
    /// # Errors
    /// As [`LentShared::wait_value`].
    ///
    /// Driver: `cuStreamWaitValue32_v2` or `cuStreamWaitValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWaitValue32_v2")]
    #[doc(alias = "cuStreamWaitValue64_v2")]
    pub fn wait_value(&self, at: usize, until: Until<T>) -> Result<(), MemoryError> {
        self.as_shared().wait_value(at, until)
    }

    /// Queues a write of `value` at `at`, behind which all that the stream did before is seen by whoever sees it. The host
    /// does not wait.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use cuprum::{Buffer, MemoryError, Stream};
    ///
    /// let stream = Stream::non_blocking(&cx)?;
    /// let mut numbers = Buffer::<u32>::zeroed(&cx, 4)?;
    /// cx.scope(&stream, |scope| {
    ///     let lent = scope.lend(numbers.as_mut_slice())?;
    ///     lent.write_value(2, 7)
    /// })??;
    /// assert_eq!(numbers.to_vec(&cx)?, [0, 0, 7, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`LentShared::wait_value`].
    ///
    /// Driver: `cuStreamWriteValue32_v2` or `cuStreamWriteValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWriteValue32_v2")]
    #[doc(alias = "cuStreamWriteValue64_v2")]
    pub fn write_value(&self, at: usize, value: T) -> Result<(), MemoryError> {
        let context = self.as_shared().here()?;
        let address = number::<T>(self.as_raw(), self.len(), at)?;
        // SAFETY: the number lies in memory that is lent to a scope that waits for this stream; any bytes are a `T`.
        Ok(unsafe { T::write(&context, self.as_shared().stream(), address, value, 0) }?)
    }
}

impl<T: StreamValue> LentSignals<'_, T> {
    /// Makes the stream wait until the number at `at` is as `until` says. The host does not wait.
    ///
    /// See [the module](crate::stream#waits-for-numbers) for a wait that never ends.
    ///
    /// # Errors
    /// As [`LentShared::wait_value`].
    ///
    /// Driver: `cuStreamWaitValue32_v2` or `cuStreamWaitValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWaitValue32_v2")]
    #[doc(alias = "cuStreamWaitValue64_v2")]
    pub fn wait_value(&self, at: usize, until: Until<T>) -> Result<(), MemoryError> {
        let context = self.here()?;
        let address = number::<T>(self.as_raw(), self.len(), at)?;
        // SAFETY: the number lies in memory that is lent to a scope that waits for this stream.
        Ok(unsafe { T::wait(&context, self.stream(), address, until.value, until.flags.0) }?)
    }

    /// Queues a write of `value` at `at`, behind which all that the stream did before is seen by whoever sees it. The host
    /// does not wait.
    ///
    /// # Errors
    /// As [`LentShared::wait_value`].
    ///
    /// Driver: `cuStreamWriteValue32_v2` or `cuStreamWriteValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWriteValue32_v2")]
    #[doc(alias = "cuStreamWriteValue64_v2")]
    pub fn write_value(&self, at: usize, value: T) -> Result<(), MemoryError> {
        let context = self.here()?;
        let address = number::<T>(self.as_raw(), self.len(), at)?;
        // SAFETY: as above; host and other streams reach the number by atomics alone.
        Ok(unsafe { T::write(&context, self.stream(), address, value, 0) }?)
    }
}

/// Loans with numbers that an operation may wait for: [`Lent`], [`LentShared`], [`LentSignals`].
pub trait Watched<'scope, T: StreamValue>: sealed::Numbers<T> {}

/// Loans with numbers that an operation may write: [`Lent`], [`LentSignals`].
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
    raw: Vec<CUstreamBatchMemOpParams>,
    /// That of all loans.
    stream: Option<CUstream>,
    /// Invariant, as in [`LentShared`].
    _scope: PhantomData<&'scope mut &'scope ()>,
}

impl<'scope> Operations<'scope> {
    /// None.
    pub const fn new() -> Self {
        Self { raw: Vec::new(), stream: None, _scope: PhantomData }
    }

    /// Number of operations. Drivers take up to 255 by one call.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    fn place<T: StreamValue>(
        &mut self,
        (address, len, stream): (CUdeviceptr, usize, CUstream),
        at: usize,
    ) -> Result<CUdeviceptr, MemoryError> {
        let address = number::<T>(address, len, at)?;
        if *self.stream.get_or_insert(stream) == stream { Ok(address) } else { Err(MemoryError::OtherStream) }
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
        let address = self.place::<T>(loan.at(), at)?;
        self.raw.push(wait_of(address, until));
        Ok(self)
    }

    /// A write of `value` at `at` of a loan.
    ///
    /// # Errors
    /// As [`wait`](Operations::wait).
    pub fn write<T: StreamValue>(
        &mut self,
        loan: impl Written<'scope, T>,
        at: usize,
        value: T,
    ) -> Result<&mut Self, MemoryError> {
        let address = self.place::<T>(loan.at(), at)?;
        self.raw.push(write_of(address, value));
        Ok(self)
    }

    /// An atomic operation with `value` on the number at `at` of a loan. CUDA 13.1.
    ///
    /// # Errors
    /// As [`wait`](Operations::wait).
    pub fn reduce<T: StreamValue>(
        &mut self,
        loan: impl Written<'scope, T>,
        at: usize,
        operation: CUstreamAtomicReductionOpType,
        value: T,
    ) -> Result<&mut Self, MemoryError> {
        let address = self.place::<T>(loan.at(), at)?;
        self.raw.push(reduction_of(address, operation, value));
        Ok(self)
    }

    /// A barrier: what the stream did before is seen before what it does behind it, by the whole system or the device.
    pub fn barrier(&mut self, reach: CUstreamMemoryBarrier_flags) -> &mut Self {
        self.raw.push(barrier_of(reach));
        self
    }

    /// Makes writes from outside of the device that came before be seen by later work, on devices that have
    /// [`CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES`](cuprum_sys::CUdevice_attribute).
    pub fn flush_remote_writes(&mut self) -> &mut Self {
        self.raw.push(flush_of());
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
    pub fn operate(&self, operations: &mut Operations<'scope>) -> Result<(), MemoryError> {
        let (stream, token) = self.parts();
        let context = token.get()?;
        if operations.stream.is_some_and(|lent| lent != stream) {
            return Err(MemoryError::OtherStream);
        }
        let too_many =
            |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, cuprum_sys::FnId::cuStreamBatchMemOp_v2);
        let count = u32::try_from(operations.len()).map_err(too_many)?;
        if count == 0 {
            return Ok(());
        }
        let first = operations.raw.as_mut_ptr();
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
            u: CUstreamMemOpValue { value64: until.value.bits() },
            flags: until.flags.0,
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

impl fmt::Debug for Operations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operations({})", self.len())
    }
}
