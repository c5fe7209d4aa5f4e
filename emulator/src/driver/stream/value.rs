//! Operations of streams on single values in memory: waiting for one, writing one.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use cuprum_sys::*;

use crate::memory::Region;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, InMut, calls, not_supported};
use crate::driver::state::{Operation, Turn, memory};

/// One such operation, its address checked.
#[derive(Debug)]
pub(super) struct ValueOperation {
    place: Place,
    value: u64,
    action: Action,
}

#[derive(Debug)]
struct Place {
    region: Region,
    offset: usize,
    width: Width,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    Bits32,
    Bits64,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Write,
    Wait(Condition),
}

/// Condition that ends a wait, in the order of the C flags.
#[derive(Debug, Clone, Copy)]
enum Condition {
    GreaterOrEqual,
    Equal,
    And,
    Nor,
}

impl Condition {
    fn from_flags(flags: u32) -> Answer<Self> {
        let flush = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_FLUSH.0;
        Ok(match flags & !flush {
            0 => Self::GreaterOrEqual,
            1 => Self::Equal,
            2 => Self::And,
            3 => Self::Nor,
            _ => return Err(INVALID_VALUE),
        })
    }

    fn holds(self, current: u64, wanted: u64, width: Width) -> bool {
        match (self, width) {
            // Cyclic, so that counters may wrap around.
            (Self::GreaterOrEqual, Width::Bits32) => (current as u32).wrapping_sub(wanted as u32) as i32 >= 0,
            (Self::GreaterOrEqual, Width::Bits64) => current.wrapping_sub(wanted) as i64 >= 0,
            (Self::Equal, _) => current == wanted,
            (Self::And, _) => current & wanted != 0,
            (Self::Nor, Width::Bits32) => !(current | wanted) as u32 != 0,
            (Self::Nor, Width::Bits64) => !(current | wanted) != 0,
        }
    }
}

impl Place {
    fn new(address: u64, width: Width) -> Answer<Self> {
        let bytes = if width == Width::Bits32 { 4 } else { 8 };
        let region = memory().find(address).ok_or(INVALID_VALUE)?;
        ensure(address % bytes == 0 && region.contains(address, bytes), INVALID_VALUE)?;
        let offset = usize::try_from(address - region.base).map_err(|_| INVALID_VALUE)?;
        Ok(Self { region, offset, width })
    }

    fn load(&self) -> u64 {
        match self.width {
            Width::Bits32 => u64::from(self.bits32().load(Ordering::Acquire)),
            Width::Bits64 => self.bits64().load(Ordering::Acquire),
        }
    }

    fn bits32(&self) -> &AtomicU32 {
        let pointer = self.region.host.wrapping_add(self.offset);
        // SAFETY: inside of the region, which is held, and aligned; whoever else uses it while an
        // operation waits for it does so with atomics, in kernels as on the host.
        unsafe { AtomicU32::from_ptr(pointer.cast()) }
    }

    fn bits64(&self) -> &AtomicU64 {
        let pointer = self.region.host.wrapping_add(self.offset);
        // SAFETY: inside of the region, which is held, and aligned; whoever else uses it while an
        // operation waits for it does so with atomics, in kernels as on the host.
        unsafe { AtomicU64::from_ptr(pointer.cast()) }
    }

    fn store(&self, value: u64) {
        match self.width {
            Width::Bits32 => self.bits32().store(value as u32, Ordering::Release),
            Width::Bits64 => self.bits64().store(value, Ordering::Release),
        }
        if let Some(init) = &self.region.init {
            init.set(self.offset as u64, if self.width == Width::Bits32 { 4 } else { 8 });
        }
    }
}

impl Operation for ValueOperation {
    /// A wait cannot run before its condition holds.
    fn is_ready(&self) -> bool {
        match self.action {
            Action::Write => true,
            Action::Wait(condition) => condition.holds(self.place.load(), self.value, self.place.width),
        }
    }

    fn run(&self, _turn: Turn<'_>) -> Answer {
        if let Action::Write = self.action {
            self.place.store(self.value);
        }
        Ok(())
    }
}

