//! Libraries: programs without a context. A context loads its own module of a library on first use.

use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cuprum_sys::*;

use crate::ordered::Ordered;
use crate::program::{Kernel as Code, Program};
use crate::report::LeakKind;
use crate::settings::ApiCheck;

use crate::driver::answer::{Answer, INVALID_CONTEXT, INVALID_HANDLE, NOT_FOUND};
use crate::driver::call::{Kind, Leaked, Out, Table, demand, put_handle};
use crate::driver::context::{Context, current, other_context};
use crate::driver::handle::Handle;

use super::attributes::Attributes;
use super::compile::{Compiled, try_compile};
use super::function::{FUNCTIONS, Function, function_of, unload};
use super::image::Image;
use super::jit::{Options, RegisterLimit};
use super::module::{Module, ModuleOf};
use super::named::Named;
use super::origin::Origin;
use super::refused::Refused;

pub(super) static LIBRARIES: Table<Library> =
    Table::new(Kind::Library).leak(LeakKind::Library, |_, _| Leaked::Yes);

pub(crate) static KERNELS: Table<Kernel> = Table::new(Kind::Kernel);

#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) handle: usize,
    /// Empty if the image was refused.
    pub(crate) program: Arc<Named>,
    refused: Option<CUresult>,
    pub(super) origin: Arc<Origin>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    modules: Ordered<Weak<Module>>,
    /// The kernel handles issued so far, by index.
    kernels: Ordered<usize>,
}

/// A kernel without a context.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) library: Arc<Library>,
    index: usize,
    pub(crate) code: Arc<Code>,
    pub(crate) name: CString,
    pub(super) attributes: Arc<Attributes>,
}

impl Library {
    /// Creates a library from any image, as hardware does. A faulty image is described in the log,
    /// and functions that look up its contents return the error.
    pub(super) fn create(out: Out<CUlibrary>, image: Image, options: &Options) -> Answer {
        out.check()?;
        let (Compiled { program, registers }, refused) = match try_compile(image, options, &Refused::of)? {
            Ok(compiled) => (compiled, None),
            Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY),
            Err(code) => {
                let program = Arc::new(Named::new(Program::empty()));
                (Compiled { program, registers: RegisterLimit::default() }, Some(code))
            }
        };
        let (handle, _) = LIBRARIES.insert_with(|handle| {
            let attributes = |code: &Arc<Code>| Arc::new(Attributes::new(code, registers));
            let origin = Origin {
                library: handle,
                attributes: program.kernels().iter().map(attributes).collect(),
                managed: Mutex::default(),
            };
            Self { handle, program, refused, origin: Arc::new(origin), state: Mutex::default() }
        });
        put_handle(out, handle)
    }

    pub(crate) fn find(handle: CUlibrary) -> Answer<Arc<Self>> {
        LIBRARIES.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    /// Fails with the error of a refused image.
    pub(super) fn check(&self) -> Answer {
        self.refused.map_or(Ok(()), Err)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the library's module in a context. The first call loads it.
    pub(super) fn module_in(&self, context: &Arc<Context>) -> Answer<Arc<Module>> {
        self.check()?;
        let mut state = self.state();
        let known = state.modules.get(context.handle as u64).and_then(Weak::upgrade);
        // The module of an earlier instance of a primary context does not count.
        if let Some(module) = known.filter(|module| Arc::ptr_eq(&module.context, context)) {
            return Ok(module);
        }
        let module = Module::load(context, &self.program, ModuleOf::Library(Arc::clone(&self.origin)))?;
        state.modules.insert(context.handle as u64, Arc::downgrade(&module));
        Ok(module)
    }

    pub(crate) fn kernel(self: &Arc<Self>, index: usize) -> Answer<usize> {
        let code = self.program.kernels().get(index).ok_or(NOT_FOUND)?;
        let attributes = self.origin.attributes.get(index).ok_or(NOT_FOUND)?;
        let mut state = self.state();
        Ok(*state.kernels.get_or_insert_with(index as u64, || {
            KERNELS.insert(Kernel {
                library: Arc::clone(self),
                index,
                name: CString::new(code.name()).unwrap_or_default(),
                attributes: Arc::clone(attributes),
                code: Arc::clone(code),
            })
        }))
    }

    pub(super) fn unload(&self) {
        LIBRARIES.remove(self.handle);
        let State { modules, kernels } = std::mem::take(&mut *self.state());
        for (_, handle) in kernels.iter() {
            KERNELS.remove(*handle);
        }
        for module in modules.iter().filter_map(|(_, module)| module.upgrade()) {
            unload(&module);
        }
        self.origin.free();
    }
}

impl Kernel {
    pub(crate) fn find(handle: CUkernel) -> Answer<Arc<Self>> {
        KERNELS.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    pub(crate) fn function_in(&self, context: &Arc<Context>) -> Answer<usize> {
        function_of(&self.library.module_in(context)?, self.index)
    }
}

impl Function {
    /// Finds a function by its handle. For a kernel without a context, returns its function in the
    /// current context. Fails if the context has ended or has a sticky error.
    pub(crate) fn find(handle: CUfunction) -> Answer<Arc<Self>> {
        if let Some(function) = FUNCTIONS.get(handle.addr()) {
            function.module.context.check()?;
            return Ok(function);
        }
        let kernel = KERNELS.get(handle.addr()).ok_or(INVALID_HANDLE)?;
        let context = current().ok_or(INVALID_CONTEXT)?;
        context.check()?;
        let function = kernel.function_in(&context)?;
        FUNCTIONS.get(function).ok_or(INVALID_HANDLE)
    }

    /// Finds a function by its handle. Fails unless it belongs to this context.
    pub(crate) fn find_in(handle: CUfunction, context: &Arc<Context>) -> Answer<Arc<Self>> {
        let function = match FUNCTIONS.get(handle.addr()) {
            Some(function) => function,
            None => {
                let kernel = KERNELS.get(handle.addr()).ok_or(INVALID_HANDLE)?;
                let handle = kernel.function_in(context)?;
                FUNCTIONS.get(handle).ok_or(INVALID_HANDLE)?
            }
        };
        let home = function.module.context.handle;
        demand(home == context.handle, INVALID_HANDLE, ApiCheck::Certain, || {
            let name = function.kernel.name();
            other_context(&format!("kernel `{name}`"), home, "the stream", context.handle)
        })?;
        Ok(function)
    }

    /// Returns the handle of its kernel without a context, if there is one.
    pub(crate) fn kernel_handle(&self) -> Option<usize> {
        let ModuleOf::Library(origin) = &self.module.of else { return None };
        let index = self.module.program.kernel(self.kernel.name())?;
        LIBRARIES.get(origin.library)?.kernel(index).ok()
    }
}
