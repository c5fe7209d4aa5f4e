//! A context with kernels, streams and memory for the cases.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;

use cuprum_sys::*;

use cuprum_testing::driver_calls::*;

/// Number of 4-byte elements of a case's memory.
pub(crate) const N: usize = 64;
pub(crate) const BYTES: usize = 4 * N;

const KERNELS: &str = concat!(include_str!("kernels.ptx"), "\0");

/// A context with kernels, and two streams that synchronize with no other.
pub(crate) struct Bench {
    pub(crate) a: CUstream,
    pub(crate) b: CUstream,
    put: CUfunction,
    take: CUfunction,
    count: CUfunction,
    publish: CUfunction,
    subscribe: CUfunction,
    _context: TestContext,
}

fn function(module: CUmodule, name: &CStr) -> CUfunction {
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
    function
}

fn launch(function: CUfunction, stream: CUstream, args: &mut [*mut c_void]) {
    ok!(cuLaunchKernel(function, 1, 1, 1, N as u32, 1, 1, 0, stream, args.as_mut_ptr(), null_mut()));
}

impl Bench {
    pub(crate) fn new() -> Self {
        fns();
        let context = TestContext::new();
        let mut module = CUmodule::null();
        ok!(cuModuleLoadData(&mut module, KERNELS.as_ptr().cast()));
        let non_blocking = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
        Self {
            a: stream(non_blocking),
            b: stream(non_blocking),
            put: function(module, c"put"),
            take: function(module, c"take"),
            count: function(module, c"count"),
            publish: function(module, c"publish"),
            subscribe: function(module, c"subscribe"),
            _context: context,
        }
    }

    pub(crate) fn memory(&self) -> CUdeviceptr {
        let memory = alloc(BYTES);
        ok!(cuMemsetD8_v2(memory, 0, BYTES));
        ok!(cuCtxSynchronize());
        memory
    }

    pub(crate) fn locked(&self) -> *mut c_void {
        let mut locked = null_mut();
        ok!(cuMemAllocHost_v2(&mut locked, BYTES));
        locked
    }

    /// Launches a kernel that writes `n` elements, `step` apart.
    pub(crate) fn put_some(&self, mut to: CUdeviceptr, (n, step): (u32, u32), stream: CUstream) {
        let (mut n, mut step, mut value) = (n, step, 7u32);
        let args =
            [(&raw mut to).cast(), (&raw mut n).cast(), (&raw mut step).cast(), (&raw mut value).cast()];
        launch(self.put, stream, &mut { args });
    }

    /// Launches a kernel that writes all elements.
    pub(crate) fn put(&self, to: CUdeviceptr, stream: CUstream) {
        self.put_some(to, (N as u32, 1), stream);
    }

    /// Launches a kernel that copies all elements.
    pub(crate) fn take(&self, mut to: CUdeviceptr, mut from: CUdeviceptr, stream: CUstream) {
        let mut n = N as u32;
        launch(self.take, stream, &mut [(&raw mut to).cast(), (&raw mut from).cast(), (&raw mut n).cast()]);
    }

    /// Launches a kernel that adds to the first element atomically.
    pub(crate) fn count(&self, mut to: CUdeviceptr, stream: CUstream) {
        launch(self.count, stream, &mut [(&raw mut to).cast()]);
    }

    /// Launches a kernel that writes all elements, and then a flag.
    pub(crate) fn publish(&self, mut to: CUdeviceptr, mut flag: CUdeviceptr, stream: CUstream) {
        launch(self.publish, stream, &mut [(&raw mut to).cast(), (&raw mut flag).cast()]);
    }

    /// Launches a kernel that reads all elements if a flag is set.
    pub(crate) fn subscribe(
        &self,
        mut to: CUdeviceptr,
        mut from: CUdeviceptr,
        mut flag: CUdeviceptr,
        stream: CUstream,
    ) {
        let args = [(&raw mut to).cast(), (&raw mut from).cast(), (&raw mut flag).cast()];
        launch(self.subscribe, stream, &mut { args });
    }

    /// Queues an asynchronous copy to the host.
    pub(crate) fn read(&self, to: *mut c_void, from: CUdeviceptr, stream: CUstream) {
        ok!(cuMemcpyDtoHAsync_v2(to, from, BYTES, stream));
    }

    /// Queues an asynchronous copy to the device.
    pub(crate) fn write(&self, to: CUdeviceptr, from: *const c_void, stream: CUstream) {
        ok!(cuMemcpyHtoDAsync_v2(to, from, BYTES, stream));
    }

    /// Makes later work of one stream wait for earlier work of another.
    pub(crate) fn order(&self, earlier: CUstream, later: CUstream) {
        let event = event(2);
        ok!(cuEventRecord(event, earlier));
        ok!(cuStreamWaitEvent(later, event, 0));
        ok!(cuEventDestroy_v2(event));
    }

    pub(crate) fn end(&self) {
        ok!(cuCtxSynchronize());
    }
}
