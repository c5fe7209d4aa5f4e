//! Frees during a capture of another thread never end it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;

use cuprum::context::{Context, ContextFlags};
use cuprum::graph::{CaptureMode, GraphError};
use cuprum::memory::ManagedBuffer;
use cuprum::pool::{BufferPool, PoolCounters};
use cuprum::sys::hook::{Call, Hook};
use cuprum::sys::{CUdevice_attribute, CUresult, FnId, Fns, StreamMode};
use cuprum::{Driver, Stream};

use crate::child::in_child;
use crate::drops::{DROPS, Evidence};
use crate::program::{self, Outcome};
use crate::tracer::{Backing, Build, Session, emulator};

/// In a process of its own, as a global capture refuses calls of all threads.
#[test]
fn whatever_is_freed_beside_a_capture_is_freed_and_ends_no_capture() {
    let this = concat!(module_path!(), "::whatever_is_freed_beside_a_capture_is_freed_and_ends_no_capture");
    in_child(this, || {
        let (session, library) = (Session::watched(), Build::of(Backing::Emulator).library().unwrap());
        let swallowed = cuprum::swallowed::count();
        let (steps, spoiled, tried) = program::run_beside_captures(library, &session);
        assert!(spoiled.is_empty(), "{} captures were ended: {spoiled:#?}", spoiled.len());
        let named = DROPS.iter().flat_map(|(_, evidence)| match evidence {
            Evidence::Steps(steps) => *steps,
            _ => &[],
        });
        let untried: Vec<_> = named.filter(|step| !tried.contains(*step)).collect();
        assert!(untried.is_empty() && tried.len() > 90, "of {} steps, not {untried:?}", tried.len());
        for step in steps {
            let is_done = matches!(step.outcome, Outcome::Done);
            assert!(
                is_done || step.error().is_some_and(|error| error.code() == cuprum::Error::UNRESOLVED),
                "{step:?}"
            );
        }
        assert_eq!(session.alive(), [""; 0]);
        let violations = session.violations();
        assert!(violations.is_empty(), "{violations:#?}");
        assert_eq!(cuprum::swallowed::count(), swallowed);
    });
}

/// Such a driver knows captures, and no exemption from them.
#[test]
fn a_pool_keeps_what_a_capture_keeps_from_being_freed() {
    let this = concat!(module_path!(), "::a_pool_keeps_what_a_capture_keeps_from_being_freed");
    in_child(this, || {
        let lacking = &[FnId::cuThreadExchangeStreamCaptureMode];
        let driver = Build { lacking, ..Build::of(Backing::Emulator) }.driver();
        let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap().share();
        let test = |cx: &mut cuprum::Current<'_, 'static>| {
            let (pool, lane) = (BufferPool::new(cx), Stream::new(cx).unwrap().share());
            let leased: Vec<_> = (0..8).map(|_| pool.alloc::<u8>(cx, &lane, 1 << 20).unwrap()).collect();
            drop(leased);
            let (held, free) = (pool.counters(), cx.memory_info().unwrap().free);
            assert_eq!(held.held_blocks, 8);
            let spoiled = cx.capture(&mut Stream::new(cx).unwrap(), CaptureMode::Global, |_| {
                assert!(pool.free_held().unwrap_err().code() == cuprum::Error::UNRESOLVED);
                Ok(())
            });
            assert!(matches!(spoiled, Err(GraphError::Driver(error)) if error.is_capture()));
            assert_eq!((pool.counters(), cx.memory_info().unwrap().free), (held, free));
            pool.free_held().expect("nothing is captured any more");
            assert_eq!(pool.counters(), PoolCounters::default());
            assert_eq!(cx.memory_info().unwrap().free, free + held.managed_bytes);
            Ok(())
        };
        context.enter(test).unwrap();
    });
}

/// A driver whose devices do not share managed memory with the host.
struct Apart;

impl Hook for Apart {
    fn target() -> &'static Fns {
        emulator(StreamMode::Legacy).fns()
    }

    fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
        let answer = pass_on();
        let shared = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
        if call.function() == FnId::cuDeviceGetAttribute {
            let mut words = call.arguments().map(|argument| argument.word());
            let (out, attribute) = (words.next().unwrap(), words.next().unwrap());
            if attribute == u64::from(shared.0) {
                // SAFETY: the out-parameter of the caller.
                unsafe { std::ptr::with_exposed_provenance_mut::<i32>(out as usize).write(0) };
            }
        }
        answer
    }
}

/// The capture begins while the host has the memory: by then, the wait before is over.
#[test]
fn managed_memory_is_given_back_beside_a_capture() {
    let this = concat!(module_path!(), "::managed_memory_is_given_back_beside_a_capture");
    in_child(this, || {
        // SAFETY: all that it changes is an attribute, to one that demands more care.
        let library = unsafe { emulator(StreamMode::Legacy).hooked::<Apart>("devices apart") }.unwrap();
        let driver = Driver::init(library).unwrap();
        let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap().share();
        let mut memory = context.enter(|cx| Ok(ManagedBuffer::from_slice(cx, &[1u32; 64])?)).unwrap();
        assert!(!memory.is_concurrent());
        let swallowed = cuprum::swallowed::count();
        for panics in [false, true] {
            let barrier = Barrier::new(2);
            std::thread::scope(|scope| {
                let capture = scope.spawn(|| {
                    barrier.wait();
                    context.enter(|cx| {
                        Ok(cx
                            .capture(&mut Stream::new(cx).unwrap(), CaptureMode::Global, |_| {
                                barrier.wait();
                                barrier.wait();
                                Ok(())
                            })
                            .map(drop)?)
                    })
                });
                let used = catch_unwind(AssertUnwindSafe(|| {
                    let use_it = |host: &mut [u32]| {
                        barrier.wait();
                        barrier.wait();
                        host[0] += 1;
                        assert!(!panics, "on purpose");
                    };
                    context.enter(|cx| Ok(memory.on_host(cx, use_it)?)).unwrap()
                }));
                barrier.wait();
                match used {
                    Ok(()) => {}
                    Err(_panic) => assert!(panics),
                }
                capture.join().unwrap().unwrap();
            });
            assert!(!memory.is_lost());
        }
        assert_eq!(cuprum::swallowed::count(), swallowed);
        let read = context.enter(|cx| Ok(memory.as_slice().to_vec(cx)?)).unwrap();
        assert_eq!(read[..2], [3, 1]);
    });
}
