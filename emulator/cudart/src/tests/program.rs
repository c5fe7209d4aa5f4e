//! A program in the form in which its compiler registers it: a fat binary, host addresses, names.

use core::ffi::{CStr, c_void};
use core::ptr;

use crate::calls::register::{
    __cudaRegisterFatBinary, __cudaRegisterFatBinaryEnd, __cudaRegisterFunction, __cudaRegisterManagedVar,
    __cudaRegisterVar, __cudaUnregisterFatBinary,
};
use crate::structs::FatBinaryWrapper;

/// Adds `step` and `managed` to a number.
const PTX: &CStr = c"
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 step = 5;
.global .attribute(.managed) .align 4 .u32 managed = 100;
.entry bump(.param .u64 out)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [%rd1];
    ld.global.u32 %r2, [step];
    ld.global.u32 %r3, [managed];
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

/// A registered program, unregistered on drop. Its own addresses represent kernels and variables.
pub(crate) struct Program {
    handle: *mut *mut c_void,
    wrapper: *mut FatBinaryWrapper,
    host: *mut Host,
}

/// The host's counterpart of a device symbol.
pub(crate) struct Host {
    pub(crate) bump: u8,
    pub(crate) step: u32,
    pub(crate) missing: u8,
    pub(crate) managed: *mut c_void,
}

impl Program {
    pub(crate) fn start() -> Self {
        Self::of(PTX)
    }

    /// Registers a program with other device code.
    pub(crate) fn of(code: &'static CStr) -> Self {
        let data = code.as_ptr().cast();
        let wrapper =
            FatBinaryWrapper { magic: FatBinaryWrapper::MAGIC, version: 1, data, parts: ptr::null() };
        let wrapper = Box::into_raw(Box::new(wrapper));
        let host = Box::into_raw(Box::new(Host { bump: 0, step: 0, missing: 0, managed: ptr::null_mut() }));
        let handle = __cudaRegisterFatBinary(wrapper);
        let program = Self { handle, wrapper, host };
        let none: *mut c_void = ptr::null_mut();
        for (place, name) in [(program.bump(), c"bump"), (program.missing(), c"missing")] {
            __cudaRegisterFunction(
                handle,
                place,
                none.cast(),
                name.as_ptr(),
                -1,
                none,
                none,
                none,
                none,
                none.cast(),
            );
        }
        __cudaRegisterVar(handle, program.step(), none.cast(), c"step".as_ptr(), 0, 4, 0, 0);
        let place = program.managed_place();
        __cudaRegisterManagedVar(handle, place, none.cast(), c"managed".as_ptr(), 0, 4, 0, 0);
        __cudaRegisterFatBinaryEnd(handle);
        program
    }

    pub(crate) fn handle(&self) -> *mut *mut c_void {
        self.handle
    }

    pub(crate) fn bump(&self) -> *const c_void {
        // SAFETY: a field of a live box.
        unsafe { &raw const (*self.host).bump }.cast()
    }

    pub(crate) fn missing(&self) -> *const c_void {
        // SAFETY: a field of a live box.
        unsafe { &raw const (*self.host).missing }.cast()
    }

    pub(crate) fn step(&self) -> *const c_void {
        // SAFETY: a field of a live box.
        unsafe { &raw const (*self.host).step }.cast()
    }

    pub(crate) fn managed_place(&self) -> *mut *mut c_void {
        // SAFETY: a field of a live box.
        unsafe { &raw mut (*self.host).managed }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        __cudaUnregisterFatBinary(self.handle);
        // SAFETY: boxed in `start`, and unregistered.
        drop(unsafe { Box::from_raw(self.wrapper) });
        // SAFETY: likewise.
        drop(unsafe { Box::from_raw(self.host) });
    }
}
