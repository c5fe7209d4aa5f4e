//! Stream-ordered allocation.
//!
//! The call assigns an address immediately. The memory is removed when the stream reaches the free,
//! so the checks find a use before or after.

use std::sync::Arc;

use cuprum_sys::*;

use crate::exec::touched::Manner;
use crate::memory::{Neighbor, PoolFile, RegionKind};
use crate::report::Use;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, Out, calls, not_supported};
use crate::driver::handle::Handle;
use crate::driver::memory::{
    BLOCKS, Block, CURRENT_POOLS, POOLS, PoolPlace, allocate_in, allocate_shared, is_of_graph, join_pool,
    note_free, pool_of, take_away, will_leave_pool,
};
use crate::driver::state::{Act, Operation, Part, Turn, captures, memory, note, scheduler};

use super::stream_ref::StreamRef;

/// Allocates a graph's memory when the stream reaches it.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) block: Arc<Block>,
    pub(crate) device: i32,
}

impl Operation for Allocation {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        self.block.appear();
        Ok(())
    }
}

/// Marks an allocation in the order of its stream, for the check of that order.
#[derive(Debug)]
struct Allocated(Neighbor);

impl Operation for Allocated {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        note(|| {
            let parts = vec![Part::whole(self.0.clone(), Manner::Write)];
            Act { parts, does: Some(Use::Allocates), ..Act::default() }
        });
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Free(pub(crate) u64);

impl Operation for Free {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        if let Some(block) = BLOCKS.find(self.0) {
            block.vanish();
            return Ok(());
        }
        // The address was checked at the issue; the memory may have been freed since.
        let _ = take_away(self.0);
        Ok(())
    }
}

/// True if the stream is capturing. Otherwise fails if a capture forbids calls that may wait.
fn is_captured(stream: &StreamRef) -> Answer<bool> {
    let is_captured = captures().has(stream.lane());
    if !is_captured {
        captures().forbid_unsafe()?;
    }
    Ok(is_captured)
}

fn allocate_from(pool: usize, stream: &StreamRef, out: Out<u64>, bytes: usize) -> Answer {
    let is_captured = is_captured(stream)?;
    out.check()?;
    let owner = POOLS.get(pool).ok_or(INVALID_VALUE)?;
    let on_device = matches!(owner.place, PoolPlace::Device(_));
    let same_device = owner.place == PoolPlace::Device(stream.context().device);
    ensure(same_device || !on_device, CUresult::CUDA_ERROR_INVALID_DEVICE)?;
    // Only the process that created a pool allocates from it.
    ensure(!owner.file.as_ref().is_some_and(PoolFile::is_imported), INVALID_VALUE)?;
    if bytes == 0 {
        // Unlike `cuMemAlloc`. `cuMemFreeAsync` accepts this address.
        return out.set(0);
    }
    if is_captured {
        if !on_device {
            return Err(not_supported(
                "a capture can only allocate device memory here: allocate before it begins, or from a pool of the device",
            ));
        }
        let block = Block::create(stream.context(), bytes)?;
        let address = block.base;
        stream.push(Allocation { block, device: stream.context().device })?;
        return out.set(address);
    }
    if !owner.has_room(bytes as u64) && !scheduler().is_stalled(stream.context().handle) {
        // Memory that the stream freed before is available after the wait.
        scheduler().wait_lane(stream.lane());
    }
    let region = match &owner.file {
        Some(file) => allocate_shared(stream.context(), bytes, file)?,
        None => allocate_in(stream.context(), bytes, owner.place.kind(), 0)?,
    };
    join_pool(region.base, region.len, pool, &owner).inspect_err(|_| drop(memory().free(region.base)))?;
    memory().set_reachable(region.base, owner.is_reached());
    if scheduler().journal().is_some() {
        stream.push(Allocated(region.neighbor(region.base, false)))?;
    }
    out.set(region.base)
}

fn allocate_current(call: &Call, out: Out<u64>, bytes: usize, stream: CUstream) -> Answer {
    let stream = call.stream(stream)?;
    let pool = CURRENT_POOLS.current(PoolPlace::Device(stream.context().device));
    allocate_from(pool, &stream, out, bytes)
}

calls! {
    fn cuMemAllocAsync(call, dptr: Out<u64>, bytesize: usize, hStream: CUstream) {
        allocate_current(call, dptr, bytesize, hStream)
    }

    fn cuMemAllocFromPoolAsync(
        call,
        dptr: Out<u64>,
        bytesize: usize,
        pool: CUmemoryPool,
        hStream: CUstream,
    ) {
        allocate_from(pool.addr(), &call.stream(hStream)?, dptr, bytesize)
    }

    fn cuMemFreeAsync(call, dptr: u64, hStream: CUstream) {
        let stream = call.stream(hStream)?;
        let is_captured = is_captured(&stream)?;
        if dptr == 0 {
            return Ok(());
        }
        if let Some(block) = BLOCKS.find(dptr).filter(|_| !is_captured) {
            block.release()?;
            return stream.push(Free(dptr)).map(drop);
        }
        let Some(region) = memory().find(dptr) else {
            note_free(dptr);
            return Err(INVALID_VALUE);
        };
        // A graph frees only memory of graphs, which is mapped even before a launch.
        let ours = match is_captured {
            true => is_of_graph(&region),
            false => matches!(region.kind, RegionKind::Pooled | RegionKind::Device) || pool_of(dptr).is_some(),
        };
        if !ours || region.base != dptr {
            note_free(dptr);
            return Err(INVALID_VALUE);
        }
        if !is_captured {
            will_leave_pool(dptr)?;
        }
        stream.push(Free(dptr)).map(drop)
    }
}
