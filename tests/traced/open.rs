//! Interfaces for other code: its streams, events and memory, and the parts that its wrappers of
//! raw calls use.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::ForeignBuffer;
use cuprum::stream::{Event, EventFlags, ForeignEvent, ForeignStream, StreamKind};
use cuprum::sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUresult, CUstream, FnId, Version, call};
use cuprum::{Buffer, Current, Driver, Error, In, InOut, LaunchConfig, MemoryError, Module, Stream};

use crate::tracer::{Backing, Build, calls_of, failing};

fn context_of(backing: Backing) -> Context {
    Context::create(backing.driver().device(0).unwrap(), ContextFlags::empty()).unwrap()
}

fn context() -> Context {
    context_of(Backing::Emulator)
}

fn in_context(test: impl FnOnce(&mut Current<'_, '_>)) {
    context()
        .enter(|cx| {
            test(cx);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_stream_that_is_taken_over_is_destroyed_once_and_a_foreign_one_never() {
    in_context(|cx| {
        for (made, kind) in [
            (Stream::new(cx).unwrap(), StreamKind::Blocking),
            (Stream::non_blocking(cx).unwrap(), StreamKind::NonBlocking),
        ] {
            let raw = made.into_raw();
            // SAFETY: live until the owner below destroys it.
            let foreign = unsafe { ForeignStream::from_raw(cx, raw) }.unwrap();
            assert_eq!((foreign.as_raw(), foreign.kind()), (raw, kind), "the driver knows its kind");
            foreign.synchronize(cx).unwrap();
            assert_eq!(calls_of(|| drop(foreign)).0, []);
            // SAFETY: live, and nothing else destroys it.
            let owned = unsafe { Stream::from_raw(cx, raw) }.unwrap();
            assert_eq!(owned.kind(), kind);
            assert_eq!(calls_of(|| drop(owned)).0, [FnId::cuStreamDestroy_v2]);
        }
    });
}

/// A loan to a foreign stream that is not ordered with the default stream is waited for, as with
/// our own.
#[test]
fn a_foreign_non_blocking_stream_is_known_as_one() {
    in_context(|cx| {
        let raw = Stream::non_blocking(cx).unwrap().into_raw();
        // SAFETY: live, and destroyed by this value alone.
        let stream = unsafe { Stream::from_raw(cx, raw) }.unwrap();
        let mut buffer = Buffer::<u8>::zeroed(cx, 4).unwrap();
        let (calls, lent) =
            calls_of(|| cx.scope_as(&stream, |scope| scope.lend(buffer.as_mut_slice()).map(drop)));
        lent.unwrap();
        assert_eq!(calls, [FnId::cuStreamSynchronize; 2], "for the loan, and at the end of the scope");
    });
}

#[test]
fn default_streams_of_other_code_are_the_legacy_one_or_refused() {
    for (backing, legacy) in
        [(Backing::Emulator, CUstream::null()), (Backing::EmulatorPerThread, CU_STREAM_LEGACY)]
    {
        context_of(backing)
            .enter(|cx| {
                for raw in [CUstream::null(), CU_STREAM_LEGACY] {
                    // SAFETY: default streams live as long as their context.
                    let (calls, stream) = calls_of(|| unsafe { ForeignStream::from_raw(cx, raw) }.unwrap());
                    assert_eq!(
                        (stream.as_raw(), stream.kind(), calls),
                        (legacy, StreamKind::Blocking, vec![])
                    );
                    // SAFETY: as above.
                    let owned = unsafe { Stream::from_raw(cx, raw) }.unwrap();
                    assert_eq!(calls_of(|| drop(owned)).0, []);
                }
                // SAFETY: as above; it is refused.
                let error = unsafe { ForeignStream::from_raw(cx, CU_STREAM_PER_THREAD) }.unwrap_err();
                assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_HANDLE);
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn a_stream_that_cannot_be_asked_stays_the_other_codes() {
    in_context(|cx| {
        let raw = Stream::new(cx).unwrap().into_raw();
        let (calls, refused) = calls_of(|| {
            failing(FnId::cuStreamGetFlags, CUresult::CUDA_ERROR_INVALID_VALUE, || {
                // SAFETY: live, and destroyed below.
                unsafe { Stream::from_raw(cx, raw) }
            })
        });
        assert_eq!(refused.unwrap_err().call(), FnId::cuStreamGetFlags);
        assert_eq!(calls, [FnId::cuStreamGetFlags], "nothing was destroyed");
        // SAFETY: live, and nothing else destroys it.
        unsafe { Stream::from_raw(cx, raw) }.unwrap().close().unwrap();
    });
}

#[test]
fn an_event_that_is_taken_over_is_destroyed_once_and_a_foreign_one_never() {
    in_context(|cx| {
        let raw = Event::new(cx, EventFlags::empty()).unwrap().into_raw();
        // SAFETY: live until the owner below destroys it.
        let foreign = unsafe { ForeignEvent::from_raw(cx, raw) };
        foreign.record(cx, &Stream::default_in(cx)).unwrap();
        foreign.synchronize().unwrap();
        assert_eq!(calls_of(|| drop(foreign)).0, []);
        // SAFETY: live, and nothing else destroys it.
        let owned = unsafe { Event::from_raw(cx, raw) };
        assert_eq!(calls_of(|| drop(owned)).0, [FnId::cuEventDestroy_v2]);
    });
}

/// A foreign object has its share of a context like everything else.
#[test]
fn foreign_handles_keep_a_shared_context() {
    let shared = context().share();
    let (stream, event, buffer, kept) = shared
        .enter(|cx| {
            // SAFETY: the default stream lives as long as the context.
            let stream = unsafe { ForeignStream::from_raw(cx, CUstream::null()) }.unwrap();
            let event = Event::new(cx, EventFlags::empty()).unwrap().into_raw();
            // SAFETY: the event lives as long as the context.
            let event = unsafe { ForeignEvent::from_raw(cx, event) };
            // SAFETY: no elements.
            let buffer = unsafe { ForeignBuffer::<u8>::from_raw(cx, 0, 0) }.unwrap();
            Ok((stream, event, buffer, Stream::default_in(cx)))
        })
        .unwrap();
    drop(shared);
    let last = |ends: &[FnId]| ends.contains(&FnId::cuCtxDestroy_v2);
    assert!(!last(&calls_of(|| drop(stream)).0));
    assert!(!last(&calls_of(|| drop(event)).0));
    assert!(!last(&calls_of(|| drop(buffer)).0));
    assert_eq!(
        kept.enter(|cx| Ok(Buffer::from_slice(cx, &[1u8]).unwrap().to_vec(cx).unwrap())).unwrap(),
        [1]
    );
    assert!(last(&calls_of(|| drop(kept)).0), "the last of them ends the context");
}

/// Memory of another allocator, which counts the blocks returned.
fn foreign<'ctx>(
    cx: &Current<'_, 'ctx>,
    host: &[u32],
    released: &Arc<AtomicU32>,
) -> ForeignBuffer<'ctx, u32> {
    let (memory, released) = (Buffer::from_slice(cx, host).unwrap().into_raw(), Arc::clone(released));
    let release = move |context: &cuprum::ContextRef, address| {
        released.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the memory is not used again.
        context.check(unsafe { call!(context.driver().library().fns(), cuMemFree_v2(address)) })
    };
    // SAFETY: the elements are this value's until it frees them.
    unsafe { ForeignBuffer::with_release(cx, memory, host.len(), release) }.unwrap()
}

#[test]
fn foreign_memory_is_used_like_any_and_given_back_once() {
    let context = context();
    let released = Arc::new(AtomicU32::new(0));
    let left = context
        .enter(|cx| {
            let module = Module::load_ptx(cx, include_str!("../../kernels/saxpy.ptx")).unwrap();
            let saxpy = module.function("saxpy").unwrap().bind::<(u32, u32, In<u32>, InOut<u32>)>().unwrap();
            // Zero times something, added to bits that are zeros as floats, too.
            let (x, mut y) = (foreign(cx, &[0; 4], &released), foreign(cx, &[0; 4], &released));
            let stream = Stream::default_in(cx);
            // SAFETY: saxpy touches four elements of each, and the copies come after it on the same
            // stream.
            unsafe { saxpy.launch(cx, &stream, LaunchConfig::new(1, 4), (4u32, 0u32, &x, &mut y)) }.unwrap();
            cx.fill(&mut y, 7).unwrap();
            let mut host = [0; 4];
            cx.scope(&stream, |scope| Ok(scope.read(&mut host, &scope.lend(y.as_mut_slice())?)?)).unwrap();
            assert_eq!((host, x.as_slice().to_vec(cx).unwrap()), ([7; 4], vec![0; 4]));
            assert_eq!(released.load(Ordering::SeqCst), 0);
            x.close().unwrap();
            assert_eq!(released.load(Ordering::SeqCst), 1);
            Ok(y)
        })
        .unwrap();
    // Nothing is current here, nor on the other thread.
    thread::scope(|scope| scope.spawn(|| drop(left)).join().expect("no panic"));
    assert_eq!(released.load(Ordering::SeqCst), 2);
}

#[test]
fn foreign_memory_without_a_function_stays() {
    in_context(|cx| {
        let buffer = Buffer::from_slice(cx, &[5u32, 6]).unwrap();
        // SAFETY: the buffer outlives it, and is not used meanwhile.
        let borrowed = unsafe { ForeignBuffer::<u32>::from_raw(cx, buffer.as_raw(), 2) }.unwrap();
        assert_eq!(borrowed.as_slice().to_vec(cx).unwrap(), [5, 6]);
        assert_eq!(calls_of(|| drop(borrowed)).0, []);
        assert_eq!(buffer.to_vec(cx).unwrap(), [5, 6]);
        // SAFETY: refused.
        let refused = unsafe { ForeignBuffer::<u32>::from_raw(cx, 0, usize::MAX) }.unwrap_err();
        assert!(matches!(refused, MemoryError::TooLarge { .. }));
    });
}

#[test]
fn with_current_pushes_where_it_must_and_puts_back() {
    let (ours, theirs) = (context(), context());
    let raw = ours.as_raw();
    let current = || {
        let mut found = cuprum::sys::CUcontext::null();
        // SAFETY: the out-parameter outlives the call.
        ours.check(unsafe { call!(ours.driver().library().fns(), cuCtxGetCurrent(&raw mut found)) })?;
        Ok(found)
    };
    let push_and_pop = [FnId::cuCtxPushCurrent_v2, FnId::cuCtxGetCurrent, FnId::cuCtxPopCurrent_v2];
    let (calls, found) = calls_of(|| ours.with_current(current).unwrap());
    assert_eq!((calls[0], &calls[1..], found), (FnId::cuCtxGetCurrent, &push_and_pop[..], raw));
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&ours).unwrap();
    let (calls, found) = calls_of(|| ours.with_current(current).unwrap());
    assert_eq!((calls.as_slice(), found), (&[FnId::cuCtxGetCurrent][..], raw), "it is current already");
    let upper = cx.push(&theirs).unwrap();
    let (calls, found) = calls_of(|| ours.with_current(current).unwrap());
    assert_eq!((calls.as_slice(), found), (&push_and_pop[..], raw));
    upper.memory_info().unwrap();
    let error = failing(FnId::cuCtxPushCurrent_v2, CUresult::CUDA_ERROR_INVALID_CONTEXT, || {
        ours.with_current(|| -> Result<(), Error> { unreachable!("it was not pushed") }).unwrap_err()
    });
    assert_eq!(error.call(), FnId::cuCtxPushCurrent_v2);
}

/// The driver is asked, since other code may have changed the context; it is not asked about a
/// context that was pushed here above.
#[test]
fn a_context_that_is_current_is_entered_without_a_push() {
    let (ours, theirs) = (context().share(), context());
    let entered = || {
        let (calls, made) = calls_of(|| ours.enter_as(|cx| Buffer::<u8>::alloc(cx, 16)));
        drop(made.unwrap());
        calls
    };
    let (ask, made) = (FnId::cuCtxGetCurrent, FnId::cuMemAlloc_v2);
    let (push, pop) = (FnId::cuCtxPushCurrent_v2, FnId::cuCtxPopCurrent_v2);
    assert_eq!(entered(), [ask, push, made, pop], "nothing is current");
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&ours).unwrap();
    assert_eq!(entered(), [ask, made]);
    assert_eq!(ours.enter(|_| Ok(entered())).unwrap(), [ask, made], "inside of another");
    let upper = cx.push(&theirs).unwrap();
    assert_eq!(entered(), [push, made, pop], "another one is known to be current");
    drop(upper);
    cx.memory_info().unwrap();
    drop(cx);
    // Pushed by other code.
    let fns = ours.driver().library().fns();
    // SAFETY: the context outlives it on the stack.
    assert_eq!(unsafe { call!(fns, cuCtxPushCurrent_v2(ours.as_raw())) }.0, CUresult::CUDA_SUCCESS);
    assert_eq!(entered(), [ask, made]);
    let mut popped = cuprum::sys::CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    assert_eq!(unsafe { call!(fns, cuCtxPopCurrent_v2(&raw mut popped)) }.0, CUresult::CUDA_SUCCESS);
    assert_eq!(popped, ours.as_raw(), "it is still there, once");
}

/// Whatever is left inside is popped at the end, and the tokens outside are as before.
#[test]
fn a_context_entered_without_a_push_is_left_as_it_was() {
    let (ours, theirs) = (context().share(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&ours).unwrap();
    let (calls, ()) = calls_of(|| {
        ours.enter(|inner| {
            std::mem::forget(inner.push(&theirs)?);
            Ok(())
        })
        .unwrap();
    });
    assert_eq!(calls.iter().filter(|&&call| call == FnId::cuCtxPopCurrent_v2).count(), 1, "{calls:?}");
    assert_eq!(calls_of(|| cx.memory_info().unwrap()).0, [FnId::cuMemGetInfo_v2]);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ours.enter::<()>(|inner| {
            std::mem::forget(inner.push(&theirs)?);
            assert!(cx.memory_info().unwrap_err().code() == cuprum::Error::OUT_OF_ORDER, "a token outside");
            std::panic::resume_unwind(Box::new(()))
        })
    }));
    assert!(panicked.is_err());
    cx.memory_info().unwrap();
    // A token outside that is dropped inside pops nothing there.
    let upper = cx.push(&ours).unwrap();
    let swallowed = ours.enter(|inner| {
        drop(upper);
        Ok(inner.memory_info()?)
    });
    swallowed.unwrap();
    cx.memory_info().unwrap();
    cx.pop().unwrap();
}

