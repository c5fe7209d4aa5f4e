//! Number and order of the driver calls of each method.

use cuprum::context::{Context, ContextFlags, ContextStack, PrimaryContext};
use cuprum::launch::Mismatch;
use cuprum::module::{LoadOptions, ModuleError};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Buffer, Current, Driver, MemoryError, Module, Stream};

use crate::child::in_children;
use crate::program::{Outcome, by_step};
use crate::tracer::{Backing, Build, Session, calls_of, failing};
use crate::{program, source};

/// One that does nothing, of CUDA 9.0, and without primary contexts.
fn driver() -> Driver {
    Build { lacking: &[FnId::cuDevicePrimaryCtxRetain], ..Build::of(Backing::Nothing) }.driver()
}

fn in_fake(test: impl FnOnce(&mut Current<'_, '_>)) {
    let context = Context::create(driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    test(&mut stack.push(&context).unwrap());
}

/// Calls of each step of the program, in order, one line per step; `CUPRUM_CALLS=overwrite` writes
/// the file anew.
const RECORDED: &str = include_str!("../data/calls.txt");

#[test]
fn every_documented_method_makes_the_calls_that_it_names_in_this_order() {
    // Work of other threads spoils a capture of the program.
    let name = "every_documented_method_makes_the_calls_that_it_names_in_this_order";
    // The driver is called differently for work that is over than for work that is not.
    in_children(
        &format!("{}::{name}", module_path!()),
        &[&[("CUPRUM_EMULATOR_MODE", "eager")]],
        compare_calls,
    );
}

fn compare_calls() {
    let session = Session::watched();
    let library = Build::of(Backing::Emulator).library().unwrap();
    let steps = program::run(library, &session);
    let calls = by_step(&steps, &session.log());
    let attributed: usize = calls.iter().map(Vec::len).sum();
    assert_eq!(attributed, session.len(), "the program calls the driver between its steps");
    let calls = calls.iter().map(|calls| calls.iter().map(|call| call.function).collect::<Vec<_>>());
    let documented = source::documented();
    let mut listing = String::new();
    for (step, calls) in steps.iter().zip(calls) {
        assert!(matches!(step.outcome, Outcome::Done), "{step:?}");
        listing.push_str(step.name);
        listing.push_str(if calls.is_empty() { "" } else { ":" });
        calls.iter().for_each(|call| listing.push_str(&format!(" {call}")));
        listing.push('\n');
        if let Some(named) = documented.get(step.name) {
            assert!(calls.iter().all(|call| named.contains(call)), "{}: {calls:?}, not {named:?}", step.name);
        }
    }
    if std::env::var_os("CUPRUM_CALLS").is_some_and(|value| value == "overwrite") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/calls.txt"), &listing).unwrap();
    } else if cfg!(unix) {
        // Descriptors are exchanged on Unix alone.
        let differing = listing.lines().zip(RECORDED.lines()).find(|(called, recorded)| called != recorded);
        assert_eq!(differing, None, "the first step that calls other functions than recorded");
        assert_eq!(listing.lines().count(), RECORDED.lines().count());
    }
    if cfg!(unix) {
        assert_eq!(program::unused_methods(&steps), [""; 0], "documented, and not in tests/traced/program");
    }
    let violations = session.violations();
    assert!(violations.is_empty(), "{violations:?}");
    let alive = session.alive();
    assert!(alive.is_empty(), "made and not freed: {alive:?}");
}

