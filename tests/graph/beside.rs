//! What goes on beside a capture that suffers no waits, on its own thread or another one.

use cuprum::graph::{CaptureMode, Graph};
use cuprum::{
    Buffer, ContextStack, Current, Event, EventFlags, MemoryError, PinnedBuffer, PinnedFlags, RegisterFlags,
    Registered, Request, Stream,
};

use super::{alone, common, executable, in_context, zeros};

#[test]
fn a_replay_beside_a_global_capture_of_another_thread_is_waited_for() {
    in_context(|cx| {
        let (mut captured, stream) = (Stream::non_blocking(cx).unwrap(), Stream::new(cx).unwrap());
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.give(zeros(cx, 4)).unwrap();
        let (_, output) = graph.add_copy_to_host(cx, &[], memory, vec![7; 4]).unwrap();
        let mut executable = executable(cx, graph);
        let context = cx.context();
        let spoiled = cx.capture(&mut captured, CaptureMode::Global, |_| {
            let replay = || {
                let mut stack = ContextStack::take().unwrap();
                let cx = stack.push(context).unwrap();
                executable.run(&cx, &stream).unwrap();
                assert_eq!(executable.host(output).unwrap(), [0; 4]);
            };
            std::thread::scope(|scope| scope.spawn(replay).join().unwrap());
            Ok(())
        });
        assert!(spoiled.is_err(), "a global capture does not suffer waits of other threads");
    });
}

/// A capture that suffers no waits, of this thread or another one, may be spoiled by them; what is waited for is not lost.
#[test]
fn a_capture_loses_no_request() {
    let _alone = alone();
    let context = common::context().share();
    let test = |cx: &mut Current<'_, 'static>| {
        let (mut captured, stream) = (Stream::non_blocking(cx).unwrap(), Stream::new(cx).unwrap());
        let pending = || {
            let (event, host) = (Event::new(cx, EventFlags::DISABLE_TIMING), vec![7u32; 4]);
            let request = Request::new(event.unwrap(), (Buffer::alloc(cx, 4).unwrap(), host));
            let queued = request.submit(cx, &stream, |scope, (buffer, host)| -> Result<(), MemoryError> {
                scope.lend(buffer.as_mut_slice())?.copy_from_host(host)
            });
            queued.unwrap()
        };
        for mode in [CaptureMode::Global, CaptureMode::ThreadLocal] {
            let pending = pending();
            let _spoiled = cx.capture(&mut captured, mode, |_| {
                assert_eq!(pending.wait().expect("it is over").1, [7; 4], "{mode:?}");
                Ok(())
            });
        }
        let pending = pending();
        let _spoiled = cx.capture(&mut captured, CaptureMode::Global, |_| {
            let wait = || pending.wait().map(|request| request.1.clone()).map_err(|error| error.error);
            assert_eq!(std::thread::scope(|scope| scope.spawn(wait).join().unwrap()), Ok(vec![7; 4]));
            Ok(())
        });
    };
    context.enter(test).unwrap();
}

/// A capture may forbid registering and unregistering, and be spoiled by it; the memory comes back all the same.
#[test]
fn a_capture_keeps_no_memory_that_is_registered() {
    in_context(|cx| {
        let mut captured = Stream::non_blocking(cx).unwrap();
        let registered = Registered::new(cx, vec![1u32; 1000], RegisterFlags::empty()).unwrap();
        let _spoiled = cx.capture(&mut captured, CaptureMode::Global, |_| {
            assert_eq!(registered.unregister().expect("it is over"), [1; 1000]);
            Ok(())
        });
        let _spoiled = cx.capture(&mut captured, CaptureMode::Global, |_| {
            let back = match Registered::new(cx, vec![2u32; 1000], RegisterFlags::empty()) {
                Ok(registered) => registered.unregister().expect("it is over"),
                Err(refused) => refused.memory.expect("it is not registered"),
            };
            assert_eq!(back, [2; 1000]);
            Ok(())
        });
    });
}

/// What is dropped beside a capture that forbids to free it is freed: memory, of the host too, and code.
#[test]
fn what_is_dropped_beside_a_capture_is_freed() {
    let _alone = alone();
    let context = common::context().share();
    let test = |cx: &mut Current<'_, 'static>| {
        let mut captured = Stream::non_blocking(cx).unwrap();
        let used = |cx: &Current<'_, '_>| cx.memory_info().unwrap().free;
        let (before, swallowed) = (used(cx), cuprum::swallowed::count());
        for mode in [CaptureMode::Global, CaptureMode::ThreadLocal] {
            let buffer = Buffer::<u8>::alloc(cx, 64 << 20).unwrap();
            let host = PinnedBuffer::<u8>::zeroed(cx, 4096, PinnedFlags::empty()).unwrap();
            let rest = (host, common::kernels!(cx, "saxpy"));
            let _spoiled = cx.capture(&mut captured, mode, |_| {
                buffer.close().expect("it is freed");
                drop(rest);
                Ok(())
            });
        }
        let buffer = Buffer::<u8>::alloc(cx, 64 << 20).unwrap();
        let _spoiled = cx.capture(&mut captured, CaptureMode::Global, |_| {
            std::thread::scope(|scope| scope.spawn(|| drop(buffer)).join().unwrap());
            Ok(())
        });
        assert_eq!(cuprum::swallowed::count(), swallowed, "all of it was freed");
        if !common::on_gpu() {
            assert_eq!(used(cx), before);
        }
    };
    context.enter(test).unwrap();
}
