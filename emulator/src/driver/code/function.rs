//! Functions: kernels of a module, with their attributes.

use core::ffi::c_char;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::program::Kernel;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, NOT_FOUND, ensure};
use crate::driver::call::{Kind, Out, Table, calls, put_handle};
use crate::driver::handle::Handle;

use super::attributes::{Attributes, param_info};
use super::module::{Module, ModuleOf};

pub(crate) static FUNCTIONS: Table<Function> =
    Table::new(Kind::Function).owned_by(|function: &Function| function.module.context.handle);

/// A kernel in a loaded module.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) module: Arc<Module>,
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) name: CString,
    pub(super) attributes: Attributes,
    pub(super) legacy: LegacyState,
}

impl Function {
    pub(super) fn new(module: Arc<Module>, kernel: Arc<Kernel>, attributes: Attributes) -> Self {
        Self {
            module,
            name: CString::new(kernel.name()).unwrap_or_default(),
            attributes,
            legacy: LegacyState::default(),
            kernel,
        }
    }

    /// Finds a function by its handle, which must not be the handle of a kernel: only launches and
    /// the occupancy functions accept both.
    pub(crate) fn find_proper(handle: CUfunction) -> Answer<Arc<Self>> {
        let function = FUNCTIONS.get(handle.addr()).ok_or(INVALID_HANDLE)?;
        function.module.context.check()?;
        Ok(function)
    }
}

/// Returns the handle of a module's function for a kernel, by its index; always the same.
pub(crate) fn function_of(module: &Arc<Module>, index: usize) -> Answer<usize> {
    let kernel = module.program.kernels().get(index).ok_or(NOT_FOUND)?;
    let mut functions = module.functions.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(*functions.get_or_insert_with(index as u64, || {
        let attributes = match &module.of {
            ModuleOf::Client(limit) => Attributes::new(kernel, *limit),
            ModuleOf::Library(origin) => origin.attributes(index, kernel),
        };
        FUNCTIONS.insert(Function::new(Arc::clone(module), Arc::clone(kernel), attributes))
    }))
}

pub(super) fn unload(module: &Module) {
    for handle in module.unload() {
        FUNCTIONS.remove(handle);
    }
}

/// Settings for a function's next launch by the functions from before CUDA 4.0.
#[derive(Debug, Default)]
pub(super) struct LegacyState(Mutex<Settings>);

#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) params: Vec<u8>,
}

impl LegacyState {
    pub(super) fn lock(&self) -> MutexGuard<'_, Settings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

calls! {
    objects FUNCTIONS;

    fn cuFuncGetAttribute(_call, pi: Out<i32>, attrib: CUfunction_attribute, hfunc: CUfunction) {
        pi.check()?;
        let function = Function::find_proper(hfunc)?;
        pi.set(function.attributes.get(&function.module.program, &function.kernel, attrib)?)
    }

    fn cuFuncSetAttribute(_call, hfunc: CUfunction, attrib: CUfunction_attribute, value: i32) {
        let function = Function::find_proper(hfunc)?;
        function.attributes.set(&function.kernel, attrib, value)
    }

    fn cuFuncSetCacheConfig(_call, hfunc: CUfunction, config: CUfunc_cache) {
        ensure(config.name().is_some(), INVALID_VALUE)?;
        Function::find_proper(hfunc).map(drop)
    }

    fn cuFuncSetSharedMemConfig(_call, hfunc: CUfunction, config: CUsharedconfig) {
        ensure(config.name().is_some(), INVALID_VALUE)?;
        Function::find_proper(hfunc).map(drop)
    }

    fn cuFuncGetModule(_call, hmod: Out<CUmodule>, hfunc: CUfunction) {
        hmod.check()?;
        put_handle(hmod, Function::find_proper(hfunc)?.module.handle)
    }

    /// The name lives as long as the module.
    fn cuFuncGetName(_call, name: Out<*const c_char>, hfunc: CUfunction) {
        name.check()?;
        name.set(Function::find_proper(hfunc)?.name.as_ptr())
    }

    fn cuFuncGetParamInfo(
        _call,
        func: CUfunction,
        paramIndex: usize,
        paramOffset: Out<usize>,
        paramSize: Out<usize>,
    ) {
        param_info(&Function::find_proper(func)?.kernel, paramIndex, paramOffset, paramSize)
    }

    fn cuFuncGetParamCount(_call, func: CUfunction, paramCount: Out<usize>) {
        paramCount.check()?;
        paramCount.set(Function::find_proper(func)?.kernel.params().len())
    }

    fn cuFuncIsLoaded(_call, state: Out<CUfunctionLoadingState>, function: CUfunction) {
        state.check()?;
        Function::find_proper(function)?;
        state.set(CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)
    }

    fn cuFuncLoad(_call, function: CUfunction) {
        Function::find_proper(function).map(drop)
    }
}
