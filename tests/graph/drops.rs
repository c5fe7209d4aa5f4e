//! Objects dropped during a capture are freed, and the capture goes on: on its own thread or
//! another one, in the same context or another one, on an ordinary stream or one that waits for no
//! other.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuprum::graph::{CaptureMode, ForeignCaptures, Graph, GraphError};
use cuprum::memory::{ForeignBuffer, PinnedFlags, RegisterFlags, Registered};
use cuprum::memory::{
    Granularity, ManagedBuffer, MemoryLocation, PhysicalFlags, PhysicalMemory, Reservation,
};
use cuprum::pool::{BufferPool, PinnedPool, PoolCounters, StreamBuffer};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUgraph, CUstreamCaptureMode, call};
use cuprum::{Buffer, ContextRef, Current, PinnedBuffer, Shared, Stream};

use super::{alone, common, executable, zeros};

/// Bytes of each dropped object.
const LARGE: usize = 2 << 20;

type Owner = Box<dyn Any + Send>;
/// Makes an owner.
type Make = fn(&Current<'_, 'static>) -> Owner;

/// Memory at addresses.
fn mapping(cx: &Current<'_, 'static>) -> Owner {
    let (driver, at) = (cx.context().driver(), MemoryLocation::Device(cx.context().device()));
    let none = PhysicalFlags::empty();
    let chunk =
        PhysicalMemory::granularity(driver, at, none, Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM).unwrap();
    let bytes = LARGE.next_multiple_of(chunk);
    let memory = PhysicalMemory::new(driver, at, bytes, none).unwrap();
    let mut mapping = Reservation::new(driver, bytes, 0).unwrap().map::<u32>(cx, 0, &memory).unwrap();
    cx.fill(&mut mapping, 1).unwrap();
    Box::new(mapping)
}

/// Memory in the order of a stream, which may be the default stream.
fn ordered(cx: &Current<'_, 'static>, stream: Stream<'static>) -> Owner {
    let stream = stream.share();
    let mut memory = StreamBuffer::<u8>::alloc(cx, &stream, LARGE).unwrap();
    cx.fill(&mut memory, 1).unwrap();
    Box::new(memory)
}

fn foreign(cx: &Current<'_, 'static>) -> Owner {
    let memory = Buffer::<u8>::alloc(cx, LARGE).unwrap();
    let address = memory.into_raw();
    let release = |context: &cuprum::ContextRef, address| {
        let fns = context.driver().library().fns();
        // SAFETY: the memory is not used again.
        context.check(unsafe { cuprum::sys::call!(fns, cuMemFree_v2(address)) })
    };
    // SAFETY: memory that has no other owner any more, and that is freed once.
    Box::new(unsafe { ForeignBuffer::<u8>::with_release(cx, address, LARGE, release) }.unwrap())
}

/// Each kind of thing that frees, synchronizes or unmaps when it is dropped.
const OWNERS: [(&str, Make); 14] = [
    ("memory", |cx| Box::new(Buffer::<u8>::alloc(cx, LARGE).unwrap())),
    ("page-locked memory", |cx| {
        Box::new(PinnedBuffer::<u8>::zeroed(cx, 4096, PinnedFlags::empty()).unwrap())
    }),
    ("registered memory", |cx| {
        Box::new(Registered::new(cx, vec![1u8; 4096], RegisterFlags::empty()).unwrap())
    }),
    ("managed memory", |cx| Box::new(ManagedBuffer::<u8>::zeroed(cx, 4096).unwrap())),
    ("memory of other code", foreign),
    ("a mapping", mapping),
    ("memory of the default stream", |cx| ordered(cx, Stream::default_in(cx))),
    ("memory of a stream", |cx| ordered(cx, Stream::new(cx).unwrap())),
    ("memory of a stream that waits for no other", |cx| ordered(cx, Stream::non_blocking(cx).unwrap())),
    ("a pool that holds memory", |cx| {
        let pool = BufferPool::new(cx);
        drop(pool.alloc::<u8>(cx, &Stream::default_in(cx).share(), LARGE).unwrap());
        Box::new(pool)
    }),
    ("a pool that holds page-locked memory", |cx| {
        let pool = PinnedPool::new(cx, PinnedFlags::empty());
        drop(pool.zeroed::<u8>(cx, 4096).unwrap());
        Box::new(pool)
    }),
    ("code", |cx| Box::new(common::kernels!(cx, "saxpy"))),
    ("a stream and an event", |cx| {
        Box::new((Stream::new(cx).unwrap(), Event::new(cx, EventFlags::empty()).unwrap()))
    }),
    ("an executable graph", |cx| {
        let mut graph = Graph::new(cx).unwrap();
        graph.lend(zeros(cx, LARGE / 4)).unwrap();
        Box::new(executable(cx, graph))
    }),
];

