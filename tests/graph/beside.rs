//! Work during a capture that allows no waits and no frees, on its own thread or another one.

use cuprum::context::ContextStack;
use cuprum::graph::{CaptureMode, Graph};
use cuprum::memory::{RegisterFlags, Registered};
use cuprum::stream::{Event, EventFlags, Request};
use cuprum::{Buffer, Current, MemoryError, Stream};

use super::{alone, common, executable, in_context, zeros};

#[test]
fn a_replay_during_a_global_capture_of_another_thread_is_waited_for() {
    in_context(|cx| {
        let (mut captured, stream) = (Stream::non_blocking(cx).unwrap(), Stream::new(cx).unwrap());
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, 4)).unwrap();
        let output = graph.lend(vec![7; 4]).unwrap();
        graph.add_copy(cx, &[], output, memory).unwrap();
        let mut executable = executable(cx, graph);
        let context = cx.context();
        let whole = cx.capture(&mut captured, CaptureMode::Global, |_| {
            let replay = || {
                let mut stack = ContextStack::take().unwrap();
                let cx = stack.push(context).unwrap();
                executable.launch(&cx, &stream).unwrap();
                assert_eq!(executable.view(output).unwrap(), [0; 4]);
            };
            std::thread::scope(|scope| scope.spawn(replay).join().unwrap());
            Ok(())
        });
        whole.expect("the wait has nothing to do with it");
    });
}

/// A capture that forbids waits, of this thread or another one, goes on; the awaited request is not
/// lost.
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
                scope.copy(&scope.lend(buffer)?, &*host)
            });
            queued.unwrap()
        };
        for mode in [CaptureMode::Global, CaptureMode::ThreadLocal] {
            let pending = pending();
            let whole = cx.capture(&mut captured, mode, |_| {
                assert_eq!(pending.wait().expect("it is over").1, [7; 4], "{mode:?}");
                Ok(())
            });
            whole.expect("a wait of this thread");
        }
        let pending = pending();
        let whole = cx.capture(&mut captured, CaptureMode::Global, |_| {
            let wait = || pending.wait().map(|request| request.1.clone()).map_err(|error| error.error);
            assert_eq!(std::thread::scope(|scope| scope.spawn(wait).join().unwrap()), Ok(vec![7; 4]));
            Ok(())
        });
        whole.expect("a wait of another thread");
        Ok(())
    };
    context.enter(test).unwrap();
}

/// A capture forbids registering, and is spoiled by it; the memory comes back all the same.
#[test]
fn a_capture_keeps_no_memory_that_is_registered() {
    in_context(|cx| {
        let mut captured = Stream::non_blocking(cx).unwrap();
        let registered = Registered::new(cx, vec![1u32; 1000], RegisterFlags::empty()).unwrap();
        let whole = cx.capture(&mut captured, CaptureMode::Global, |_| {
            assert_eq!(registered.unregister().expect("it is over"), [1; 1000]);
            Ok(())
        });
        whole.expect("nothing is registered any more");
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
