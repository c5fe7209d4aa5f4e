//! Stream operations on single values in memory: waits, writes and atomic operations.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use cuprum_sys::*;

use crate::exec::touched::Manner;
use crate::memory::{Region, Writer};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, InMut, calls, not_supported};
use crate::driver::state::{Act, Number, Operation, Part, Turn, captures, memory, note};

/// One such operation, with a checked address.
#[derive(Debug, Clone)]
pub(crate) struct ValueOperation {
    place: NumberPlace,
    value: u64,
    action: Action,
}

#[derive(Debug, Clone)]
struct NumberPlace {
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
    Add,
    And,
    Or,
    Wait(Until),
}

/// Condition that ends a wait, in the order of the C flags.
#[derive(Debug, Clone, Copy)]
enum Until {
    GreaterOrEqual,
    Equal,
    And,
    Nor,
}

impl Until {
    fn from_flags(flags: u32) -> Answer<Self> {
        let flush = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_FLUSH.0;
        if flags & flush != 0 && flags & !flush <= 3 {
            return Err(no_flush());
        }
        Ok(match flags {
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

impl NumberPlace {
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
        // SAFETY: aligned and within the region, which is kept alive. While an operation waits for
        // it, all other accesses are atomic, in kernels and on the host.
        unsafe { AtomicU32::from_ptr(pointer.cast()) }
    }

    fn bits64(&self) -> &AtomicU64 {
        let pointer = self.region.host.wrapping_add(self.offset);
        // SAFETY: aligned and within the region, which is kept alive. While an operation waits for
        // it, all other accesses are atomic, in kernels and on the host.
        unsafe { AtomicU64::from_ptr(pointer.cast()) }
    }

    /// Changes the number by an operation of its width.
    fn change(&self, action: Action, value: u64) {
        let _writer = (!matches!(action, Action::Wait(_))).then(Writer::new);
        match (self.width, action) {
            (Width::Bits32, Action::Write) => self.bits32().store(value as u32, Ordering::Release),
            (Width::Bits32, Action::Add) => drop(self.bits32().fetch_add(value as u32, Ordering::AcqRel)),
            (Width::Bits32, Action::And) => drop(self.bits32().fetch_and(value as u32, Ordering::AcqRel)),
            (Width::Bits32, Action::Or) => drop(self.bits32().fetch_or(value as u32, Ordering::AcqRel)),
            (Width::Bits64, Action::Write) => self.bits64().store(value, Ordering::Release),
            (Width::Bits64, Action::Add) => drop(self.bits64().fetch_add(value, Ordering::AcqRel)),
            (Width::Bits64, Action::And) => drop(self.bits64().fetch_and(value, Ordering::AcqRel)),
            (Width::Bits64, Action::Or) => drop(self.bits64().fetch_or(value, Ordering::AcqRel)),
            (_, Action::Wait(_)) => return,
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
            Action::Write | Action::Add | Action::And | Action::Or => true,
            Action::Wait(condition) => condition.holds(self.place.load(), self.value, self.place.width),
        }
    }

    fn run(&self, _turn: Turn<'_>) -> Answer {
        note(|| self.act());
        self.place.change(self.action, self.value);
        Ok(())
    }
}

impl ValueOperation {
    /// Describes it for the check of the order between streams.
    fn act(&self) -> Act {
        let NumberPlace { region, offset, width } = &self.place;
        let (width, wanted) = (*width, self.value);
        let bytes = [(*offset as u64, if width == Width::Bits32 { 4 } else { 8 })];
        let (manner, number) = match self.action {
            Action::Wait(until) => {
                let holds = move |value| until.holds(value, wanted, width);
                (Manner::StrongRead, Some(Number::Awaited(Box::new(holds))))
            }
            Action::Write => (Manner::StrongWrite, Some(Number::Written(wanted))),
            Action::Add | Action::And | Action::Or => (Manner::StrongWrite, None),
        };
        let parts = vec![Part::rows(Some(region.neighbor(region.base, false)), manner, bytes)];
        Act { parts, number, tells_host: region.kind.host_visible() && manner.writes(), ..Act::default() }
    }

    /// Creates a write of a number, if its address is valid.
    fn write(address: u64, value: u64, width: Width, flags: u32) -> Answer<Self> {
        // The only flag stands for the behavior of the first revisions; an H100 refuses it.
        ensure(flags == 0, INVALID_VALUE)?;
        Ok(Self { place: NumberPlace::new(address, width)?, value, action: Action::Write })
    }

    /// Creates a wait for a number, if its address is valid.
    fn wait(address: u64, value: u64, width: Width, flags: u32) -> Answer<Self> {
        let action = Action::Wait(Until::from_flags(flags)?);
        Ok(Self { place: NumberPlace::new(address, width)?, value, action })
    }

    pub(crate) fn is_wait(&self) -> bool {
        matches!(self.action, Action::Wait(_))
    }
}

/// Several operations in order, and their parameters.
#[derive(Debug, Clone)]
pub(crate) struct ValueBatch {
    pub(crate) params: Vec<CUstreamBatchMemOpParams>,
    pub(crate) operations: Vec<ValueOperation>,
}

impl ValueBatch {
    pub(crate) fn new(params: Vec<CUstreamBatchMemOpParams>) -> Answer<Self> {
        ensure(params.len() <= MOST, INVALID_VALUE)?;
        let mut operations = Vec::with_capacity(params.len());
        for params in &params {
            operations.extend(operation_of(params)?);
        }
        Ok(Self { params, operations })
    }

    /// True if both have the same kinds of operations, regardless of addresses and values.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        // SAFETY: every member begins with the operation, and all are plain numbers.
        let kind = |params: &CUstreamBatchMemOpParams| unsafe { params.operation };
        self.params.iter().map(kind).eq(other.params.iter().map(kind))
    }
}

impl Operation for ValueBatch {
    fn run(&self, turn: Turn<'_>) -> Answer {
        self.operations.iter().try_for_each(|operation| operation.run(turn))
    }
}

/// Maximum number of operations per call, as on an H100.
const MOST: usize = 255;

/// Returns a structure's operation; `None` if it has no effect, as all memory is visible here.
fn operation_of(params: &CUstreamBatchMemOpParams) -> Answer<Option<ValueOperation>> {
    use CUstreamBatchMemOpType as T;

    // SAFETY: every member begins with the operation, and all are plain numbers.
    let operation = unsafe { params.operation };
    // SAFETY: all members are plain numbers, valid for any bits. The operation selects one.
    let wanted = unsafe { params.waitValue };
    // SAFETY: as above.
    let written = unsafe { params.writeValue };
    // SAFETY: the 64-bit member is the whole of this inner union.
    let wait64 = unsafe { wanted.u.value64 };
    // SAFETY: as above.
    let write64 = unsafe { written.u.value64 };
    let low = u64::from(u32::MAX);
    match operation {
        T::CU_STREAM_MEM_OP_WAIT_VALUE_32 => {
            ValueOperation::wait(wanted.address, wait64 & low, Width::Bits32, wanted.flags).map(Some)
        }
        T::CU_STREAM_MEM_OP_WAIT_VALUE_64 => {
            ValueOperation::wait(wanted.address, wait64, Width::Bits64, wanted.flags).map(Some)
        }
        T::CU_STREAM_MEM_OP_WRITE_VALUE_32 => {
            ValueOperation::write(written.address, write64 & low, Width::Bits32, written.flags).map(Some)
        }
        T::CU_STREAM_MEM_OP_WRITE_VALUE_64 => {
            ValueOperation::write(written.address, write64, Width::Bits64, written.flags).map(Some)
        }
        T::CU_STREAM_MEM_OP_BARRIER => Ok(None),
        T::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES => Err(no_flush()),
        T::CU_STREAM_MEM_OP_ATOMIC_REDUCTION => reduction(params).map(Some),
        _ => Err(INVALID_VALUE),
    }
}

fn no_flush() -> CUresult {
    not_supported(
        "no write from outside of the device needs a flush here, as \
         CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES says: leave it out",
    )
}

/// Creates an atomic operation on a number.
fn reduction(params: &CUstreamBatchMemOpParams) -> Answer<ValueOperation> {
    use CUstreamAtomicReductionDataType as D;
    use CUstreamAtomicReductionOpType as R;

    // SAFETY: the caller checked the operation, so the client set this member, plain numbers.
    let wanted = unsafe { params.atomicReduction };
    ensure(wanted.flags == 0, INVALID_VALUE)?;
    let (width, mask) = match wanted.dataType {
        D::CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 => (Width::Bits32, u64::from(u32::MAX)),
        D::CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64 => (Width::Bits64, u64::MAX),
        _ => return Err(INVALID_VALUE),
    };
    let action = match wanted.reductionOp {
        R::CU_STREAM_ATOMIC_REDUCTION_OP_ADD => Action::Add,
        R::CU_STREAM_ATOMIC_REDUCTION_OP_AND => Action::And,
        R::CU_STREAM_ATOMIC_REDUCTION_OP_OR => Action::Or,
        _ => return Err(INVALID_VALUE),
    };
    Ok(ValueOperation { place: NumberPlace::new(wanted.address, width)?, value: wanted.value & mask, action })
}

/// Queues the operations separately, so a wait only delays later ones. A capture makes one node.
fn push(call: &Call, stream: CUstream, params: Vec<CUstreamBatchMemOpParams>) -> Answer {
    let stream = call.stream(stream)?;
    let batch = ValueBatch::new(params)?;
    if batch.params.is_empty() {
        return Ok(());
    }
    if captures().has(stream.lane()) {
        return stream.push(batch).map(drop);
    }
    batch.operations.into_iter().try_for_each(|operation| stream.push(operation).map(drop))
}

/// Returns the structure for a write by a separate call.
fn write(address: u64, value: u64, width: Width, flags: u32) -> CUstreamBatchMemOpParams {
    let operation = match width {
        Width::Bits32 => CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32,
        Width::Bits64 => CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_64,
    };
    let u = CUstreamMemOpValue { value64: value };
    let mut params = CUstreamBatchMemOpParams::zeroed();
    params.writeValue = CUstreamMemOpWriteValueParams { operation, address, u, flags, alias: 0 };
    params
}

/// Returns the structure for a wait by a separate call.
fn wait(address: u64, value: u64, width: Width, flags: u32) -> CUstreamBatchMemOpParams {
    let operation = match width {
        Width::Bits32 => CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_32,
        Width::Bits64 => CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_64,
    };
    let u = CUstreamMemOpValue { value64: value };
    let mut params = CUstreamBatchMemOpParams::zeroed();
    params.waitValue = CUstreamMemOpWaitValueParams { operation, address, u, flags, alias: 0 };
    params
}

/// Queues several operations by one call, in order.
fn batch(
    call: &Call,
    stream: CUstream,
    count: u32,
    params: InMut<CUstreamBatchMemOpParams>,
    flags: u32,
) -> Answer {
    ensure(flags == 0 && count as usize <= MOST, INVALID_VALUE)?;
    push(call, stream, params.input().get_all(count as usize)?)
}

/// Defines functions that differ in the value's width, and their identical second revisions.
macro_rules! value_calls {
    ([$( $batch:ident ),*] $( $write:ident, $wait:ident: $value:ty, $width:ident; )*) => {
        calls! {
            $(
                fn $write(call, stream: CUstream, addr: u64, value: $value, flags: u32) {
                    push(call, stream, vec![write(addr, u64::from(value), Width::$width, flags)])
                }

                fn $wait(call, stream: CUstream, addr: u64, value: $value, flags: u32) {
                    push(call, stream, vec![wait(addr, u64::from(value), Width::$width, flags)])
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
