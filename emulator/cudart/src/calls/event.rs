//! Events, and their handles for other processes.

use cuprum_sys::{CUevent, CUipcEventHandle, CUstream, FnId, StreamMode};

use crate::driver;
use crate::error::check;
use crate::exported::calls;

calls! {
    fn cudaEventCreate[](event: *mut CUevent) => cuEventCreate(event, 0);

    fn cudaEventCreateWithFlags[](event: *mut CUevent, flags: u32) => cuEventCreate(event, flags);

    fn cudaEventRecord[ptsz](event: CUevent, stream: CUstream) => cuEventRecord(event, stream);

    fn cudaEventRecordWithFlags[ptsz](event: CUevent, stream: CUstream, flags: u32)
        => cuEventRecordWithFlags(event, stream, flags);

    fn cudaEventQuery[](event: CUevent) => cuEventQuery(event);

    fn cudaEventSynchronize[](event: CUevent) => cuEventSynchronize(event);

    fn cudaEventDestroy[](event: CUevent) => cuEventDestroy_v2(event);

    fn cuprum_12_cudaEventElapsedTime[](milliseconds: *mut f32, start: CUevent, end: CUevent)
        => cuEventElapsedTime(milliseconds, start, end);

    fn cudaEventElapsedTime_v2[](milliseconds: *mut f32, start: CUevent, end: CUevent) |here| {
        // Drivers older than 12.8 only have the first revision.
        let has = driver::library(StreamMode::Legacy)?.has(FnId::cuEventElapsedTime_v2);
        let elapsed = if has { here.fns.cuEventElapsedTime_v2 } else { here.fns.cuEventElapsedTime };
        // SAFETY: the caller's arguments.
        check(unsafe { elapsed(milliseconds, start, end) })
    }

    fn cudaIpcGetEventHandle[](handle: *mut CUipcEventHandle, event: CUevent) => cuIpcGetEventHandle(handle, event);

    fn cudaIpcOpenEventHandle[](event: *mut CUevent, handle: CUipcEventHandle) => cuIpcOpenEventHandle(event, handle);
}
