//! Linking, and code that belongs to no context.

use cuprum::module::{CodeLibrary, LinkInput, Linker, LoadOptions, ModuleError};
use cuprum::sys::{CUfunction_attribute, CUresult};
use cuprum::{Current, Driver, Error, Shared};

use super::Steps;
use super::code::PTX;

/// A function that `put` does not need.
const OTHER: &str = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .func other() { ret; }\n";

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    links(steps, cx);
    let driver = cx.context().driver();
    let text = PTX.trim_end_matches('\0');
    let Some(library) = steps.attempt("CodeLibrary::load_ptx", || CodeLibrary::load_ptx(driver, text)) else {
        return;
    };
    kernels(steps, cx, &library);
    let table = steps.attempt("CodeLibrary::global", || library.global::<u32>(cx, "table"));
    if let Some(table) = table {
        let mut host = [0; 4];
        steps.attempt("Current::copy", || cx.copy(&mut host, &table));
    }
    let common = steps.attempt("CodeLibrary::managed", || library.managed::<u32>(cx, "common"));
    if let Some(mut common) = common {
        steps.attempt("Current::copy", || cx.copy(&mut common, &[5]));
    }
    // No device has functions for both sides.
    steps.may_refuse("CodeLibrary::unified_function", CUresult::CUDA_ERROR_INVALID_VALUE, || {
        library.unified_function("put").map_err(of_driver)
    });
    let module = steps.attempt("CodeLibrary::module", || library.module(cx));
    steps.done("Module::drop", || drop(module));
    let shared = library.share();
    let module = steps.attempt("Shared::module", || Shared::<CodeLibrary>::module(&shared, cx));
    steps.done("Shared<CodeLibrary>::drop", || drop(shared));
    if let Some(module) = module {
        steps.attempt("Module::function", || module.function("put"));
        steps.done("Module::drop, the last share of its library", || drop(module));
    }
    loads(steps, driver, text);
}

/// The driver's error; no other kind occurs here.
fn of_driver(error: ModuleError) -> Error {
    match error {
        ModuleError::Driver(error) => error,
        other => panic!("{other}"),
    }
}

fn kernels(steps: &Steps, cx: &Current<'_, '_>, library: &CodeLibrary) {
    steps.attempt("CodeLibrary::kernels", || library.kernels());
    let Some(kernel) = steps.attempt("CodeLibrary::kernel", || library.kernel("put")) else { return };
    let device = cx.context().device();
    let shared = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    steps.attempt("LibraryKernel::name", || kernel.name());
    steps.attempt("LibraryKernel::attribute", || kernel.attribute(device, shared));
    steps.attempt("LibraryKernel::set_attribute", || kernel.set_attribute(device, shared, 1024));
    if let Some(function) = steps.attempt("LibraryKernel::function", || kernel.function(cx)) {
        steps.attempt("Function::is_loaded", || function.is_loaded());
        steps.attempt("Function::load", || function.load());
    }
}

/// Other ways to load, and the end of each.
fn loads(steps: &Steps, driver: Driver, text: &str) {
    let options = LoadOptions { max_registers: Some(32), verbose: true, ..LoadOptions::default() };
    let with = || CodeLibrary::load_ptx_with(driver, text, &options);
    if let Some(library) = steps.attempt("CodeLibrary::load_ptx_with", with) {
        steps.attempt("CodeLibrary::close", || library.close());
    }
    // SAFETY: the emulator takes text that ends with a NUL where it takes an image.
    let binary = steps.attempt("CodeLibrary::load_binary", || unsafe {
        CodeLibrary::load_binary(driver, PTX.as_bytes(), &options)
    });
    steps.done("CodeLibrary::drop", || drop(binary));
}

fn links(steps: &Steps, cx: &Current<'_, '_>) {
    let options = LoadOptions { verbose: true, ..LoadOptions::default() };
    let Some(mut linker) = steps.attempt("Linker::new", || Linker::new(cx, &options)) else { return };
    steps.attempt("Linker::add_ptx", || linker.add_ptx("put", PTX));
    // SAFETY: PTX with a NUL at its end.
    steps.attempt("Linker::add", || unsafe {
        linker.add(LinkInput::CU_JIT_INPUT_PTX, "other", (OTHER.to_owned() + "\0").as_bytes())
    });
    if let Some(linked) = steps.attempt("Linker::complete", || linker.complete()) {
        let module = steps.attempt("Linked::load", || linked.load(cx));
        steps.attempt("Linked::close", || linked.close());
        steps.done("Module::drop", || drop(module));
    }
    let Some(linker) = steps.attempt("Linker::new", || Linker::new(cx, &options)) else { return };
    steps.attempt("Linker::close", || linker.close());
    let linker = steps.attempt("Linker::new", || Linker::new(cx, &options));
    steps.done("Linker::drop", || drop(linker));
}