/// Not even a token that is reached by the back door works in another context than its own.
#[test]
fn a_token_from_elsewhere_answers_out_of_order_within() {
    thread_local! {
        static TOKEN: Cell<Option<&'static Current<'static, 'static>>> = const { Cell::new(None) };
    }
    thread::spawn(|| {
        let (ours, theirs) = (context().leak(), context());
        let stack = Box::leak(Box::new(ContextStack::take().unwrap()));
        TOKEN.set(Some(Box::leak(Box::new(stack.push(ours).unwrap()))));
        let use_it = || TOKEN.get().unwrap().memory_info().map(|_| ());
        assert!(theirs.with_current(use_it).unwrap_err().code() == cuprum::Error::OUT_OF_ORDER);
        let release = move |_: &cuprum::ContextRef, _| use_it();
        let buffer = theirs.enter(|cx| {
            // SAFETY: no elements.
            Ok(unsafe { ForeignBuffer::<u8>::with_release(cx, 0, 0, release) }.unwrap())
        });
        assert!(buffer.unwrap().close().unwrap_err().code() == cuprum::Error::OUT_OF_ORDER);
        use_it().expect("outside it is as good as before");
        ours.with_current(use_it).expect("its own context is current");
    })
    .join()
    .unwrap();
}

#[test]
fn check_keeps_call_version_and_first_reporter() {
    in_context(|cx| {
        let context = cx.context();
        context.check((CUresult::CUDA_SUCCESS, FnId::cuMemAllocManaged)).unwrap();
        let plain = context.check((CUresult::CUDA_ERROR_OUT_OF_MEMORY, FnId::cuMemAllocManaged)).unwrap_err();
        assert_eq!((plain.call(), context.poisoned_by()), (FnId::cuMemAllocManaged, None));
        let fault = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        let first = context.check((fault, FnId::cuMemPrefetchAsync_v2)).unwrap_err();
        assert_eq!((first.first_reported_by(), context.poisoned_by()), (None, Some(first)));
        let later = failing(FnId::cuCtxSynchronize, fault, || cx.synchronize().unwrap_err());
        assert_eq!(later.first_reported_by(), Some(FnId::cuMemPrefetchAsync_v2));
        let text = context.check((fault, FnId::cuMemAllocManaged)).unwrap_err().to_string();
        assert!(text.contains("cuMemPrefetchAsync_v2 was the first to report it"), "{text}");
    });
    let old = Build { version: Some(Version::new(5, 5)), ..Build::of(Backing::Emulator) }.driver();
    let context = Context::create(old.device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut address = 0;
    // SAFETY: the out-parameter outlives the call, which this driver lacks.
    let absent = unsafe { call!(old.library().fns(), cuMemAllocManaged(&raw mut address, 4, 1)) };
    let error = context.check(absent).unwrap_err();
    assert!(error.code() == cuprum::Error::UNRESOLVED);
    assert_eq!(error.to_string(), "cuMemAllocManaged needs CUDA 6.0, the driver has 5.5: update the driver");
    assert_eq!(Error::check(old.library(), absent).unwrap_err(), error);
}

#[test]
fn require_names_unmet_requirements() {
    let (ours, theirs) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&ours).unwrap();
    let call = FnId::cuMemAllocManaged;
    assert_eq!(calls_of(|| cx.require(&ours, call).unwrap().as_raw()), (vec![], ours.as_raw()));
    let error = cx.require(&theirs, call).unwrap_err();
    assert!(error.code() == cuprum::Error::WRONG_CONTEXT && error.call() == call);
    std::mem::forget(cx.push(&theirs).unwrap());
    cx.require(&ours, call).expect("what was forgotten is popped");
    theirs
        .enter(|_| {
            assert!(cx.require(&ours, call).unwrap_err().code() == cuprum::Error::OUT_OF_ORDER);
            Ok(())
        })
        .unwrap();
}

/// A driver that does not know streams' kinds reports none.
#[test]
fn a_driver_without_the_question_says_so() {
    let old = Build { lacking: &[FnId::cuStreamGetFlags], ..Build::of(Backing::Emulator) };
    let driver: Driver = old.driver();
    let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
    context
        .enter(|cx| {
            let raw = Stream::new(cx).unwrap().into_raw();
            // SAFETY: live; it leaks.
            assert!(unsafe { Stream::from_raw(cx, raw) }.unwrap_err().code() == cuprum::Error::UNRESOLVED);
            // SAFETY: default streams live as long as their context.
            unsafe { ForeignStream::from_raw(cx, CUstream::null()) }.unwrap().synchronize(cx).unwrap();
            Ok(())
        })
        .unwrap();
}
