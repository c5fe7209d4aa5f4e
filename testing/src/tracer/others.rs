//! Stands in for another process, whose memory and events a program opens: one process cannot open
//! its own. Opening makes the object here, and closing frees it. `tests/processes.rs` tests two
//! processes.

use cuprum::sys::{CUdeviceptr, CUevent, CUevent_flags, CUipcEventHandle, CUipcMemHandle, CUresult, Fns};

use super::emulator::emulator;
use super::tools;

/// Bytes of memory that is opened.
pub(super) const BYTES: usize = 64;

fn emulated() -> &'static Fns {
    emulator(cuprum::sys::StreamMode::Legacy).fns()
}

unsafe extern "system" fn open_memory(address: *mut CUdeviceptr, _: CUipcMemHandle, _: u32) -> CUresult {
    // SAFETY: passed on for the same purpose.
    unsafe { (emulated().cuMemAlloc_v2)(address, BYTES) }
}

unsafe extern "system" fn close_memory(address: CUdeviceptr) -> CUresult {
    // SAFETY: passed on for the same purpose.
    unsafe { (emulated().cuMemFree_v2)(address) }
}

unsafe extern "system" fn open_event(event: *mut CUevent, _: CUipcEventHandle) -> CUresult {
    // SAFETY: passed on for the same purpose.
    unsafe { (emulated().cuEventCreate)(event, CUevent_flags::CU_EVENT_DISABLE_TIMING.0) }
}

/// The functions of the emulator, with another process and the tools that it lacks.
pub(super) fn added_to(fns: &Fns) -> &'static Fns {
    let mut fns = *fns;
    fns.cuIpcOpenMemHandle = open_memory;
    fns.cuIpcOpenMemHandle_v2 = open_memory;
    fns.cuIpcCloseMemHandle = close_memory;
    fns.cuIpcOpenEventHandle = open_event;
    tools::add(&mut fns);
    Box::leak(Box::new(fns))
}
