//! Modules: programs with their variables placed in a context's memory.

use core::ffi::c_void;
use core::ptr;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::*;

use crate::memory::{Region, RegionKind, Request};
use crate::message::{self, Message};
use crate::program::{
    FUNCTION_STRIDE, Global, GlobalSpace, LoadOptions, Program, PtxError, PtxErrorKind, RelocationTarget,
};

use super::call::{
    Answer, Call, INVALID_HANDLE, INVALID_VALUE, InMut, NOT_FOUND, OUT_OF_MEMORY, Out, Text, calls, ensure,
    put_handle,
};
use super::context::Context;
use super::function::{Attributes, Function};
use super::handle::Handle;
use super::image::{Image, Refused};
use super::jit::{Options, RegisterLimit};
use super::library::Origin;
use super::state::emulator;

/// A program loaded into a context.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) handle: usize,
    pub(super) context: Arc<Context>,
    pub(super) program: Arc<Program>,
    /// Where each global of the program is; 0 for one without size.
    pub(super) globals: Vec<u64>,
    /// The function handles given out, by index of the kernel.
    functions: Mutex<HashMap<usize, usize>>,
    of: ModuleOf,
}

/// Who loaded a module.
#[derive(Debug)]
pub(super) enum ModuleOf {
    /// The client, with a limit of the registers.
    Client(RegisterLimit),
    /// A library, some of whose state it shares.
    Library(Arc<Origin>),
}

/// Reads an image. The log goes to the client, the code is the answer.
pub(super) fn compile(image: Image, options: &Options) -> Answer<Arc<Program>> {
    compile_or(image, options, refusal)
}

/// As [`compile`], with words for what is wrong with the PTX.
pub(super) fn compile_or(
    image: Image,
    options: &Options,
    refusal: impl FnOnce(&PtxError) -> Refused,
) -> Answer<Arc<Program>> {
    let (major, minor) = emulator().settings.compute_capability;
    let capability = major * 10 + minor;
    let target = LoadOptions { compute_capability: capability };
    let loaded =
        image.ptx(capability)?.and_then(|ptx| Program::load(&ptx, &target).map_err(|error| refusal(&error)));
    match loaded {
        Ok(program) => {
            options.nothing()?;
            Ok(Arc::new(program))
        }
        Err(Refused { code, log }) => {
            options.error(&log)?;
            message::tell(&Message::ModuleRefused { code, log: &log });
            Err(code)
        }
    }
}

/// The code that the driver gives for PTX it does not take.
pub(super) fn refusal(error: &PtxError) -> Refused {
    let code = match error.kind {
        PtxErrorKind::Version => CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        _ => CUresult::CUDA_ERROR_INVALID_PTX,
    };
    Refused::new(code, format!("ptx {error}\n"))
}

impl Module {
    /// Places a program's variables in the context and makes a handle for it.
    pub(super) fn load(context: &Arc<Context>, program: &Arc<Program>, of: ModuleOf) -> Answer<Arc<Self>> {
        let emulator = emulator();
        let shared = match &of {
            ModuleOf::Client(_) => HashMap::new(),
            ModuleOf::Library(origin) => origin.managed(program)?,
        };
        let owner = (context.handle as u64, context.device as u32);
        let regions = place(owner, program.globals(), |index, _| !shared.contains_key(&index))?;
        let placed = |index: usize, region: &Option<Region>| {
            let known = || shared.get(&index).copied().unwrap_or(0);
            region.as_ref().map_or_else(known, |region| region.base)
        };
        let addresses: Vec<u64> =
            regions.iter().enumerate().map(|(index, region)| placed(index, region)).collect();
        for (global, region) in program.globals().iter().zip(&regions) {
            if let Some(region) = region {
                initialise(global, region, &addresses);
            }
        }
        let (_, module) = emulator.modules.insert_with(|handle| Self {
            handle,
            context: Arc::clone(context),
            program: Arc::clone(program),
            globals: addresses,
            functions: Mutex::default(),
            of,
        });
        Ok(module)
    }

    /// The module behind a handle. Its context is alive and not poisoned.
    pub(super) fn find(handle: CUmodule) -> Answer<Arc<Self>> {
        let module = emulator().modules.get(handle.addr()).ok_or(INVALID_HANDLE)?;
        module.context.check()?;
        Ok(module)
    }

    /// The handle of the function for a kernel, by its index; the same every time.
    pub(super) fn function(self: &Arc<Self>, index: usize) -> Answer<usize> {
        let kernel = self.program.kernels().get(index).ok_or(NOT_FOUND)?;
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = functions.entry(index);
        Ok(*known.or_insert_with(|| {
            let attributes = match &self.of {
                ModuleOf::Client(limit) => Attributes::new(kernel, *limit),
                ModuleOf::Library(origin) => origin.attributes(index, kernel),
            };
            let function = Function::new(Arc::clone(self), Arc::clone(kernel), attributes);
            emulator().functions.insert(function)
        }))
    }

