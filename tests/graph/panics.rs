//! Work that a panic leaves during a capture is waited for, and the capture continues: also on the
//! default stream, which no mode of captures lets anybody wait for.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;

use cuprum::graph::CaptureMode;
use cuprum::stream::{Event, EventFlags, Request};
use cuprum::{Buffer, ContextRef, Current, MemoryError, Shared, Stream};

use super::{Graph, alone, common, executable, zeros};

const LEN: usize = 1 << 16;

/// Work that a panic leaves. It calls its last argument when the work is queued, which does not
/// return.
type Leave = fn(&Current<'_, 'static>, &Stream<'static>, &dyn Fn());

const WORK: [(&str, Leave); 4] = [
    ("a scope", |cx, stream, panic| {
        let mut memory = zeros(cx, LEN);
        let _never = cx.scope(stream, |scope| {
            scope.fill(&scope.lend(&mut memory).unwrap(), 1).unwrap();
            panic();
            Ok(())
        });
    }),
    ("a scope of several streams", |cx, stream, panic| {
        let (mut memory, mut other, second) = (zeros(cx, LEN), zeros(cx, LEN), Stream::new(cx).unwrap());
        let _never = cx.multi_scope(|scope| {
            let (first, second) = (scope.on(stream).unwrap(), scope.on(&second).unwrap());
            first.fill(&first.lend(&mut memory).unwrap(), 1).unwrap();
            second.fill(&second.lend(&mut other).unwrap(), 1).unwrap();
            panic();
            Ok(())
        });
    }),
    ("a replay", |cx, stream, panic| {
        let mut graph = Graph::new(cx).unwrap();
        let memory = graph.lend(zeros(cx, LEN)).unwrap();
        let output = graph.lend(vec![7; LEN]).unwrap();
        graph.add_copy(cx, &[], output, memory).unwrap();
        let mut executable = executable(cx, graph);
        let left = catch_unwind(AssertUnwindSafe(|| {
            let _never = cx.scope(stream, |scope| {
                scope.lend_graph(&mut executable)?.launch()?;
                panic();
                Ok(())
            });
        }));
        assert_eq!(executable.view(output).expect("it was waited for"), [0; LEN]);
        resume_unwind(left.unwrap_err());
    }),
    ("a request", |cx, stream, panic| {
        let memory = Buffer::<u32>::alloc(cx, LEN).unwrap();
        let request =
            Request::new(Event::new(cx, EventFlags::DISABLE_TIMING).unwrap(), (memory, vec![7; LEN]));
        let _never = request.submit(cx, stream, |scope, (memory, host)| -> Result<(), MemoryError> {
            scope.copy(&scope.lend(memory)?, host.as_slice())?;
            panic();
            Ok(())
        });
    }),
];

/// Leaves work by a panic while another thread captures a stream of the same context.
fn leave_beside(
    (name, leave): (&str, Leave),
    context: &Shared<ContextRef>,
    stream: fn(&Current<'_, 'static>) -> Stream<'static>,
) {
    let swallowed = cuprum::swallowed::count();
    let ((queued, is_queued), (captures, is_captured)) = (channel(), channel());
    let ((left, is_left), on) = (channel(), context.enter(|cx| Ok(stream(cx))).unwrap());
    let case = format!("{name} on {on:?}");
    std::thread::scope(|scope| {
        let capture = scope.spawn(move || {
            is_queued.recv().unwrap();
            context.enter(|cx| {
                Ok(cx
                    .capture(&mut Stream::new(cx).unwrap(), CaptureMode::Global, |_| {
                        captures.send(()).unwrap();
                        is_left.recv().unwrap();
                        Ok(())
                    })
                    .map(drop)?)
            })
        });
        let work = || {
            context.enter(|cx| {
                leave(cx, &on, &|| {
                    queued.send(()).unwrap();
                    is_captured.recv().unwrap();
                    resume_unwind(Box::new("on purpose"));
                });
                Ok(())
            })
        };
        let panicked = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
        assert_eq!(panicked.downcast_ref(), Some(&"on purpose"), "{case}");
        left.send(()).unwrap();
        capture.join().unwrap().unwrap();
    });
    assert_eq!(cuprum::swallowed::count(), swallowed, "{case}: all of it was waited for");
}

#[test]
fn what_a_panic_leaves_beside_a_capture_is_waited_for_and_the_capture_goes_on() {
    let _alone = alone();
    let context = common::context().share();
    for work in WORK {
        leave_beside(work, &context, Stream::default_in);
        leave_beside(work, &context, |cx| Stream::new(cx).unwrap());
    }
}
