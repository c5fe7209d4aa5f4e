//! Functions for kernels that belong to no context.

use core::ffi::c_char;

use cuprum_sys::*;

use crate::driver::answer::{INVALID_VALUE, ensure};
use crate::driver::call::{Out, calls, put_handle};
use crate::driver::device;

use super::attributes::param_info;
use super::library::Kernel;

calls! {
    fn cuKernelGetFunction(call, pFunc: Out<CUfunction>, kernel: CUkernel) {
        pFunc.check()?;
        let kernel = Kernel::find(kernel)?;
        put_handle(pFunc, kernel.function_in(&call.context()?)?)
    }

    fn cuKernelGetLibrary(_call, pLib: Out<CUlibrary>, kernel: CUkernel) {
        pLib.check()?;
        put_handle(pLib, Kernel::find(kernel)?.library.handle)
    }

    /// The name lives as long as the library.
    fn cuKernelGetName(_call, name: Out<*const c_char>, hfunc: CUkernel) {
        name.check()?;
        name.set(Kernel::find(hfunc)?.name.as_ptr())
    }

    /// The driver inspects the code in the current context.
    fn cuKernelGetParamInfo(
        call,
        kernel: CUkernel,
        paramIndex: usize,
        paramOffset: Out<usize>,
        paramSize: Out<usize>,
    ) {
        let kernel = Kernel::find(kernel)?;
        call.context()?;
        param_info(&kernel.code, paramIndex, paramOffset, paramSize)
    }

    fn cuKernelGetParamCount(call, kernel: CUkernel, paramCount: Out<usize>) {
        paramCount.check()?;
        let kernel = Kernel::find(kernel)?;
        call.context()?;
        paramCount.set(kernel.code.params().len())
    }

    fn cuKernelGetAttribute(
        _call,
        pi: Out<i32>,
        attrib: CUfunction_attribute,
        kernel: CUkernel,
        dev: i32,
    ) {
        pi.check()?;
        device::check(dev)?;
        let kernel = Kernel::find(kernel)?;
        pi.set(kernel.attributes.get(&kernel.library.program, &kernel.code, attrib)?)
    }

    fn cuKernelSetAttribute(
        _call,
        attrib: CUfunction_attribute,
        val: i32,
        kernel: CUkernel,
        dev: i32,
    ) {
        device::check(dev)?;
        let kernel = Kernel::find(kernel)?;
        kernel.attributes.set(&kernel.code, attrib, val)
    }

    fn cuKernelSetCacheConfig(_call, kernel: CUkernel, config: CUfunc_cache, dev: i32) {
        ensure(config.name().is_some(), INVALID_VALUE)?;
        device::check(dev)?;
        Kernel::find(kernel).map(drop)
    }
}
