//! Streams, events and scopes.

use std::time::Duration;

use cuprum::context::ContextStack;
use cuprum::stream::{Event, EventFlags, StreamKind};
use cuprum::sys::CUresult;
use cuprum::{Buffer, In, InOut, LaunchConfig, MemoryError, Stream};

use crate::common::{context, in_context, kernels};

#[test]
fn an_idle_stream_is_done() {
    in_context(|cx| {
        for stream in [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap(), Stream::default_in(cx)] {
            stream.synchronize(cx).unwrap();
            assert!(stream.is_done(cx).unwrap());
            stream.close().unwrap();
        }
    });
}

#[test]
fn priorities_are_clamped() {
    in_context(|cx| {
        let (_, greatest) = cx.stream_priorities().unwrap();
        let stream = Stream::with_priority(cx, StreamKind::NonBlocking, greatest - 100).unwrap();
        assert_eq!(stream.priority(cx).unwrap(), greatest);
        assert_eq!(Stream::new(cx).unwrap().priority(cx).unwrap(), 0);
    });
}

#[test]
fn identities_are_never_given_twice() {
    in_context(|cx| {
        let first = Stream::new(cx).unwrap();
        let id = first.id(cx).unwrap();
        assert_eq!(first.id(cx).unwrap(), id);
        first.close().unwrap();
        assert_ne!(Stream::new(cx).unwrap().id(cx).unwrap(), id);
    });
}

#[test]
fn a_stream_tells_nothing_in_another_context() {
    let (home, other) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let stream = Stream::new(&stack.push(&home).unwrap()).unwrap();
    let cx = stack.push(&other).unwrap();
    assert!(stream.id(&cx).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
    assert!(stream.priority(&cx).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
}

#[test]
fn events_mark_and_time() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let (start, end) =
            (Event::new(cx, EventFlags::empty()).unwrap(), Event::new(cx, EventFlags::empty()).unwrap());
        start.record(cx, &stream).unwrap();
        let mut buffer = Buffer::<u8>::alloc(cx, 16 << 20).unwrap();
        cx.fill_bytes(&mut buffer, 1).unwrap();
        end.record(cx, &stream).unwrap();
        end.synchronize().unwrap();
        assert!(start.is_done().unwrap() && end.is_done().unwrap());
        let elapsed = end.elapsed_since(&start).unwrap();
        assert!(elapsed < Duration::from_secs(60), "{elapsed:?}");
        start.close().unwrap();
    });
}

#[test]
fn an_event_without_time_cannot_be_subtracted() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let event = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
        event.record(cx, &stream).unwrap();
        event.synchronize().unwrap();
        let error = event.elapsed_since(&event).unwrap_err();
        assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_HANDLE);
        let never = Event::new(cx, EventFlags::empty()).unwrap();
        never.synchronize().expect("an event that was never recorded is done");
        let error = never.elapsed_since(&never).unwrap_err();
        assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_HANDLE);
    });
}

#[test]
fn a_stream_waits_for_another() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let (first, second) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let n = 1 << 16;
        let x = Buffer::from_slice(cx, &vec![1f32; n]).unwrap();
        let mut y = Buffer::<f32>::zeroed(cx, n).unwrap();
        cx.synchronize().unwrap();
        let config = LaunchConfig::for_elements(n, 256);
        for _ in 0..10 {
            for (stream, other) in [(&first, &second), (&second, &first)] {
                // SAFETY: saxpy takes (u32, float, const float*, float*), reads and writes n
                // elements; the events order the two streams, and both are waited for below.
                unsafe { saxpy.launch(cx, stream, config, (n as u32, 1f32, &x, &mut y)) }.unwrap();
                let done = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
                done.record(cx, stream).unwrap();
                other.wait_event(cx, &done).unwrap();
            }
        }
        cx.synchronize().unwrap();
        assert_eq!(y.to_vec(cx).unwrap(), vec![20f32; n]);
    });
}

#[test]
fn a_scope_copies_in_order_and_waits() {
    in_context(|cx| {
        for stream in [Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()] {
            let input: Vec<u32> = (0..100_000).collect();
            let (mut one, mut two) = (vec![0; input.len()], vec![0; input.len()]);
            let mut source = Buffer::<u32>::zeroed(cx, input.len()).unwrap();
            let mut target = Buffer::<u32>::zeroed(cx, input.len()).unwrap();
            cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
                let source = scope.lend(source.as_mut_slice())?;
                let target = scope.lend(target.as_mut_slice())?;
                scope.read(&mut one, &source)?;
                scope.copy(&source, &input)?;
                scope.copy(&target, &source)?;
                scope.read(&mut two, &target)
            })
            .unwrap();
            assert_eq!(one, vec![0; input.len()]);
            assert_eq!(two, input);
            assert!(stream.is_done(cx).unwrap());
        }
    });
}

#[test]
fn a_scope_on_a_non_blocking_stream_sees_what_was_copied_before() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        for round in 0..50u32 {
            let mut buffer = Buffer::from_slice(cx, &vec![round; 1 << 16]).unwrap();
            let mut host = vec![0; 1 << 16];
            cx.scope(
                &stream,
                |scope| Ok(scope.read(&mut host, &scope.lend(buffer.as_mut_slice()).unwrap())?),
            )
            .unwrap();
            assert_eq!(host, vec![round; 1 << 16]);
        }
    });
}

