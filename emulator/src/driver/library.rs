//! Libraries: programs that belong to no context, and are placed into one when they are used there.

use core::ffi::{c_char, c_void};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cuprum_sys::*;

use crate::program::{Global, Kernel as Code, Program};

use super::call::{
    Answer, INVALID_HANDLE, INVALID_VALUE, InMut, NOT_FOUND, Out, Text, calls, ensure, put_handle,
};
use super::context::Context;
use super::device;
use super::function::{Attributes, param_info};
use super::handle::Handle;
use super::image::Image;
use super::jit::{Options, RegisterLimit};
use super::module::{Module, ModuleOf, compile, initialise, place, read_file};
use super::state::emulator;

/// A program that belongs to no context.
#[derive(Debug)]
pub(super) struct Library {
    handle: usize,
    program: Arc<Program>,
    origin: Arc<Origin>,
    state: Mutex<State>,
}

/// What the modules of a library share.
#[derive(Debug)]
pub(super) struct Origin {
    library: usize,
    /// Those of each kernel, which its functions have until they are set for a function.
    attributes: Vec<Arc<Attributes>>,
    /// Where managed variables are, which belong to no context; placed when first asked for.
    managed: Mutex<HashMap<usize, u64>>,
}

impl Origin {
    /// The attributes of a new function.
    pub(super) fn attributes(&self, index: usize, kernel: &Code) -> Attributes {
        match self.attributes.get(index) {
            Some(kernel) => Attributes::of_function(Arc::clone(kernel)),
            None => Attributes::new(kernel, RegisterLimit::default()),
        }
    }

    /// The handle of a kernel.
    pub(super) fn kernel(&self, index: usize) -> Option<usize> {
        emulator().libraries.get(self.library)?.kernel(index).ok()
    }

    /// Addresses of the managed variables, by index.
    pub(super) fn managed(&self, program: &Program) -> Answer<HashMap<usize, u64>> {
        let mut known = self.managed.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            let globals = program.globals();
            // The context 0 is nobody's, and never ends.
            let regions = place((0, 0), globals, |_, global| global.managed)?;
            let addresses: Vec<u64> =
                regions.iter().map(|region| region.as_ref().map_or(0, |region| region.base)).collect();
            for (index, (global, region)) in globals.iter().zip(&regions).enumerate() {
                if let Some(region) = region {
                    initialise(global, region, &addresses);
                    known.insert(index, region.base);
                }
            }
        }
        Ok(known.clone())
    }

    fn free(&self) {
        let known = std::mem::take(&mut *self.managed.lock().unwrap_or_else(PoisonError::into_inner));
        for address in known.into_values() {
            // Gone already if a client freed it.
            let _ = emulator().memory.free(address);
        }
    }
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
    attributes: Arc<Attributes>,
}

impl Library {
    fn create(out: Out<CUlibrary>, image: Image, options: &Options) -> Answer {
        out.check()?;
        let program = compile(image, options)?;
        let (handle, _) = emulator().libraries.insert_with(|handle| {
            let attributes = |code: &Arc<Code>| Arc::new(Attributes::new(code, options.registers()));
            let origin = Origin {
                library: handle,
                attributes: program.kernels().iter().map(attributes).collect(),
                managed: Mutex::default(),
            };
            Self { handle, program, origin: Arc::new(origin), state: Mutex::default() }
        });
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
        let known = state.modules.get(&context.handle).and_then(Weak::upgrade);
        // That of a primary context which was made again since is another.
        if let Some(module) = known.filter(|module| Arc::ptr_eq(&module.context, context)) {
            return Ok(module);
        }
        let module = Module::load(context, &self.program, ModuleOf::Library(Arc::clone(&self.origin)))?;
        state.modules.insert(context.handle, Arc::downgrade(&module));
        Ok(module)
    }

    fn kernel(self: &Arc<Self>, index: usize) -> Answer<usize> {
        let code = self.program.kernels().get(index).ok_or(NOT_FOUND)?;
        let attributes = self.origin.attributes.get(index).ok_or(NOT_FOUND)?;
        let mut state = self.state();
        Ok(*state.kernels.entry(index).or_insert_with(|| {
            emulator().kernels.insert(Kernel {
                library: Arc::clone(self),
                index,
                name: CString::new(code.name()).unwrap_or_default(),
                attributes: Arc::clone(attributes),
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
        self.origin.free();
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
        let options = Options::read(numJitOptions, jitOptions, jitOptionsValues)?;
        Library::create(library, code, &options)
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
        let options = Options::read(numJitOptions, jitOptions, jitOptionsValues)?;
        let bytes = read_file(fileName)?;
        Library::create(library, Image::in_buffer(&bytes), &options)
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

    /// Managed variables belong to no context.
    fn cuLibraryGetManaged(
        _call,
        dptr: Out<u64>,
        bytes: Out<usize>,
        library: CUlibrary,
        name: Text,
    ) {
        let name = name.get()?;
        let library = Library::find(library)?;
        let globals = library.program.globals();
        let managed = |global: &Global| global.managed && global.name == name;
        let index = globals.iter().position(managed).ok_or(NOT_FOUND)?;
        let addresses = library.origin.managed(&library.program)?;
        dptr.set_if_wanted(addresses.get(&index).copied().unwrap_or(0));
        bytes.set_if_wanted(globals.get(index).map_or(0, |global| global.size as usize));
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
