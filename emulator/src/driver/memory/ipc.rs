//! Device memory of other processes, by IPC handles of 64 bytes.

use cuprum_sys::*;

use crate::memory::{HandleError, RegionKind};

use crate::driver::answer::{Answer, INVALID_CONTEXT, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{Call, Out, calls, not_supported};
use crate::driver::state::{captures, memory, scheduler};

use super::pool::pool_of;

pub(crate) const UNSHARED: &str = "the software device shares memory and events with other processes on Linux only, \
     where files without a name can be made: keep to one process";

/// Returns the code that hardware returns if a handle cannot be created or opened.
pub(crate) fn refused(error: HandleError) -> CUresult {
    match error {
        HandleError::Unsupported => not_supported(UNSHARED),
        HandleError::Invalid => INVALID_VALUE,
        HandleError::Own => INVALID_CONTEXT,
        HandleError::OutOfMemory => OUT_OF_MEMORY,
    }
}

fn open(call: &Call, out: Out<u64>, handle: CUipcMemHandle, flags: u32) -> Answer {
    out.check()?;
    ensure(flags == CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0, INVALID_VALUE)?;
    let context = call.context()?;
    let region = memory().open(&handle.reserved, context.handle as u64).map_err(refused)?;
    if let Err(code) = captures().forbid_unsafe() {
        memory().close(region.base);
        return Err(code);
    }
    out.set(region.base)
}

calls! {
    fn cuIpcGetMemHandle(call, pHandle: Out<CUipcMemHandle>, dptr: u64) {
        pHandle.check()?;
        call.context()?;
        let region = memory().find(dptr).ok_or(INVALID_VALUE)?;
        let reserved = memory().export(&region).map_err(refused)?;
        pHandle.set(CUipcMemHandle { reserved })
    }

    fn [cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2](call, pdptr: Out<u64>, handle: CUipcMemHandle, Flags: u32) {
        open(call, pdptr, handle, Flags)
    }

    /// Waits for all work that may use the memory.
    fn cuIpcCloseMemHandle(call, dptr: u64) {
        call.context()?;
        let region = memory().find(dptr).ok_or(INVALID_VALUE)?;
        ensure(pool_of(dptr).is_none() && region.kind == RegionKind::Opened, INVALID_VALUE)?;
        captures().forbid_unsafe()?;
        scheduler().wait_to_free(region.context as usize);
        ensure(memory().close(dptr), INVALID_VALUE)
    }
}