#[test]
fn a_scope_refuses_memory_of_another_context() {
    let (first, second) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut outer = stack.push(&first).unwrap();
    let mut buffer = Buffer::<u8>::zeroed(&outer, 16).unwrap();
    let inner = outer.push(&second).unwrap();
    let stream = Stream::new(&inner).unwrap();
    inner
        .scope(&stream, |scope| {
            let refused = scope.lend(&mut buffer).unwrap_err();
            assert!(
                matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT)
            );
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_scope_over_streams_known_only_at_run_time() {
    in_context(|cx| {
        for count in [0usize, 1, 5] {
            let streams: Vec<Stream<'_>> = (0..count)
                .map(|i| if i % 2 == 0 { Stream::new(cx) } else { Stream::non_blocking(cx) }.unwrap())
                .collect();
            let mut parts: Vec<_> = (0..count).map(|_| Buffer::<u32>::alloc(cx, 1000).unwrap()).collect();
            let table = Buffer::from_slice(cx, &(0..1000).collect::<Vec<u32>>()).unwrap();
            let mut read = vec![vec![0; 10]; count];
            cx.multi_scope(|scope| {
                for (((stream, part), host), i) in streams.iter().zip(&mut parts).zip(&mut read).zip(0u32..) {
                    let lane = scope.on(stream)?;
                    let part = lane.lend(part.as_mut_slice())?;
                    // All read the same memory, each writes its own.
                    let table = lane.lend(table.as_slice())?;
                    lane.copy(&part, &table)?;
                    lane.fill(&part.slice(10..20).unwrap(), i)?;
                    lane.read(host, &part.slice(5..15).unwrap())?;
                }
                Ok(())
            })
            .unwrap();
            for (host, i) in read.iter().zip(0..) {
                assert_eq!(host[..], [5, 6, 7, 8, 9, i, i, i, i, i]);
            }
            assert!(streams.iter().all(|stream| stream.is_done(cx).unwrap()));
        }
    });
}

#[test]
fn copies_between_loans_report_unsupported_cases() {
    in_context(|cx| {
        let (one, two) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
        let (mut first, mut second) =
            (Buffer::from_slice(cx, &[1u8, 2, 3, 4]).unwrap(), Buffer::<u8>::zeroed(cx, 4).unwrap());
        cx.multi_scope(|scope| {
            let (scope, other) = (scope.on(&one).unwrap(), scope.on(&two).unwrap());
            let (first, second) = (scope.lend(&mut first).unwrap(), other.lend(&mut second).unwrap());
            assert_eq!(scope.copy(&first, &second), Err(MemoryError::OtherStream));
            assert_eq!(scope.copy(&second, &first), Err(MemoryError::OtherStream));
            assert_eq!(scope.copy(&second, &[1; 4]), Err(MemoryError::OtherStream));
            assert_eq!(scope.read(&mut [0; 4], &second), Err(MemoryError::OtherStream));
            assert_eq!(scope.fill(&second, 1), Err(MemoryError::OtherStream));
            assert_eq!(scope.fill_bytes(&second, 1), Err(MemoryError::OtherStream));
            let part = |range: std::ops::Range<usize>| first.slice(range).unwrap();
            assert_eq!(scope.copy(&part(1..3), &part(0..2)), Err(MemoryError::Overlap));
            assert_eq!(scope.copy(&part(0..2), &part(1..3)), Err(MemoryError::Overlap));
            scope.copy(&first, &first).expect("nothing to copy");
            scope.copy(&part(2..4), &part(0..2).as_shared()).unwrap();
            assert!(first.slice(2..5).is_none());
            Ok(())
        })
        .unwrap();
        assert_eq!(first.to_vec(cx).unwrap(), [1, 2, 1, 2]);
        cx.fill_bytes(&mut first, 9).unwrap();
        cx.fill(&mut first, 8).unwrap();
        assert_eq!(first.to_vec(cx).unwrap(), [8; 4]);
    });
}

#[test]
fn a_fill_inside_of_a_scope_is_there_when_the_memory_is_lent() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        for round in 0..50u32 {
            let mut buffer = Buffer::from_slice(cx, &vec![!0; 1 << 16]).unwrap();
            let (mut other, mut host) = (Buffer::<u8>::zeroed(cx, 1).unwrap(), vec![0; 1 << 16]);
            cx.scope(&stream, |scope| {
                // The scope has waited for the default stream, but not for work that is queued
                // there now.
                scope.lend(&mut other).unwrap();
                cx.fill(&mut buffer, round).unwrap();
                Ok(scope.read(&mut host, &scope.lend(&mut buffer).unwrap())?)
            })
            .unwrap();
            assert_eq!(host, vec![round; 1 << 16]);
        }
    });
}

#[test]
fn a_scope_waits_when_its_body_panics() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let mut buffer = Buffer::from_slice(cx, &vec![7u32; 1 << 20]).unwrap();
        let mut host = vec![0; 1 << 20];
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cx.scope::<()>(&stream, |scope| {
                scope.read(&mut host, &scope.lend(buffer.as_mut_slice()).unwrap()).unwrap();
                std::panic::resume_unwind(Box::new("the body failed"));
            })
        }));
        assert!(panicked.is_err());
        assert!(stream.is_done(cx).unwrap());
        assert_eq!(host, vec![7; 1 << 20]);
    });
}
