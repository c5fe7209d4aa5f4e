//! Shared start of every test of the safe layer: a driver, a current context, an empty stack at the
//! end.
//!
//! The device is the emulator unless `CUPRUM_DEVICE` names another: `gpu` requires a real one and
//! fails without it.

use std::time::{Duration, Instant};

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::sys::{CUcontext, CUresult, call};
use cuprum::{Current, Device, Driver, Module};

/// The driver under test, initialized.
pub fn driver() -> Driver {
    let library = match std::env::var_os("CUPRUM_DEVICE") {
        None => cuprum_emulator::library(),
        Some(_) => {
            let (library, choice) =
                cuprum_emulator::open_driver_or_emulator().expect("the device that CUPRUM_DEVICE names");
            eprintln!("{choice}");
            library
        }
    };
    Driver::init(library).expect("the driver initializes")
}

/// True if the tests run on a real GPU.
pub fn on_gpu() -> bool {
    std::env::var_os("CUPRUM_DEVICE").is_some_and(|device| device == "gpu")
}

pub fn device() -> Device {
    driver().device(0).expect("a device")
}

/// A context of its own, so that a fault in one test leaves the others alone.
///
/// A GPU has room for 101 contexts at a time, whatever memory is free (H200, driver 580), and the
/// tests that run at the same time, in this process and in its children, have contexts too: one
/// that finds no room waits until others have closed theirs.
pub fn context() -> Context {
    let start = Instant::now();
    loop {
        match Context::create(device(), ContextFlags::empty()) {
            Err(error) if on_gpu() && is_full(&error) && start.elapsed() < Duration::from_secs(60) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            created => return created.expect("a context"),
        }
    }
}

fn is_full(error: &cuprum::Error) -> bool {
    error.code() == CUresult::CUDA_ERROR_OUT_OF_MEMORY
}

/// Runs `test` in a fresh context that is current, and asserts that it leaves none current.
pub fn in_context(test: impl FnOnce(&mut Current<'_, '_>)) {
    let context = context();
    let mut stack = ContextStack::take().expect("the thread's stack");
    {
        let mut cx = stack.push(&context).expect("a push");
        test(&mut cx);
    }
    drop(stack);
    assert_eq!(raw_current(), CUcontext::null(), "the test left a context current");
}

/// The thread's current context, as the driver says.
pub fn raw_current() -> CUcontext {
    let mut raw = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    let (code, _) = unsafe { call!(driver().library().fns(), cuCtxGetCurrent(&raw mut raw)) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    raw
}

/// A module of `kernels/`.
#[macro_export]
macro_rules! kernels {
    ($cx:expr, $name:literal) => {
        $crate::common::load(
            $cx,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $name, ".ptx")),
        )
    };
}
pub use kernels;

pub fn load<'ctx>(cx: &Current<'_, 'ctx>, ptx: &str) -> Module<'ctx> {
    Module::load_ptx(cx, ptx).expect("the module loads")
}
