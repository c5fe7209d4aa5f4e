//! Streams.

use core::ffi::c_void;

use cuprum_sys::{
    CUdevice, CUevent, CUhostFn, CUstream, CUstreamAttrID, CUstreamAttrValue, CUstreamCallback,
};

use crate::exported::calls;

calls! {
    fn cudaStreamCreate[](stream: *mut CUstream) => cuStreamCreate(stream, 0);

    fn cudaStreamCreateWithFlags[](stream: *mut CUstream, flags: u32) => cuStreamCreate(stream, flags);

    fn cudaStreamCreateWithPriority[](stream: *mut CUstream, flags: u32, priority: i32)
        => cuStreamCreateWithPriority(stream, flags, priority);

    fn cudaStreamDestroy[](stream: CUstream) => cuStreamDestroy_v2(stream);

    fn cudaStreamGetPriority[ptsz](stream: CUstream, priority: *mut i32) => cuStreamGetPriority(stream, priority);

    fn cudaStreamGetFlags[ptsz](stream: CUstream, flags: *mut u32) => cuStreamGetFlags(stream, flags);

    fn cudaStreamGetId[ptsz](stream: CUstream, id: *mut u64) => cuStreamGetId(stream, id);

    fn cudaStreamGetDevice[ptsz](stream: CUstream, device: *mut CUdevice) => cuStreamGetDevice(stream, device);

    fn cudaStreamSynchronize[ptsz](stream: CUstream) => cuStreamSynchronize(stream);

    fn cudaStreamQuery[ptsz](stream: CUstream) => cuStreamQuery(stream);

    fn cudaStreamWaitEvent[ptsz](stream: CUstream, event: CUevent, flags: u32)
        => cuStreamWaitEvent(stream, event, flags);

    fn cudaStreamAddCallback[ptsz](stream: CUstream, callback: CUstreamCallback, data: *mut c_void, flags: u32)
        => cuStreamAddCallback(stream, callback, data, flags);

    fn cudaLaunchHostFunc[ptsz](stream: CUstream, function: CUhostFn, data: *mut c_void)
        => cuLaunchHostFunc(stream, function, data);

    fn cudaLaunchHostFunc_v2[ptsz](stream: CUstream, function: CUhostFn, data: *mut c_void, mode: u32)
        => cuLaunchHostFunc_v2(stream, function, data, mode);

    fn cudaStreamAttachMemAsync[ptsz](stream: CUstream, memory: *mut c_void, length: usize, flags: u32)
        => cuStreamAttachMemAsync(stream, memory as u64, length, flags);

    fn cudaStreamCopyAttributes[ptsz](target: CUstream, source: CUstream) => cuStreamCopyAttributes(target, source);

    fn cudaStreamGetAttribute[ptsz](stream: CUstream, attribute: CUstreamAttrID, value: *mut CUstreamAttrValue)
        => cuStreamGetAttribute(stream, attribute, value);

    fn cudaStreamSetAttribute[ptsz](stream: CUstream, attribute: CUstreamAttrID, value: *const CUstreamAttrValue)
        => cuStreamSetAttribute(stream, attribute, value);
}