/// Drops the objects that `make` makes in `context` while a stream of `capturing` is captured.
fn drop_beside(
    (name, make): (&str, Make),
    context: &Shared<ContextRef>,
    capturing: &Shared<ContextRef>,
    (mode, blocking, elsewhere): (CaptureMode, bool, bool),
) {
    let case = format!("{name}: {mode:?}, blocking {blocking}, on another thread {elsewhere}");
    let free = |context: &Shared<ContextRef>| {
        let after_all_work = |cx: &mut Current<'_, 'static>| {
            cx.synchronize().unwrap();
            Ok(cx.memory_info().unwrap().free)
        };
        context.enter(after_all_work).unwrap()
    };
    let (before, swallowed) = (free(context), cuprum::swallowed::count());
    let owner = context.enter(|cx| Ok(make(cx))).unwrap();
    let whole = capturing.enter(|cx| {
        let stream = if blocking { Stream::new(cx) } else { Stream::non_blocking(cx) };
        Ok(cx.capture(&mut stream.unwrap(), mode, |_| {
            match elsewhere {
                true => std::thread::scope(|scope| scope.spawn(|| drop(owner)).join().unwrap()),
                false => drop(owner),
            }
            Ok(())
        }))
    });
    whole.unwrap().map(drop).unwrap_or_else(|error| panic!("{case}: the capture has ended: {error}"));
    assert_eq!(cuprum::swallowed::count(), swallowed, "{case}: all of it was freed");
    if !common::on_gpu() {
        assert_eq!(free(context), before, "{case}: all of it was freed");
    }
}

#[test]
fn what_is_dropped_beside_a_capture_is_freed_and_the_capture_goes_on() {
    let _alone = alone();
    let (context, other) = (common::context().share(), common::context().share());
    for owner in OWNERS {
        for capturing in [&context, &other] {
            for mode in [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
                for ways in 0..4 {
                    drop_beside(owner, &context, capturing, (mode, ways & 1 == 1, ways & 2 == 2));
                }
            }
        }
    }
}

#[test]
fn a_pool_that_frees_what_it_holds_beside_a_capture_counts_right() {
    let _alone = alone();
    let context = common::context().share();
    let test = |cx: &mut Current<'_, 'static>| {
        let stream = Stream::new(cx).unwrap().share();
        let (pool, pinned) = (BufferPool::new(cx), PinnedPool::new(cx, PinnedFlags::empty()));
        let leased: Vec<_> = (0..16).map(|_| pool.alloc::<u8>(cx, &stream, LARGE).unwrap()).collect();
        drop((leased, pinned.zeroed::<u8>(cx, 4096).unwrap()));
        assert_eq!(pool.counters().held_blocks, 16);
        let used = cx.memory_info().unwrap().free;
        cx.capture(&mut Stream::new(cx).unwrap(), CaptureMode::Global, |_| {
            pool.free_held().expect("they are freed");
            pinned.free_held().expect("they are freed");
            Ok(())
        })
        .expect("the capture goes on");
        assert_eq!([pool.counters(), pinned.counters()], [PoolCounters::default(); 2]);
        if !common::on_gpu() {
            assert_eq!(cx.memory_info().unwrap().free, used + 16 * LARGE);
        }
        Ok(())
    };
    context.enter(test).unwrap();
}

