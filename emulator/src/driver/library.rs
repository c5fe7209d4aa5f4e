//! Libraries: programs that belong to no context, and are placed into one when they are used there.

use core::ffi::{c_char, c_void};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cuprum_sys::*;

use crate::program::{Kernel as Code, Program};

use super::call::{
    Answer, INVALID_HANDLE, INVALID_VALUE, InMut, NOT_FOUND, Out, Text, calls, ensure, put_handle,
};
use super::context::Context;
use super::device;
use super::function::{Attributes, param_info};
use super::handle::Handle;
use super::image::Image;
use super::jit::Logs;
use super::module::{Module, compile, read_file};
use super::state::emulator;

/// A program that belongs to no context.
#[derive(Debug)]
pub(super) struct Library {
    handle: usize,
    program: Arc<Program>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The module in each context that has used it.
    modules: HashMap<usize, Weak<Module>>,
    /// The kernel handles given out, by index.
    kernels: HashMap<usize, usize>,
}

/// A kernel that belongs to no context.
#[derive(Debug)]
pub(super) struct Kernel {
    library: Arc<Library>,
    index: usize,
    code: Arc<Code>,
    name: CString,
    attributes: Attributes,
}

impl Library {
    fn create(out: Out<CUlibrary>, image: Image, logs: &Logs) -> Answer {
        out.check()?;
        let program = compile(image, logs)?;
        let (handle, _) =
            emulator().libraries.insert_with(|handle| Self { handle, program, state: Mutex::default() });
        put_handle(out, handle)
    }

    fn find(handle: CUlibrary) -> Answer<Arc<Self>> {
        emulator().libraries.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The library's module in a context, loaded on first use.
    fn module_in(&self, context: &Arc<Context>) -> Answer<Arc<Module>> {
        let mut state = self.state();
        if let Some(module) = state.modules.get(&context.handle).and_then(Weak::upgrade) {
            return Ok(module);
        }
        let module = Module::load(context, &self.program)?;
        state.modules.insert(context.handle, Arc::downgrade(&module));
        Ok(module)
    }

    fn kernel(self: &Arc<Self>, index: usize) -> Answer<usize> {
        let code = self.program.kernels().get(index).ok_or(NOT_FOUND)?;
        let mut state = self.state();
        Ok(*state.kernels.entry(index).or_insert_with(|| {
            emulator().kernels.insert(Kernel {
                library: Arc::clone(self),
                index,
                name: CString::new(code.name()).unwrap_or_default(),
                attributes: Attributes::new(code),
                code: Arc::clone(code),
            })
        }))
    }

    fn unload(&self) {
        let emulator = emulator();
        emulator.libraries.remove(self.handle);
        let State { modules, kernels } = std::mem::take(&mut *self.state());
        for handle in kernels.into_values() {
            emulator.kernels.remove(handle);
        }
        for module in modules.values().filter_map(Weak::upgrade) {
            module.unload();
        }
    }
}

impl Kernel {
    fn find(handle: CUkernel) -> Answer<Arc<Self>> {
        emulator().kernels.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    /// The handle of its function in a context.
    pub(super) fn function_in(&self, context: &Arc<Context>) -> Answer<usize> {
        self.library.module_in(context)?.function(self.index)
    }
}

calls! {
    fn cuLibraryLoadData(
        _call,
        library: Out<CUlibrary>,
        code: Image,
        jitOptions: InMut<CUjit_option>,
        jitOptionsValues: Out<*mut c_void>,
        numJitOptions: u32,
        _libraryOptions: InMut<CUlibraryOption>,
        _libraryOptionValues: Out<*mut c_void>,
        _numLibraryOptions: u32,
    ) {
        let logs = Logs::from_options(numJitOptions, jitOptions, jitOptionsValues)?;
        Library::create(library, code, &logs)
    }

    fn cuLibraryLoadFromFile(
        _call,
        library: Out<CUlibrary>,
        fileName: Text,
        jitOptions: InMut<CUjit_option>,
        jitOptionsValues: Out<*mut c_void>,
        numJitOptions: u32,
        _libraryOptions: InMut<CUlibraryOption>,
        _libraryOptionValues: Out<*mut c_void>,
        _numLibraryOptions: u32,
    ) {
        let logs = Logs::from_options(numJitOptions, jitOptions, jitOptionsValues)?;
        let bytes = read_file(fileName)?;
        Library::create(library, Image::in_buffer(&bytes), &logs)
    }

    fn cuLibraryUnload(_call, library: CUlibrary) {
        Library::find(library)?.unload();
        Ok(())
    }

    fn cuLibraryGetKernel(_call, pKernel: Out<CUkernel>, library: CUlibrary, name: Text) {
        pKernel.check()?;
        let name = name.get()?;
        let library = Library::find(library)?;
        let index = library.program.kernels().iter().position(|kernel| kernel.name() == name);
        put_handle(pKernel, library.kernel(index.ok_or(NOT_FOUND)?)?)
    }

    fn cuLibraryGetKernelCount(_call, count: Out<u32>, lib: CUlibrary) {
        count.check()?;
        count.set(Library::find(lib)?.program.kernels().len() as u32)
    }

    fn cuLibraryEnumerateKernels(
        _call,
        kernels: Out<CUkernel>,
        numKernels: u32,
        lib: CUlibrary,
    ) {
        kernels.check()?;
        let library = Library::find(lib)?;
        let handles = (0..library.program.kernels().len())
            .map(|index| library.kernel(index).map(CUkernel::from_addr))
            .collect::<Answer<Vec<_>>>()?;
        kernels.set_all(&handles, numKernels as usize)
    }

    fn cuLibraryGetModule(call, pMod: Out<CUmodule>, library: CUlibrary) {
        pMod.check()?;
        let context = call.context()?;
        put_handle(pMod, Library::find(library)?.module_in(&context)?.handle)
    }

    fn cuLibraryGetGlobal(
        call,
        dptr: Out<u64>,
        bytes: Out<usize>,
        library: CUlibrary,
        name: Text,
    ) {
        let name = name.get()?;
        let context = call.context()?;
        let (address, size) = Library::find(library)?.module_in(&context)?.global(&name)?;
        dptr.set_if_wanted(address);
        bytes.set_if_wanted(size as usize);
        Ok(())
    }

    fn cuLibraryGetManaged(
        call,
        dptr: Out<u64>,
        bytes: Out<usize>,
        library: CUlibrary,
        name: Text,
    ) {
        let name = name.get()?;
        let context = call.context()?;
        let library = Library::find(library)?;
        let mut globals = library.program.globals().iter();
        let managed = globals.any(|global| global.managed && global.name == name);
        ensure(managed, NOT_FOUND)?;
        let (address, size) = library.module_in(&context)?.global(&name)?;
        dptr.set_if_wanted(address);
        bytes.set_if_wanted(size as usize);
        Ok(())
    }

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

    fn cuKernelGetParamInfo(
        _call,
        kernel: CUkernel,
        paramIndex: usize,
        paramOffset: Out<usize>,
        paramSize: Out<usize>,
    ) {
        param_info(&Kernel::find(kernel)?.code, paramIndex, paramOffset, paramSize)
    }

    fn cuKernelGetParamCount(_call, kernel: CUkernel, paramCount: Out<usize>) {
        paramCount.check()?;
        paramCount.set(Kernel::find(kernel)?.code.params().len())
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
