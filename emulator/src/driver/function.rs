//! Functions: kernels of a module, with their attributes.

use core::ffi::c_char;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use cuprum_sys::*;

use crate::program::{GlobalSpace, Kernel, Program};

use super::call::{Answer, INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE, Out, calls, ensure, put_handle};
use super::context::Context;
use super::device::{MAX_THREADS, SHARED_DEFAULT, SHARED_OPT_IN};
use super::handle::Handle;
use super::jit::RegisterLimit;
use super::legacy_launch::LegacyState;
use super::module::Module;
use super::state::emulator;

/// A kernel in a loaded module.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) module: Arc<Module>,
    pub(super) kernel: Arc<Kernel>,
    pub(super) name: CString,
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

    /// The function behind a handle; of a kernel that belongs to no context, the one in the current
    /// context. Its context is alive and not poisoned.
    pub(super) fn find(handle: CUfunction) -> Answer<Arc<Self>> {
        if let Some(function) = emulator().functions.get(handle.addr()) {
            function.module.context.check()?;
            return Ok(function);
        }
        let kernel = emulator().kernels.get(handle.addr()).ok_or(INVALID_HANDLE)?;
        let context = super::context::current().ok_or(INVALID_CONTEXT)?;
        context.check()?;
        let function = kernel.function_in(&context)?;
        emulator().functions.get(function).ok_or(INVALID_HANDLE)
    }

    /// The function behind a handle, which is not that of a kernel: only launches and the calls about
    /// occupancy take that as well.
    pub(super) fn find_proper(handle: CUfunction) -> Answer<Arc<Self>> {
        let function = emulator().functions.get(handle.addr()).ok_or(INVALID_HANDLE)?;
        function.module.context.check()?;
        Ok(function)
    }

    /// The handle that its kernel has outside of contexts, if it has one.
    pub(super) fn kernel_handle(&self) -> Option<usize> {
        let same = |kernel: &Arc<Kernel>| Arc::ptr_eq(kernel, &self.kernel);
        self.module.kernel(self.module.program.kernels().iter().position(same)?)
    }

    /// The function behind a handle, which must be of this context.
    pub(super) fn find_in(handle: CUfunction, context: &Arc<Context>) -> Answer<Arc<Self>> {
        let function = match emulator().functions.get(handle.addr()) {
            Some(function) => function,
            None => {
                let kernel = emulator().kernels.get(handle.addr()).ok_or(INVALID_HANDLE)?;
                let handle = kernel.function_in(context)?;
                emulator().functions.get(handle).ok_or(INVALID_HANDLE)?
            }
        };
        ensure(function.module.context.handle == context.handle, INVALID_HANDLE)?;
        Ok(function)
    }
}

/// The attributes that a client can set, and what the compiler was told.
#[derive(Debug)]
pub(super) struct Attributes {
    dynamic_shared: AtomicI32,
    carveout: AtomicI32,
    registers: RegisterLimit,
    /// What counts where nothing was set: the attributes of the kernel that a function is of.
    base: Option<Arc<Attributes>>,
}

/// Marks what was not set.
const UNSET: i32 = i32::MIN;

impl Attributes {
    pub(super) fn new(kernel: &Kernel, registers: RegisterLimit) -> Self {
        let left = SHARED_DEFAULT.saturating_sub(kernel.static_shared());
        Self {
            dynamic_shared: AtomicI32::new(left as i32),
            carveout: AtomicI32::new(-1),
            registers,
            base: None,
        }
    }

    /// Those of a function, which are its kernel's until they are set for the function itself.
    pub(super) fn of_function(kernel: Arc<Self>) -> Self {
        Self {
            dynamic_shared: AtomicI32::new(UNSET),
            carveout: AtomicI32::new(UNSET),
            registers: kernel.registers,
            base: Some(kernel),
        }
    }

    /// The value of an attribute that can be set.
    fn value(&self, pick: fn(&Self) -> &AtomicI32) -> i32 {
        match (pick(self).load(Ordering::Relaxed), &self.base) {
            (UNSET, Some(base)) => base.value(pick),
            (value, _) => value,
        }
    }

    /// The most dynamic shared memory that a launch may ask for.
    pub(super) fn dynamic_shared(&self) -> u32 {
        self.value(|attributes| &attributes.dynamic_shared) as u32
    }

    pub(super) fn get(
        &self,
        program: &Program,
        kernel: &Kernel,
        attribute: CUfunction_attribute,
    ) -> Answer<i32> {
        use CUfunction_attribute as A;

        let (major, minor) = emulator().settings.compute_capability;
        Ok(match attribute {
            // `.reqntid` does not count here.
            A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK if kernel.required_threads().is_some() => {
                MAX_THREADS as i32
            }
            A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => max_threads(kernel) as i32,
            A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => kernel.static_shared() as i32,
            A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => {
                let constants = program.globals().iter();
                let constants = constants.filter(|global| global.space == GlobalSpace::Const);
                constants.map(|global| global.size).sum::<u64>() as i32
            }
            A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => {
                kernel.local_bytes() as i32 + self.registers.apply(kernel.registers()).1 as i32
            }
            A::CU_FUNC_ATTRIBUTE_NUM_REGS => self.registers.apply(kernel.registers()).0 as i32,
            A::CU_FUNC_ATTRIBUTE_PTX_VERSION => architecture(program),
            A::CU_FUNC_ATTRIBUTE_BINARY_VERSION => (major * 10 + minor) as i32,
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => self.dynamic_shared() as i32,
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                self.value(|attributes| &attributes.carveout)
            }
            A::CU_FUNC_ATTRIBUTE_MAX => return Err(INVALID_VALUE),
            known if known.name().is_some() => 0,
            _ => return Err(INVALID_VALUE),
        })
    }

    pub(super) fn set(&self, kernel: &Kernel, attribute: CUfunction_attribute, value: i32) -> Answer {
        match attribute {
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                let most = SHARED_OPT_IN.saturating_sub(kernel.static_shared());
                ensure((0..=most as i32).contains(&value), INVALID_VALUE)?;
                self.dynamic_shared.store(value, Ordering::Relaxed);
            }
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                ensure((-1..=100).contains(&value), INVALID_VALUE)?;
                self.carveout.store(value, Ordering::Relaxed);
            }
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }
}

/// The most threads that a block of this kernel may have.
pub(super) fn max_threads(kernel: &Kernel) -> u32 {
    kernel.max_threads().map_or(MAX_THREADS, |most| most.min(MAX_THREADS))
}

/// `sm_90a` as 90.
fn architecture(program: &Program) -> i32 {
    let digits = program.target().trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0)
}

/// Offset and size of a parameter.
pub(super) fn param_info(kernel: &Kernel, index: usize, offset: Out<usize>, size: Out<usize>) -> Answer {
    offset.check()?;
    let param = kernel.params().get(index).ok_or(INVALID_VALUE)?;
    size.set_if_wanted(param.size as usize);
    offset.set(param.offset as usize)
}

calls! {
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
