//! The number of waits of a scope for the default stream, on which other work may use its memory.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::PinnedFlags;
use cuprum::sys::FnId;
use cuprum::{Buffer, Current, PinnedBuffer, Stream};

use crate::tracer::{Backing, calls_of};

const WAIT: FnId = FnId::cuStreamSynchronize;

fn in_context(body: impl FnOnce(&Current<'_, '_>)) {
    let context =
        Context::create(Backing::Nothing.driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    body(&stack.push(&context).unwrap());
}

fn waits(body: impl FnOnce()) -> usize {
    calls_of(body).0.into_iter().filter(|&call| call == WAIT).count()
}

/// The waits of 100 scopes with five loans each.
fn waits_of_scopes(cx: &Current<'_, '_>, stream: &Stream<'_>) -> usize {
    let mut buffers: [Buffer<'_, u32>; 5] = std::array::from_fn(|_| Buffer::zeroed(cx, 4).unwrap());
    waits(|| {
        for _ in 0..100 {
            cx.scope(stream, |scope| {
                for buffer in &mut buffers {
                    scope.fill(&scope.lend(buffer).unwrap(), 7).unwrap();
                }
                Ok(())
            })
            .unwrap();
        }
    })
}

#[test]
fn a_scope_waits_once_for_the_default_stream_and_once_for_its_own() {
    in_context(|cx| {
        assert_eq!(waits_of_scopes(cx, &Stream::non_blocking(cx).unwrap()), 200);
        assert_eq!(waits_of_scopes(cx, &Stream::new(cx).unwrap()), 100);
    });
}

#[test]
fn lanes_of_one_scope_share_its_wait() {
    in_context(|cx| {
        let streams = [Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap()];
        let (mut a, mut b) = (Buffer::<u8>::zeroed(cx, 4).unwrap(), Buffer::<u8>::zeroed(cx, 4).unwrap());
        let waits = waits(|| {
            cx.multi_scope(|scope| {
                scope.on(&streams[0]).unwrap().lend(&mut a).unwrap();
                scope.on(&streams[1]).unwrap().lend(&mut b).unwrap();
                Ok(())
            })
            .unwrap();
        });
        assert_eq!(waits, 3, "one for the default stream, and one for each of two");
    });
}

/// Each of these leaves work on the default stream between two loans.
#[test]
fn a_loan_waits_again_if_something_was_queued_on_the_default_stream() {
    let again = |queue: fn(&Current<'_, '_>, &mut Buffer<'_, u32>)| {
        let mut counted = 0;
        in_context(|cx| {
            let stream = Stream::non_blocking(cx).unwrap();
            let [mut first, mut second, mut third] =
                std::array::from_fn(|_| Buffer::<u32>::zeroed(cx, 4).unwrap());
            counted = waits(|| {
                cx.scope(&stream, |scope| {
                    scope.lend(&mut first).unwrap();
                    queue(cx, &mut second);
                    scope.lend(&mut second).unwrap();
                    scope.lend(&mut third).unwrap();
                    Ok(())
                })
                .unwrap();
            });
        });
        counted
    };
    assert_eq!(again(|_, _| ()), 2, "nothing");
    assert_eq!(again(|cx, buffer| cx.fill(buffer, 7).unwrap()), 3);
    assert_eq!(again(|cx, buffer| cx.fill_bytes(buffer, 7).unwrap()), 3);
    assert_eq!(again(|cx, buffer| cx.copy(buffer, &[1, 2, 3, 4]).unwrap()), 3);
    assert_eq!(again(|cx, _| drop(Buffer::<u8>::zeroed(cx, 4).unwrap())), 3);
    // SAFETY: nothing is copied.
    assert_eq!(again(|cx, _| unsafe { cx.copy_raw(0, 0, 0) }.unwrap()), 2, "nothing was copied");
    assert_eq!(again(|cx, _| drop(Stream::default_in(cx))), 4, "its work is not noted: each loan waits");
    // Reading leaves nothing to wait for, nor does page-locked memory.
    assert_eq!(again(|cx, buffer| drop(buffer.to_vec(cx).unwrap())), 2);
    assert_eq!(again(|cx, _| drop(PinnedBuffer::<u8>::zeroed(cx, 4, PinnedFlags::empty()).unwrap())), 2);
}

/// Another thread, or another value for the same context, may have queued it.
#[test]
fn a_loan_waits_for_work_of_another_thread() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let (mut first, mut second) =
            (Buffer::<u8>::zeroed(cx, 4).unwrap(), Buffer::<u8>::zeroed(cx, 4).unwrap());
        let waits = waits(|| {
            cx.scope(&stream, |scope| {
                scope.lend(&mut first).unwrap();
                let (context, second) = (cx.context(), &mut second);
                std::thread::scope(|threads| {
                    let fill = || context.enter(|cx| Ok(cx.fill(&mut *second, 7)?)).unwrap();
                    threads.spawn(fill).join().unwrap();
                });
                scope.lend(second).unwrap();
                Ok(())
            })
            .unwrap();
        });
        assert_eq!(waits, 3);
    });
}
