//! Stream operations on single numbers in memory: writes, waits, and batches of them.
//!
//! The [module of streams](super) has a section on waits that never end.

use cuprum_sys::{CUdeviceptr, CUstream, CUstreamWaitValue_flags};

use crate::context::{ContextRef, context_call};
use crate::error::Error;
use crate::memory::{DeviceData, MemoryError};

/// A number that streams write and wait for: `u32`, `u64`.
///
/// Numbers of 64 bits need a device with
/// [`CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS`](cuprum_sys::CUdevice_attribute).
pub trait StreamValue: DeviceData {
    /// True if it has 64 bits.
    const WIDE: bool;
    /// Its atomic type, for the host's accesses while a device uses it.
    type Atomic: Sync;
    /// The number in the form of calls and batches.
    fn bits(self) -> u64;
}

macro_rules! values {
    ($($value:ty: $atomic:ident, $wide:literal;)*) => { $(
        impl StreamValue for $value {
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
/// The stream is live, its context is current, and the address has a number of this type until the
/// stream was waited for.
pub(crate) unsafe fn write<T: StreamValue>(
    context: &ContextRef,
    stream: CUstream,
    at: CUdeviceptr,
    value: T,
) -> Result<(), Error> {
    let bits = value.bits();
    if T::WIDE {
        // SAFETY: guaranteed by the caller.
        return unsafe { context_call!(context, cuStreamWriteValue64_v2(stream, at, bits, 0)) };
    }
    // SAFETY: as above; the number has 32 bits.
    unsafe { context_call!(context, cuStreamWriteValue32_v2(stream, at, bits as u32, 0)) }
}

/// Queues a wait for a number.
///
/// # Safety
/// Same as [`write`].
pub(crate) unsafe fn wait<T: StreamValue>(
    context: &ContextRef,
    stream: CUstream,
    at: CUdeviceptr,
    until: Until<T>,
) -> Result<(), Error> {
    let (bits, flags) = until.raw();
    if T::WIDE {
        // SAFETY: guaranteed by the caller.
        return unsafe { context_call!(context, cuStreamWaitValue64_v2(stream, at, bits, flags)) };
    }
    // SAFETY: as above; the number has 32 bits.
    unsafe { context_call!(context, cuStreamWaitValue32_v2(stream, at, bits as u32, flags)) }
}

/// The condition that ends a wait for a number in memory.
///
/// [`Operations::flush_remote_writes`](super::Operations::flush_remote_writes) after the wait makes
/// earlier writes from outside the device visible.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::{Signals, Until};
///
/// let (stream, signals) = (cuprum::Stream::new(&cx)?, Signals::<u32>::new(&cx, 1)?);
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend(&signals)?;
///     scope.write_value(&lent, 0, 5)?;
///     Ok(scope.wait_value(&lent, 0, Until::AtLeast(3))?)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Until<T> {
    /// The number in memory is at least this one, with wraparound: their signed difference is not
    /// negative.
    AtLeast(T),
    /// The number in memory equals this one.
    Equal(T),
    /// The number in memory has a bit of this one set.
    AnyBit(T),
    /// `!(memory | value) != 0`: the number in memory has a bit clear that `value` has clear. On
    /// devices with
    /// [`CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR`](cuprum_sys::CUdevice_attribute).
    Nor(T),
}

impl<T: StreamValue> Until<T> {
    /// The number, and the driver's flags.
    pub(super) fn raw(self) -> (u64, u32) {
        let (value, flags) = match self {
            Self::AtLeast(value) => (value, CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_GEQ),
            Self::Equal(value) => (value, CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ),
            Self::AnyBit(value) => (value, CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_AND),
            Self::Nor(value) => (value, CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_NOR),
        };
        (value.bits(), flags.0)
    }
}

/// Returns the address of a number, if it exists.
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
