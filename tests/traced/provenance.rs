//! Counted contexts and code, through every way by which a share is taken, over a driver that does
//! nothing.
//!
//! For Miri, which detects frees through the wrong pointer and uses after a free: `cargo +nightly
//! miri test --test traced provenance`. Without it these are ordinary tests.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::ForeignBuffer;
use cuprum::stream::ForeignStream;
use cuprum::sys::{CUstream, FnId};
use cuprum::{Buffer, ContextRef, Kernel, Module, Shared, Stream};

use crate::tracer::{Backing, Session};

const PTX: &str = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u32 n) { ret; }";

/// Runs `test` with a shared context, which must be destroyed once and last.
fn ends_once(test: impl FnOnce(Shared<ContextRef>)) {
    let session = Session::default();
    session.enter(|| {
        let device = Backing::Nothing.driver().device(0).unwrap();
        test(Context::create(device, ContextFlags::empty()).unwrap().share());
    });
    let log = session.log();
    let destroyed = log.iter().filter(|call| call.function == FnId::cuCtxDestroy_v2).count();
    assert_eq!((destroyed, log.last().map(|call| call.function)), (1, Some(FnId::cuCtxDestroy_v2)));
}

#[test]
fn objects_made_through_a_stack_may_be_the_last_share() {
    ends_once(|context| {
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&context).unwrap();
        let (buffer, stream) = (Buffer::<u8>::alloc(&cx, 16).unwrap(), Stream::new(&cx).unwrap());
        drop(cx);
        drop(context);
        drop(buffer);
        drop(stream);
    });
}

#[test]
fn objects_made_through_a_push_on_a_token_may_be_the_last_share() {
    ends_once(|context| {
        let other = context.clone();
        let mut stack = ContextStack::take().unwrap();
        let mut below = stack.push(&other).unwrap();
        let cx = below.push(&context).unwrap();
        let buffer = Buffer::<u8>::alloc(&cx, 16).unwrap();
        drop(cx);
        drop(below);
        drop((context, other));
        drop(buffer);
    });
}

#[test]
fn objects_made_inside_of_enter_may_be_the_last_share() {
    ends_once(|context| {
        let buffer = context.enter(|cx| Ok(Buffer::<u8>::alloc(cx, 16).unwrap())).unwrap();
        drop(context);
        drop(buffer);
    });
}

#[test]
fn a_kernel_may_be_the_last_share_of_its_code_and_of_the_context() {
    ends_once(|context| {
        let module = context.enter(|cx| Ok(Module::load_ptx(cx, PTX).unwrap())).unwrap().share();
        let kernel: Kernel<'static, (u32,)> = module.kernel("k").unwrap();
        drop(module);
        drop(context);
        // This driver has no function for the count, so it comes from the PTX, which the module
        // holds.
        assert_eq!(kernel.function().parameter_count(), Ok(1));
        assert!(kernel.function().bind::<(u64,)>().is_err());
        assert!(kernel.function().bind::<(u32,)>().is_ok());
    });
}

#[test]
fn the_last_share_may_go_on_any_thread() {
    let device = Backing::Nothing.driver().device(0).unwrap();
    let context = Context::create(device, ContextFlags::empty()).unwrap().share();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let buffer = context.enter(|cx| Ok(Buffer::<u8>::alloc(cx, 16).unwrap())).unwrap();
            let context = context.clone();
            scope.spawn(move || {
                drop(context);
                drop(buffer);
            });
        }
        drop(context);
    });
}

#[test]
fn a_kept_context_may_be_the_last_share() {
    ends_once(|context| {
        let kept = context.enter(|cx| Ok(Stream::default_in(cx))).unwrap();
        let other = kept.enter(|cx| Ok(Stream::default_in(cx))).unwrap();
        drop((context, kept));
        let buffer = other.enter(|cx| Ok(Buffer::<u8>::alloc(cx, 16).unwrap())).unwrap();
        drop(other);
        drop(buffer);
    });
}

#[test]
fn foreign_objects_may_be_the_last_share() {
    ends_once(|context| {
        // SAFETY: the default stream lives as long as its context.
        let stream = context.enter_as(|cx| unsafe { ForeignStream::from_raw(cx, CUstream::null()) });
        let stream = stream.unwrap();
        let owner = vec![1u8; 16];
        let release = move |_: &cuprum::ContextRef, _| {
            drop(owner);
            Ok(())
        };
        // SAFETY: no elements.
        let memory = context.enter_as(|cx| unsafe { ForeignBuffer::<u8>::with_release(cx, 0, 0, release) });
        let memory = memory.unwrap();
        drop((context, stream));
        drop(memory);
    });
}
