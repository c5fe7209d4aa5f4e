//! Operations of streams on single numbers in memory: writing one, waiting for one, and several by one call.
//!
//! A wait that never ends is the subject of a chapter of the [module of streams](super).

use cuprum_sys::{CUdeviceptr, CUstream, CUstreamWaitValue_flags};

use super::{Lent, LentShared, LentSignals};
use crate::context::ContextRef;
use crate::error::Error;
use crate::memory::{DeviceData, MemoryError};
use crate::raw::call::context_call;

/// A number that streams write and wait for: `u32`, `u64`.
///
/// Those of 64 bits need a device that has
/// [`CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS`](cuprum_sys::CUdevice_attribute).
///
/// Example: that of [`Operations`](super::Operations), `write`.
pub trait StreamValue: DeviceData + sealed::Value {}

impl StreamValue for u32 {}
impl StreamValue for u64 {}

pub(crate) mod sealed {
    use super::{CUdeviceptr, CUstream};

    pub trait Value: Copy {
        /// The number as both calls and batches take it.
        fn bits(self) -> u64;
        /// True if it has 64 bits.
        const WIDE: bool;
        /// What the host reaches it by while a device does.
        type Atomic: Sync;
    }

    /// What was lent and has numbers in it.
    pub trait Numbers<T> {
        fn at(&self) -> (CUdeviceptr, usize, CUstream);
    }
}

macro_rules! values {
    ($($value:ty: $atomic:ident, $wide:literal;)*) => { $(
        impl sealed::Value for $value {
            const WIDE: bool = $wide;
            type Atomic = std::sync::atomic::$atomic;

            fn bits(self) -> u64 {
                u64::from(self)
            }
        }
    )* };
}

values! {
    u32: AtomicU32, false;
    u64: AtomicU64, true;
}

/// Queues a write of a number.
///
/// # Safety
/// The stream is live, its context is current, and a number of this type lies at the address until the stream has been
/// waited for.
pub(crate) unsafe fn write<T: StreamValue>(
    context: &ContextRef,
    stream: CUstream,
    at: CUdeviceptr,
    value: T,
) -> Result<(), Error> {
    let bits = value.bits();
    if T::WIDE {
        // SAFETY: the caller's word.
        return unsafe { context_call!(context, cuStreamWriteValue64_v2(stream, at, bits, 0)) };
    }
    // SAFETY: as above; the number has 32 bits.
    unsafe { context_call!(context, cuStreamWriteValue32_v2(stream, at, bits as u32, 0)) }
}

/// Queues a wait for a number.
///
/// # Safety
/// As for [`write`].
pub(crate) unsafe fn wait<T: StreamValue>(
    context: &ContextRef,
    stream: CUstream,
    at: CUdeviceptr,
    until: Until<T>,
) -> Result<(), Error> {
    let (bits, flags) = (until.bits(), until.flags());
    if T::WIDE {
        // SAFETY: the caller's word.
        return unsafe { context_call!(context, cuStreamWaitValue64_v2(stream, at, bits, flags)) };
    }
    // SAFETY: as above; the number has 32 bits.
    unsafe { context_call!(context, cuStreamWaitValue32_v2(stream, at, bits as u32, flags)) }
}

/// The end of a wait for a number in memory.
///
/// Example: that of [`Signals`](super::Signals).
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

    /// The number as batches take it.
    pub(super) fn bits(self) -> u64 {
        self.value.bits()
    }

    /// The condition as the driver takes it.
    pub(super) const fn flags(self) -> u32 {
        self.flags.0
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
    #[inline]
    pub fn wait_value(&self, at: usize, until: Until<T>) -> Result<(), MemoryError> {
        let context = self.here()?;
        let address = number::<T>(self.as_raw(), self.len(), at)?;
        // SAFETY: the number lies in memory that is lent to a scope that waits for this stream.
        Ok(unsafe { wait(&context, self.stream(), address, until) }?)
    }

    /// Queues a write of a number.
    ///
    /// # Safety
    /// Nobody reads the number but by atomics or in the order of the stream: it was lent to be written.
    unsafe fn queue_write(&self, at: usize, value: T) -> Result<(), MemoryError> {
        let context = self.here()?;
        let address = number::<T>(self.as_raw(), self.len(), at)?;
        // SAFETY: the number lies in memory that is lent to a scope that waits for this stream; any bytes are a `T`.
        Ok(unsafe { write(&context, self.stream(), address, value) }?)
    }
}

impl<T: StreamValue> Lent<'_, T> {
    /// Like [`LentShared::wait_value`], for what this very stream has written before, or a kernel that it runs will.
    ///
    /// # Errors
    /// Those of [`LentShared::wait_value`].
    ///
    /// Driver: `cuStreamWaitValue32_v2` or `cuStreamWaitValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWaitValue32_v2")]
    #[doc(alias = "cuStreamWaitValue64_v2")]
    #[inline]
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
    /// Those of [`LentShared::wait_value`].
    ///
    /// Driver: `cuStreamWriteValue32_v2` or `cuStreamWriteValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWriteValue32_v2")]
    #[doc(alias = "cuStreamWriteValue64_v2")]
    #[inline]
    pub fn write_value(&self, at: usize, value: T) -> Result<(), MemoryError> {
        // SAFETY: it was lent to be written, to this scope alone.
        unsafe { self.as_shared().queue_write(at, value) }
    }
}

impl<T: StreamValue> LentSignals<'_, T> {
    /// Makes the stream wait until the number at `at` is as `until` says. The host does not wait.
    ///
    /// See [the module](crate::stream#waits-for-numbers) for a wait that never ends.
    ///
    /// # Errors
    /// Those of [`LentShared::wait_value`].
    ///
    /// Driver: `cuStreamWaitValue32_v2` or `cuStreamWaitValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWaitValue32_v2")]
    #[doc(alias = "cuStreamWaitValue64_v2")]
    #[inline]
    pub fn wait_value(&self, at: usize, until: Until<T>) -> Result<(), MemoryError> {
        self.as_shared().wait_value(at, until)
    }

    /// Queues a write of `value` at `at`, behind which all that the stream did before is seen by whoever sees it. The host
    /// does not wait.
    ///
    /// # Errors
    /// Those of [`LentShared::wait_value`].
    ///
    /// Driver: `cuStreamWriteValue32_v2` or `cuStreamWriteValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWriteValue32_v2")]
    #[doc(alias = "cuStreamWriteValue64_v2")]
    #[inline]
    pub fn write_value(&self, at: usize, value: T) -> Result<(), MemoryError> {
        // SAFETY: host and other streams reach the number by atomics alone.
        unsafe { self.as_shared().queue_write(at, value) }
    }
}