    /// The handle that a kernel of a library has outside of contexts, by its index.
    pub(super) fn kernel(&self, index: usize) -> Option<usize> {
        match &self.of {
            ModuleOf::Client(_) => None,
            ModuleOf::Library(origin) => origin.kernel(index),
        }
    }

    /// Address and size of a variable.
    pub(super) fn global(&self, name: &str) -> Answer<(u64, u64)> {
        let globals = self.program.globals().iter().zip(&self.globals);
        let found = globals.into_iter().find(|(global, _)| global.name == name);
        let (global, &address) = found.ok_or(NOT_FOUND)?;
        Ok((address, global.size))
    }

    /// Takes the module away; its variables go with it.
    pub(super) fn unload(&self) {
        let emulator = emulator();
        emulator.scheduler.wait_context(self.context.handle);
        emulator.modules.remove(self.handle);
        let functions = std::mem::take(&mut *self.functions.lock().unwrap_or_else(PoisonError::into_inner));
        for handle in functions.into_values() {
            emulator.functions.remove(handle);
        }
        let of_library = matches!(self.of, ModuleOf::Library(_));
        for (global, &address) in self.program.globals().iter().zip(&self.globals) {
            if address != 0 && !(of_library && global.managed) {
                // Gone already if the context is.
                let _ = emulator.memory.free(address);
            }
        }
    }
}

/// Allocates those variables that are wanted, for a context on a device; frees what it has if one does not fit.
pub(super) fn place(
    (context, device): (u64, u32),
    globals: &[Global],
    wanted: impl Fn(usize, &Global) -> bool,
) -> Answer<Vec<Option<Region>>> {
    let memory = &emulator().memory;
    let mut regions: Vec<Option<Region>> = Vec::with_capacity(globals.len());
    for (index, global) in globals.iter().enumerate() {
        if global.size == 0 || !wanted(index, global) {
            regions.push(None);
            continue;
        }
        let request = Request {
            align: global.align,
            kind: if global.managed { RegionKind::Managed } else { RegionKind::Global },
            writable: global.space != GlobalSpace::Const,
            label: Some(global.name.as_str().into()),
            ..Request::device(global.size, context, device)
        };
        match memory.alloc(&request) {
            Ok(region) => regions.push(Some(region)),
            Err(_) => {
                for region in regions.into_iter().flatten() {
                    let _ = memory.free(region.base);
                }
                return Err(OUT_OF_MEMORY);
            }
        }
    }
    Ok(regions)
}

/// Writes a variable's initial bytes, with the addresses in them.
pub(super) fn initialise(global: &Global, region: &Region, addresses: &[u64]) {
    let mut bytes = global.init.clone();
    for relocation in &global.relocations {
        let base = match relocation.target {
            RelocationTarget::Global(index) => addresses.get(index).copied().unwrap_or(0),
            RelocationTarget::Function(index) => {
                emulator().memory.windows().code + FUNCTION_STRIDE * index as u64
            }
        };
        let address = base.wrapping_add_signed(relocation.addend);
        let value = match relocation.mask {
            Some(mask) if mask != 0 => (address & mask) >> mask.trailing_zeros(),
            _ => address,
        };
        let start = relocation.offset as usize;
        let end = start + relocation.bytes as usize;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        let source = value.to_le_bytes();
        for (to, from) in bytes[start..end].iter_mut().zip(source) {
            *to = from;
        }
    }
    let count = bytes.len().min(region.len as usize);
    // SAFETY: the region is live, at least `count` bytes long, and nobody else knows it yet.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), region.host, count) };
}

/// Loads an image into the current context.
fn load(call: &Call, out: Out<CUmodule>, image: Image, options: &Options) -> Answer {
    out.check()?;
    let context = call.context()?;
    let program = compile(image, options)?;
    let of = ModuleOf::Client(options.registers());
    put_handle(out, Module::load(&context, &program, of)?.handle)
}

/// Reads a module's file; the NUL behind it makes text of it.
pub(super) fn read_file(path: Text) -> Answer<Vec<u8>> {
    let bytes = std::fs::read(path.get()?);
    let mut bytes = bytes.map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    bytes.push(0);
    Ok(bytes)
}

calls! {
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
        emulator().captures.forbid_unsafe()?;
        module.unload();
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
        let kernels = module.program.kernels();
        let index = kernels.iter().position(|kernel| kernel.name() == name);
        put_handle(hfunc, module.function(index.ok_or(NOT_FOUND)?)?)
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
        let handles = (0..module.program.kernels().len())
            .map(|index| module.function(index).map(CUfunction::from_addr))
            .collect::<Answer<Vec<_>>>()?;
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
        ensure(!dptr.is_null() || !bytes.is_null(), INVALID_VALUE)?;
        let module = Module::find(hmod)?;
        let is_kernel = module.program.kernels().iter().any(|kernel| kernel.name() == name);
        ensure(!is_kernel, INVALID_VALUE)?;
        let (address, size) = module.global(&name)?;
        dptr.set_if_wanted(address);
        bytes.set_if_wanted(size as usize);
        Ok(())
    }
}
