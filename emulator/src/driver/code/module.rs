//! Modules: programs with their variables placed in a context's memory.

use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::*;

use crate::memory::Region;
use crate::ordered::Ordered;
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, NOT_FOUND};
use crate::driver::call::{Kind, Leaked, Table};
use crate::driver::context::Context;
use crate::driver::handle::Handle;
use crate::driver::state::{memory, scheduler};

use super::jit::RegisterLimit;
use super::named::Named;
use super::origin::Origin;
use super::placement::{initialize, place};

/// The live modules. The modules of a library are unloaded with it.
pub(super) static MODULES: Table<Module> = Table::new(Kind::Module)
    .owned_by(|module: &Module| module.context.handle)
    .leak(LeakKind::Module, |_, call| {
        let loads_module = |call: FnId| call.symbol().base.starts_with("cuModuleLoad");
        if call.is_some_and(loads_module) { Leaked::Yes } else { Leaked::No }
    });

/// A program loaded into a context.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) handle: usize,
    pub(crate) context: Arc<Context>,
    pub(crate) program: Arc<Named>,
    /// Address of each global variable of the program; 0 if it has no size.
    pub(super) globals: Vec<u64>,
    /// The function handles issued so far, by index of the kernel.
    pub(crate) functions: Mutex<Ordered<usize>>,
    pub(super) of: ModuleOf,
}

#[derive(Debug)]
pub(super) enum ModuleOf {
    Client(RegisterLimit),
    /// A library, which shares some of its state with the module.
    Library(Arc<Origin>),
}

impl Module {
    /// Places a program's variables in the context and creates a handle for it.
    pub(super) fn load(context: &Arc<Context>, program: &Arc<Named>, of: ModuleOf) -> Answer<Arc<Self>> {
        let shared = match &of {
            ModuleOf::Client(_) => Ordered::new(),
            ModuleOf::Library(origin) => origin.managed(program)?,
        };
        let owner = (context.handle as u64, context.device as u32);
        let regions = place(owner, program.globals(), |index, _| !shared.contains(index as u64))?;
        let placed = |index: usize, region: &Option<Region>| {
            let known = || shared.get(index as u64).copied().unwrap_or(0);
            region.as_ref().map_or_else(known, |region| region.base)
        };
        let addresses: Vec<u64> =
            regions.iter().enumerate().map(|(index, region)| placed(index, region)).collect();
        for (global, region) in program.globals().iter().zip(&regions) {
            if let Some(region) = region {
                initialize(global, region, &addresses);
            }
        }
        let (_, module) = MODULES.insert_with(|handle| Self {
            handle,
            context: Arc::clone(context),
            program: Arc::clone(program),
            globals: addresses,
            functions: Mutex::default(),
            of,
        });
        Ok(module)
    }

    /// Finds a module by its handle. Fails if its context has ended or has a sticky error.
    pub(crate) fn find(handle: CUmodule) -> Answer<Arc<Self>> {
        let module = MODULES.get(handle.addr()).ok_or(INVALID_HANDLE)?;
        module.context.check()?;
        Ok(module)
    }

    /// Returns the address and size of a variable.
    pub(crate) fn global(&self, name: &str) -> Answer<(u64, u64)> {
        let index = self.program.global(name).ok_or(NOT_FOUND)?;
        let global = self.program.globals().get(index).ok_or(NOT_FOUND)?;
        Ok((self.globals.get(index).copied().unwrap_or(0), global.size))
    }

    /// Removes the module with its variables and functions. Returns the handles of the functions.
    pub(super) fn unload(&self) -> Vec<usize> {
        scheduler().wait_to_free(self.context.handle);
        MODULES.remove(self.handle);
        let functions = std::mem::take(&mut *self.functions.lock().unwrap_or_else(PoisonError::into_inner));
        let of_library = matches!(self.of, ModuleOf::Library(_));
        for (global, &address) in self.program.globals().iter().zip(&self.globals) {
            if address != 0 && !(of_library && global.managed) {
                // The context's end may have freed it already.
                let _ = memory().free(address);
            }
        }
        functions.iter().map(|(_, handle)| *handle).collect()
    }
}