fn write(call: &Call, stream: CUstream, address: u64, value: u64, width: Width, flags: u32) -> Answer {
    ensure(flags <= 1, INVALID_VALUE)?;
    let operation = ValueOperation { place: Place::new(address, width)?, value, action: Action::Write };
    call.stream(stream)?.push(operation).map(drop)
}

fn wait(call: &Call, stream: CUstream, address: u64, value: u64, width: Width, flags: u32) -> Answer {
    let operation = ValueOperation {
        place: Place::new(address, width)?,
        value,
        action: Action::Wait(Condition::from_flags(flags)?),
    };
    call.stream(stream)?.push(operation).map(drop)
}

/// Pushes several operations by one call, in their order.
fn batch(
    call: &Call,
    stream: CUstream,
    count: u32,
    params: InMut<CUstreamBatchMemOpParams>,
    flags: u32,
) -> Answer {
    use CUstreamBatchMemOpType as T;

    ensure(flags == 0, INVALID_VALUE)?;
    for params in params.input().get_all(count as usize)? {
        // SAFETY: every member starts with the operation, and all are plain numbers.
        let operation = unsafe { params.operation };
        // SAFETY: all members are plain numbers, which any bits are; the operation says below which one was meant.
        let wanted = unsafe { params.waitValue };
        // SAFETY: all members are plain numbers, which any bits are; the operation says below which one was meant.
        let written = unsafe { params.writeValue };
        // SAFETY: the 64-bit member is the whole of this inner union.
        let wait64 = unsafe { wanted.u.value64 };
        // SAFETY: the 64-bit member is the whole of this inner union.
        let write64 = unsafe { written.u.value64 };
        match operation {
            T::CU_STREAM_MEM_OP_WAIT_VALUE_32 => {
                wait(call, stream, wanted.address, wait64 & 0xffff_ffff, Width::Bits32, wanted.flags)?;
            }
            T::CU_STREAM_MEM_OP_WAIT_VALUE_64 => {
                wait(call, stream, wanted.address, wait64, Width::Bits64, wanted.flags)?;
            }
            T::CU_STREAM_MEM_OP_WRITE_VALUE_32 => {
                write(call, stream, written.address, write64 & 0xffff_ffff, Width::Bits32, written.flags)?;
            }
            T::CU_STREAM_MEM_OP_WRITE_VALUE_64 => {
                write(call, stream, written.address, write64, Width::Bits64, written.flags)?;
            }
            T::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES | T::CU_STREAM_MEM_OP_BARRIER => {}
            known if known.name().is_some() => {
                return Err(not_supported(
                    "streams of the software device wait for values and write them, and do not compute: \
                     launch a kernel for atomic operations",
                ));
            }
            _ => return Err(INVALID_VALUE),
        }
    }
    Ok(())
}

/// Functions that differ in the width of the value, and their second revisions, which do the same.
macro_rules! value_calls {
    ([$( $batch:ident ),*] $( $write:ident, $wait:ident: $value:ty, $width:ident; )*) => {
        calls! {
            $(
                fn $write(call, stream: CUstream, addr: u64, value: $value, flags: u32) {
                    write(call, stream, addr, u64::from(value), Width::$width, flags)
                }

                fn $wait(call, stream: CUstream, addr: u64, value: $value, flags: u32) {
                    wait(call, stream, addr, u64::from(value), Width::$width, flags)
                }
            )*

            $(
                fn $batch(
                    call,
                    stream: CUstream,
                    count: u32,
                    paramArray: InMut<CUstreamBatchMemOpParams>,
                    flags: u32,
                ) {
                    batch(call, stream, count, paramArray, flags)
                }
            )*
        }
    };
}

value_calls! {
    [cuStreamBatchMemOp, cuStreamBatchMemOp_v2]
    cuStreamWriteValue32, cuStreamWaitValue32: u32, Bits32;
    cuStreamWriteValue64, cuStreamWaitValue64: u64, Bits64;
    cuStreamWriteValue32_v2, cuStreamWaitValue32_v2: u32, Bits32;
    cuStreamWriteValue64_v2, cuStreamWaitValue64_v2: u64, Bits64;
}
