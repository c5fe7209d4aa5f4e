//! Functions that create, end, describe and wait for streams.

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, NOT_READY, ensure};
use crate::driver::call::{Call, Out, calls, put_handle};
use crate::driver::context::current_part;
use crate::driver::handle::Handle;
use crate::driver::state::{memory, scheduler};
use crate::memory::RegionKind;

use super::stream_ref::{GREATEST_PRIORITY, LEAST_PRIORITY, NON_BLOCKING, STREAMS, create_in};

fn create(call: &Call, out: Out<CUstream>, flags: u32, priority: i32) -> Answer {
    out.check()?;
    ensure(flags & !NON_BLOCKING == 0, INVALID_VALUE)?;
    put_handle(out, create_in(call.context()?, flags, priority, current_part()))
}

/// Destroys the handle immediately, even if the context has a sticky error; queued work still runs.
fn destroy(call: &Call, handle: CUstream) -> Answer {
    ensure(!handle.is_null(), INVALID_HANDLE)?;
    if handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD {
        return call.context().and(Err(INVALID_HANDLE));
    }
    let removed = STREAMS.remove(handle.addr());
    let stream = removed.ok_or(INVALID_HANDLE)?;
    stream.part.as_ref().map_or(Ok(()), |part| part.check())?;
    stream.context.check()
}

calls! {
    objects STREAMS;

    fn cuStreamCreate(call, phStream: Out<CUstream>, Flags: u32) {
        create(call, phStream, Flags, LEAST_PRIORITY)
    }

    fn cuStreamCreateWithPriority(call, phStream: Out<CUstream>, flags: u32, priority: i32) {
        create(call, phStream, flags, priority)
    }

    fn [cuStreamDestroy, cuStreamDestroy_v2](call, hStream: CUstream) {
        destroy(call, hStream)
    }

    fn cuStreamGetPriority(call, hStream: CUstream, priority: Out<i32>) {
        priority.check()?;
        priority.set(call.stream(hStream)?.priority())
    }

    fn cuStreamGetFlags(call, hStream: CUstream, flags: Out<u32>) {
        flags.check()?;
        flags.set(call.stream_outside_captures(hStream)?.flags())
    }

    fn cuStreamGetId(call, hStream: CUstream, streamId: Out<u64>) {
        streamId.check()?;
        streamId.set(call.stream_outside_captures(hStream)?.lane().stream)
    }

    fn cuStreamGetDevice(call, hStream: CUstream, device: Out<i32>) {
        device.check()?;
        device.set(call.stream_outside_captures(hStream)?.context().device)
    }

    fn cuStreamGetCtx(call, hStream: CUstream, pctx: Out<CUcontext>) {
        pctx.check()?;
        let stream = call.stream(hStream)?;
        put_handle(pctx, stream.part().unwrap_or(stream.context()).handle)
    }

    fn cuStreamGetCtx_v2(
        call,
        hStream: CUstream,
        pCtx: Out<CUcontext>,
        pGreenCtx: Out<CUgreenCtx>,
    ) {
        let stream = call.stream(hStream)?;
        // Writes only one of them: a stream of a green context reports no other context.
        pGreenCtx.set_if_wanted(stream.green().map_or(CUgreenCtx::null(), CUgreenCtx::from_addr));
        put_handle(pCtx, stream.green().map_or(stream.context().handle, |_| 0))
    }

    /// Only checks the arguments: host and device share managed memory.
    fn cuStreamAttachMemAsync(call, hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: u32) {
        call.stream_of_capture(hStream)?.forbid_capture()?;
        let single = flags == CUmemAttach_flags::CU_MEM_ATTACH_SINGLE.0;
        ensure(matches!(flags, 1 | 2 | 4) && !(single && hStream.is_null()), INVALID_VALUE)?;
        let region = memory().find(dptr).ok_or(INVALID_VALUE)?;
        let whole = region.base == dptr && (length == 0 || length as u64 == region.len);
        ensure(whole && region.kind == RegionKind::Managed, INVALID_VALUE)
    }

    fn cuStreamQuery(call, hStream: CUstream) {
        let stream = call.stream_of_capture(hStream)?;
        stream.forbid_capture()?;
        ensure(!scheduler().is_busy(stream.lane()), NOT_READY)?;
        scheduler().note_lane_seen(stream.lane());
        Ok(())
    }

    fn cuStreamSynchronize(call, hStream: CUstream) {
        let stream = call.stream_to_wait_for(hStream)?;
        stream.forbid_capture()?;
        stream.wait()
    }

    fn cuCtxGetStreamPriorityRange(call, leastPriority: Out<i32>, greatestPriority: Out<i32>) {
        call.context()?;
        leastPriority.set_if_wanted(LEAST_PRIORITY);
        greatestPriority.set_if_wanted(GREATEST_PRIORITY);
        Ok(())
    }
}