#[test]
fn push_and_pop_are_one_call_each() {
    let context = Context::create(driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let (calls, cx) = calls_of(|| stack.push(&context).unwrap());
    assert_eq!(calls, [FnId::cuCtxPushCurrent_v2]);
    let (calls, ()) = calls_of(|| drop(cx));
    assert_eq!(calls, [FnId::cuCtxPopCurrent_v2]);
}

#[test]
fn a_drop_elsewhere_activates_and_restores() {
    let context = Context::create(driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let buffer = Buffer::<u8>::alloc(&stack.push(&context).unwrap(), 16).unwrap();
    let (calls, ()) = calls_of(|| drop(buffer));
    assert_eq!(calls, [FnId::cuCtxPushCurrent_v2, FnId::cuMemFree_v2, FnId::cuCtxPopCurrent_v2]);
}

#[test]
fn a_scope_waits_once_and_a_loan_to_a_non_blocking_stream_before_it() {
    in_fake(|cx| {
        let (blocking, beside) = (Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let mut buffer = Buffer::<u8>::alloc(cx, 4).unwrap();
        let host = [0; 4];
        let mut calls = |stream: &Stream<'_>| {
            calls_of(|| {
                cx.scope(stream, |scope| Ok(scope.copy(&scope.lend(buffer.as_mut_slice()).unwrap(), &host)?))
                    .unwrap();
            })
            .0
        };
        assert_eq!(calls(&blocking), [FnId::cuMemcpyHtoDAsync_v2, FnId::cuStreamSynchronize]);
        assert_eq!(
            calls(&beside),
            [FnId::cuStreamSynchronize, FnId::cuMemcpyHtoDAsync_v2, FnId::cuStreamSynchronize]
        );
    });
}

#[test]
fn a_scope_that_cannot_wait_for_its_stream_waits_for_the_context() {
    in_fake(|cx| {
        let stream = Stream::new(cx).unwrap();
        let (calls, result) = calls_of(|| {
            failing(FnId::cuStreamSynchronize, CUresult::CUDA_ERROR_INVALID_HANDLE, || {
                cx.scope_as::<cuprum::Error, _>(&stream, |_| Ok(()))
            })
        });
        assert_eq!(calls, [FnId::cuStreamSynchronize, FnId::cuCtxSynchronize]);
        assert_eq!(result.unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_HANDLE);
    });
}

#[test]
fn nothing_is_called_for_nothing() {
    in_fake(|cx| {
        let (calls, ()) = calls_of(|| {
            let mut empty = Buffer::<u32>::zeroed(cx, 0).unwrap();
            cx.copy(&mut empty, &[]).unwrap();
            assert_eq!(empty.to_vec(cx).unwrap(), []);
            drop(empty);
            drop(Stream::default_in(cx));
        });
        assert_eq!(calls, []);
    });
}

#[test]
fn a_missing_function_is_an_error_with_both_versions() {
    let device = driver().device(0).unwrap();
    let error = PrimaryContext::retain(device).unwrap_err();
    assert!(error.code() == cuprum::Error::UNRESOLVED);
    assert_eq!(error.call(), FnId::cuDevicePrimaryCtxRetain);
    let text = error.to_string();
    assert!(
        text.contains("7.0") && text.contains("9.0") && text.contains("cuDevicePrimaryCtxRetain"),
        "{text}"
    );
}

#[test]
fn an_old_driver_learns_parameters_from_ptx_and_says_so_where_it_cannot() {
    in_fake(|cx| {
        let ptx = ".version 7.0\n.entry k(.param .u32 n, .param .f64 x) { ret; }";
        let module = Module::load_ptx(cx, ptx).unwrap();
        let function = module.function("k").unwrap();
        function.bind::<(u32, f64)>().unwrap();
        assert_eq!(
            function.bind::<(u32,)>().unwrap_err().reason,
            Mismatch::Count { kernel: 2, signature: 1 }
        );
        let size = Mismatch::Size { index: 1, kernel: 8, signature: 4 };
        let error = function.bind::<(u32, f32)>().unwrap_err();
        assert_eq!((error.kernel.as_deref(), error.reason), (Some("k"), size));
        let missing = |module: &Module<'_>| {
            failing(FnId::cuModuleGetFunction, CUresult::CUDA_ERROR_NOT_FOUND, || {
                module.function("j").unwrap_err().to_string()
            })
        };
        assert!(missing(&module).ends_with("no function named `j`; it has `k`"), "{}", missing(&module));
        // SAFETY: this driver reads nothing of the image.
        let module = unsafe { Module::load_binary(cx, &[0; 64], &LoadOptions::default()) }.unwrap();
        let error = module.function("k").unwrap().bind::<(u32, f64)>().unwrap_err();
        assert_eq!(error.kernel, None, "the name is unknown");
        let Mismatch::Driver(error) = error.reason else { panic!("another error") };
        assert!(error.code() == cuprum::Error::UNRESOLVED);
        assert!(missing(&module).contains("its functions are unknown"), "{}", missing(&module));
    });
}

#[test]
fn a_failed_allocation_owns_nothing() {
    in_fake(|cx| {
        let (calls, result) = calls_of(|| {
            failing(FnId::cuMemAlloc_v2, CUresult::CUDA_ERROR_OUT_OF_MEMORY, || Buffer::<u8>::zeroed(cx, 16))
        });
        assert!(
            matches!(result, Err(MemoryError::Driver(error)) if error.code() == CUresult::CUDA_ERROR_OUT_OF_MEMORY)
        );
        assert_eq!(calls, [FnId::cuMemAlloc_v2]);
        let (calls, result) = calls_of(|| {
            failing(FnId::cuMemsetD8_v2, CUresult::CUDA_ERROR_INVALID_VALUE, || Buffer::<u8>::zeroed(cx, 16))
        });
        assert!(result.is_err());
        assert_eq!(
            calls,
            [FnId::cuMemAlloc_v2, FnId::cuMemsetD8_v2, FnId::cuMemFree_v2],
            "what was allocated is freed"
        );
    });
}

#[test]
fn an_object_that_failed_to_be_freed_is_not_freed_again() {
    in_fake(|cx| {
        let buffer = Buffer::<u8>::alloc(cx, 16).unwrap();
        let (calls, error) = calls_of(|| {
            failing(FnId::cuMemFree_v2, CUresult::CUDA_ERROR_INVALID_VALUE, || buffer.close()).unwrap_err()
        });
        assert_eq!((error.call(), calls), (FnId::cuMemFree_v2, vec![FnId::cuMemFree_v2]));
    });
}

#[test]
fn text_that_begins_like_machine_code_does_not_reach_the_driver() {
    in_fake(|cx| {
        let (calls, loaded) = calls_of(|| Module::load_ptx(cx, "\x7FELF\x02\x01\x01"));
        assert_eq!(loaded.unwrap_err(), ModuleError::NotPtx);
        assert_eq!(calls, []);
    });
}

#[test]
fn nothing_is_left_in_flight_on_a_default_stream_of_the_thread() {
    let driver = Backing::NothingPerThread.driver();
    let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let mut buffer = Buffer::<u32>::alloc(&cx, 4).unwrap();
    let fill = calls_of(|| cx.fill(&mut buffer, 1).unwrap()).0;
    assert_eq!(fill, [FnId::cuMemsetD32_v2, FnId::cuStreamSynchronize]);
    let copy = calls_of(|| cx.copy(&mut buffer, &[1; 4]).unwrap()).0;
    assert_eq!(copy, [FnId::cuMemcpyHtoD_v2, FnId::cuStreamSynchronize]);
    let stream = Stream::non_blocking(&cx).unwrap();
    let lend =
        calls_of(|| cx.scope(&stream, |scope| Ok(scope.lend(buffer.as_mut_slice()).map(drop))).unwrap());
    lend.1.unwrap();
    assert_eq!(lend.0, [FnId::cuStreamSynchronize], "the scope's own wait");
}
