//! Options for the driver's own compiler, and its messages.

use std::cell::RefCell;
use std::ffi::{c_char, c_uint, c_void};

use crate::common::{in_context, on_gpu};
use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::device::ComputeCapability;
use cuprum::module::{LoadOptions, ModuleError};
use cuprum::sys::{
    CUfunction_attribute, CUjit_cacheMode, CUjit_option, CUmodule, CUresult, FnId, Symbol, call,
};
use cuprum::{Driver, Library, Module};

const SAXPY: &str = include_str!("../../kernels/saxpy.ptx");

thread_local! {
    /// The options of the last load but for the logs, each with its value.
    static GIVEN: RefCell<Vec<(CUjit_option, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Message of the driver's compiler if it is asked for one.
const SAID: &[u8] = b"ptxas info: Used 12 registers\n\0";

/// The emulator's function, after the options were noted and something was said.
unsafe extern "system" fn load(
    module: *mut CUmodule,
    image: *const c_void,
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
) -> CUresult {
    let mut given = Vec::new();
    for i in 0..count as usize {
        // SAFETY: the lists have `count` entries.
        let option = unsafe { options.wrapping_add(i).read() };
        // SAFETY: as above.
        let value = unsafe { values.wrapping_add(i).read() };
        match option {
            CUjit_option::CU_JIT_INFO_LOG_BUFFER => {
                // SAFETY: a buffer of more bytes than this.
                unsafe {
                    std::ptr::copy_nonoverlapping(SAID.as_ptr().cast(), value.cast::<c_char>(), SAID.len())
                };
            }
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES
            | CUjit_option::CU_JIT_ERROR_LOG_BUFFER
            | CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {}
            option => given.push((option, value.addr())),
        }
    }
    GIVEN.set(given);
    // SAFETY: the caller's arguments, without options that would have the emulator write its own
    // logs.
    let (code, _) = unsafe {
        let none = std::ptr::null_mut();
        call!(cuprum_emulator::library().fns(), cuModuleLoadDataEx(module, image, 0, none, none.cast()))
    };
    code
}

/// The emulator with that function in place of its own.
fn driver() -> Driver {
    let resolve = |symbol: &Symbol| match symbol.base {
        "cuModuleLoadDataEx" => load as *const c_void,
        _ => cuprum_emulator::resolve(symbol),
    };
    // SAFETY: the emulator's functions, and one with the same ABI.
    let library = unsafe { Library::from_resolver("emulator that speaks", resolve) }.unwrap();
    assert!(library.has(FnId::cuModuleLoadDataEx));
    Driver::init(library).unwrap()
}

#[test]
fn options_reach_the_driver_and_its_words_come_back() {
    let context = Context::create(driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let load = |options: &LoadOptions| Module::load_ptx_with(&cx, SAXPY, options).unwrap();
    assert_eq!(load(&LoadOptions::default()).info_log(), "");
    assert_eq!(GIVEN.take(), []);
    assert_eq!(
        load(&LoadOptions { info_log: true, ..LoadOptions::default() }).info_log(),
        "ptxas info: Used 12 registers"
    );
    let all = LoadOptions {
        max_registers: Some(40),
        threads_per_block: Some(256),
        optimization_level: Some(2),
        target: Some(ComputeCapability { major: 9, minor: 0 }),
        line_info: true,
        debug_info: true,
        cache_mode: Some(CUjit_cacheMode::CU_JIT_CACHE_OPTION_CG),
        verbose: true,
        ..LoadOptions::default()
    };
    // SAFETY: a number, as the driver takes it.
    let all = unsafe { all.option(CUjit_option::CU_JIT_FAST_COMPILE, 1) };
    assert_eq!(load(&all).info_log(), "ptxas info: Used 12 registers");
    use CUjit_option as Jit;
    let expected = [
        (Jit::CU_JIT_MAX_REGISTERS, 40),
        (Jit::CU_JIT_THREADS_PER_BLOCK, 256),
        (Jit::CU_JIT_OPTIMIZATION_LEVEL, 2),
        (Jit::CU_JIT_TARGET, 90),
        (Jit::CU_JIT_GENERATE_LINE_INFO, 1),
        (Jit::CU_JIT_GENERATE_DEBUG_INFO, 1),
        (Jit::CU_JIT_CACHE_MODE, 1),
        (Jit::CU_JIT_LOG_VERBOSE, 1),
        (Jit::CU_JIT_FAST_COMPILE, 1),
    ];
    assert_eq!(GIVEN.take(), expected);
}

#[test]
fn a_limit_of_registers_holds() {
    in_context(|cx| {
        let ptx = include_str!("../../kernels/nbody.ptx");
        let registers = |options: &LoadOptions| {
            let module = Module::load_ptx_with(cx, ptx, options).unwrap();
            let function = module.function("nbody").unwrap();
            function.attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS).unwrap()
        };
        let (free, limited) = (
            registers(&LoadOptions::default()),
            registers(&LoadOptions { max_registers: Some(24), ..LoadOptions::default() }),
        );
        assert!(limited <= 24 && limited < free, "{limited} of {free}");
    });
}

#[test]
fn options_and_values_that_the_driver_does_not_know_are_refused() {
    in_context(|cx| {
        // SAFETY: no driver knows this option.
        let unknown = unsafe { LoadOptions::default().option(CUjit_option(9999), 1) };
        let refused = Module::load_ptx_with(cx, SAXPY, &unknown).unwrap_err();
        let ModuleError::Rejected { error, .. } = refused else { panic!("{refused:?}") };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn the_error_log_comes_with_options_too() {
    in_context(|cx| {
        let bad = SAXPY.replace("ret;", "frobnicate;");
        let refused =
            Module::load_ptx_with(cx, &bad, &LoadOptions { verbose: true, ..LoadOptions::default() })
                .unwrap_err();
        let ModuleError::Rejected { log, .. } = refused else { panic!("{refused:?}") };
        assert!(log.contains("frobnicate"), "{log}");
        if !on_gpu() {
            assert_eq!(
                Module::load_ptx_with(cx, SAXPY, &LoadOptions { info_log: true, ..LoadOptions::default() })
                    .unwrap()
                    .info_log(),
                ""
            );
        }
    });
}