/// A drop that begins before a capture does not end it either.
#[test]
fn drops_on_other_threads_end_no_capture_whenever_they_come() {
    const EACH: usize = 2_000;
    let _alone = alone();
    let context = common::context().share();
    let memory = |_| -> Vec<Buffer<'static, u8>> {
        context.enter(|cx| Ok((0..EACH).map(|_| Buffer::alloc(cx, 256).unwrap()).collect())).unwrap()
    };
    let (left, swallowed) = (AtomicUsize::new(3 * EACH), cuprum::swallowed::count());
    std::thread::scope(|scope| {
        for memory in (0..3).map(memory).collect::<Vec<_>>() {
            let left = &left;
            scope.spawn(move || {
                for one in memory {
                    drop(one);
                    std::thread::yield_now();
                    left.fetch_sub(1, Ordering::Relaxed);
                }
            });
        }
        let whole = context.enter_as::<GraphError, _>(|cx| {
            let mut stream = Stream::new(cx).unwrap();
            let mut captures = 0;
            while left.load(Ordering::Relaxed) != 0 {
                cx.capture(&mut stream, CaptureMode::Global, |_| Ok(()))?;
                captures += 1;
            }
            Ok(captures)
        });
        let captures = whole.expect("no drop ends a capture");
        assert!(captures > 10, "hardly anything was tried: {captures}");
    });
    assert_eq!(cuprum::swallowed::count(), swallowed, "all of it was freed");
}

/// Captures a stream as other code does. Returns true if the capture survives `body`.
fn goes_on(cx: &Current<'_, '_>, body: impl FnOnce()) -> bool {
    let (stream, fns) = (Stream::new(cx).unwrap(), cx.context().driver().library().fns());
    let (raw, mode, mut graph) =
        (stream.as_raw(), CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL, CUgraph::null());
    // SAFETY: the stream is live, and not captured.
    cx.context().check(unsafe { call!(fns, cuStreamBeginCapture_v2(raw, mode)) }).unwrap();
    body();
    // SAFETY: as above; the out-parameter outlives the call.
    let ended = cx.context().check(unsafe { call!(fns, cuStreamEndCapture(raw, &raw mut graph)) });
    if ended.is_ok() {
        // SAFETY: the graph has just been made, and has no other owner.
        cx.context().check(unsafe { call!(fns, cuGraphDestroy(graph)) }).unwrap();
    }
    ended.is_ok()
}

/// A capture that was not announced may end, but nothing leaks; a function of other code is not
/// called again.
#[test]
fn a_capture_of_other_code_goes_on_if_it_is_announced() {
    let _alone = alone();
    let context = common::context().share();
    for announces in [true, false] {
        for (name, make) in
            OWNERS.into_iter().filter(|(name, _)| announces || *name != "memory of other code")
        {
            let swallowed = cuprum::swallowed::count();
            let test = |cx: &mut Current<'_, 'static>| {
                let before = cx.memory_info().unwrap().free;
                let owner = make(cx);
                cx.synchronize().unwrap();
                let announced = announces.then(ForeignCaptures::announce);
                let goes_on = goes_on(cx, || drop(owner));
                drop(announced);
                assert!(goes_on || !announces, "{name}: the capture has ended");
                cx.synchronize().unwrap();
                if !common::on_gpu() {
                    assert_eq!(cx.memory_info().unwrap().free, before, "{name}: all of it was freed");
                }
                Ok(())
            };
            context.enter(test).unwrap();
            assert_eq!(cuprum::swallowed::count(), swallowed, "{name}: all of it was freed");
        }
    }
}
