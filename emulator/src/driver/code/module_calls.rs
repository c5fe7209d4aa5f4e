//! Functions that load and unload modules, and find their contents.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, NOT_FOUND, ensure};
use crate::driver::call::{Call, InMut, Out, Text, calls, put_handle};
use crate::driver::handle::Handle;
use crate::driver::state::captures;

use super::compile::{Compiled, compile, read_file};
use super::function::{function_of, unload};
use super::image::Image;
use super::jit::Options;
use super::module::{MODULES, Module, ModuleOf};

/// Loads an image into the current context.
fn load(call: &Call, out: Out<CUmodule>, image: Image, options: &Options) -> Answer {
    out.check()?;
    let context = call.context()?;
    let Compiled { program, registers } = compile(image, options)?;
    put_handle(out, Module::load(&context, &program, ModuleOf::Client(registers))?.handle)
}

calls! {
    objects MODULES;

    fn cuModuleLoad(call, module: Out<CUmodule>, fname: Text) {
        let bytes = read_file(fname)?;
        load(call, module, Image::in_buffer(&bytes), &Options::default())
    }

    fn cuModuleLoadData(call, module: Out<CUmodule>, image: Image) {
        load(call, module, image, &Options::default())
    }

    fn cuModuleLoadDataEx(
        call,
        module: Out<CUmodule>,
        image: Image,
        numOptions: u32,
        options: InMut<CUjit_option>,
        optionValues: Out<*mut c_void>,
    ) {
        load(call, module, image, &Options::read(numOptions, options, optionValues)?)
    }

    fn cuModuleLoadFatBinary(call, module: Out<CUmodule>, fatCubin: Image) {
        load(call, module, fatCubin, &Options::default())
    }

    fn cuModuleUnload(_call, hmod: CUmodule) {
        let module = Module::find(hmod)?;
        let of_library = matches!(module.of, ModuleOf::Library(_));
        ensure(!of_library, CUresult::CUDA_ERROR_NOT_PERMITTED)?;
        captures().forbid_unsafe()?;
        unload(&module);
        Ok(())
    }

    fn cuModuleGetLoadingMode(_call, mode: Out<CUmoduleLoadingMode>) {
        mode.set(CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING)
    }

    fn cuModuleGetFunction(_call, hfunc: Out<CUfunction>, hmod: CUmodule, name: Text) {
        hfunc.check()?;
        let name = name.get()?;
        ensure(!name.is_empty(), INVALID_VALUE)?;
        let module = Module::find(hmod)?;
        let index = module.program.kernel(&name);
        put_handle(hfunc, function_of(&module, index.ok_or(NOT_FOUND)?)?)
    }

    fn cuModuleGetFunctionCount(_call, count: Out<u32>, mod_: CUmodule) {
        count.check()?;
        count.set(Module::find(mod_)?.program.kernels().len() as u32)
    }

    fn cuModuleEnumerateFunctions(
        _call,
        functions: Out<CUfunction>,
        numFunctions: u32,
        mod_: CUmodule,
    ) {
        functions.check()?;
        let module = Module::find(mod_)?;
        let mut handles = Vec::new();
        for index in 0..module.program.kernels().len() {
            handles.push(CUfunction::from_addr(function_of(&module, index)?));
        }
        functions.set_all(&handles, numFunctions as usize)
    }

    fn cuModuleGetGlobal_v2(
        _call,
        dptr: Out<u64>,
        bytes: Out<usize>,
        hmod: CUmodule,
        name: Text,
    ) {
        let name = name.get()?;
        ensure(!name.is_empty(), INVALID_VALUE)?;
        ensure(!dptr.is_null() || !bytes.is_null(), INVALID_VALUE)?;
        let module = Module::find(hmod)?;
        ensure(module.program.kernel(&name).is_none(), INVALID_VALUE)?;
        let (address, size) = module.global(&name)?;
        dptr.set_if_wanted(address);
        bytes.set_if_wanted(size as usize);
        Ok(())
    }
}
