//! Copies to and from the first row of an array, by byte offset.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::calls;
use crate::driver::memory::Bytes;
use crate::driver::texture::Array;

use super::linear::{Wait, linear};

/// Returns bytes of an array, by the offset in its first row.
fn array_bytes(array: CUarray, offset: usize, len: u64) -> Answer<Bytes> {
    let array = Array::find(array).map_err(|_| INVALID_VALUE)?;
    let end = (offset as u64).checked_add(len);
    ensure(end.is_some_and(|end| end <= array.row_bytes()), INVALID_VALUE)?;
    Bytes::device(array.base() + offset as u64, len)
}

calls! {
    fn cuMemcpyDtoA_v2(call, dstArray: CUarray, dstOffset: usize, srcDevice: u64, ByteCount: usize) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, &|len| {
            Ok((array_bytes(dstArray, dstOffset, len)?, Bytes::on_device(srcDevice, len)?))
        })
    }

    fn cuMemcpyAtoD_v2(call, dstDevice: u64, srcArray: CUarray, srcOffset: usize, ByteCount: usize) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, &|len| {
            Ok((Bytes::on_device(dstDevice, len)?, array_bytes(srcArray, srcOffset, len)?))
        })
    }

    fn cuMemcpyAtoA_v2(
        call,
        dstArray: CUarray,
        dstOffset: usize,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, &|len| {
            Ok((array_bytes(dstArray, dstOffset, len)?, array_bytes(srcArray, srcOffset, len)?))
        })
    }

    fn cuMemcpyHtoA_v2(
        call,
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const c_void,
        ByteCount: usize,
    ) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, &|len| {
            let from = Bytes::host(srcHost.cast_mut().cast(), len)?;
            Ok((array_bytes(dstArray, dstOffset, len)?, from))
        })
    }

    fn cuMemcpyHtoAAsync_v2(
        call,
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        linear(&call.stream(hStream)?, ByteCount, Wait::No, &|len| {
            let from = Bytes::host(srcHost.cast_mut().cast(), len)?;
            Ok((array_bytes(dstArray, dstOffset, len)?, from))
        })
    }

    fn cuMemcpyAtoH_v2(
        call,
        dstHost: *mut c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) {
        linear(&call.default_stream()?, ByteCount, Wait::Yes, &|len| {
            let to = Bytes::host(dstHost.cast(), len)?;
            Ok((to, array_bytes(srcArray, srcOffset, len)?))
        })
    }

    fn cuMemcpyAtoHAsync_v2(
        call,
        dstHost: *mut c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        linear(&call.stream(hStream)?, ByteCount, Wait::No, &|len| {
            let to = Bytes::host(dstHost.cast(), len)?;
            Ok((to, array_bytes(srcArray, srcOffset, len)?))
        })
    }
}
