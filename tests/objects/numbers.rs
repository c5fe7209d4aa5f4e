//! Numbers that streams write and wait for, by themselves and in batches, and the signals that the
//! host shares.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::Duration;

use cuprum::stream::{Event, EventFlags, Operations, Request, Signals, Until};
use cuprum::sys::{CUresult, CUstreamMemoryBarrier_flags};
use cuprum::{Buffer, MemoryError, Stream};

use crate::common::{context, in_context, on_gpu};

#[test]
fn elements_are_written_in_stream_order() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let mut narrow = Buffer::<u32>::zeroed(cx, 4).unwrap();
        let mut wide = Buffer::<u64>::zeroed(cx, 2).unwrap();
        cx.scope(&stream, |scope| {
            let (narrow, wide) =
                (scope.lend(narrow.as_mut_slice()).unwrap(), scope.lend(wide.as_mut_slice()).unwrap());
            scope.fill(&narrow, 1).unwrap();
            scope.write_value(&narrow.slice(1..).unwrap(), 1, 7).unwrap();
            scope.wait_value(&narrow, 2, Until::Equal(7)).unwrap();
            scope.write_value(&wide, 1, u64::MAX - 1).unwrap();
            scope.wait_value(&wide.as_shared(), 1, Until::AtLeast(u64::MAX - 2)).unwrap();
            let refused = scope.write_value(&narrow, 4, 7).unwrap_err();
            assert_eq!(refused, MemoryError::Index { index: 4, len: 4 });
            let refused = scope.wait_value(&wide, 2, Until::Equal(0)).unwrap_err();
            assert_eq!(refused, MemoryError::Index { index: 2, len: 2 });
            Ok(())
        })
        .unwrap();
        assert_eq!(narrow.to_vec(cx).unwrap(), [1, 1, 7, 1]);
        assert_eq!(wide.to_vec(cx).unwrap(), [0, u64::MAX - 1]);
    });
}

#[test]
fn a_stream_waits_until_the_host_writes() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let signals = Signals::<u32>::new(cx, 5).unwrap();
        let conditions =
            [Until::Equal(5), Until::AtLeast(0xffff_fff0), Until::AnyBit(0b110), Until::Nor(!0b100)];
        for (at, until) in conditions.into_iter().enumerate() {
            // The third and the fourth wait end by bits, the second around the end of the numbers.
            let (before, after) = [(4, 5), (0xffff_ff00, 3), (0b1, 0b10), (0b100, 0b1)][at];
            signals[at].store(before, Release);
            signals[4].store(0, Release);
            cx.scope(&stream, |scope| {
                let lent = scope.lend(&signals).unwrap();
                scope.wait_value(&lent, at, until).unwrap();
                scope.write_value(&lent, 4, 1).unwrap();
                thread::sleep(Duration::from_millis(2));
                assert_eq!((signals[4].load(Acquire), stream.is_done(cx).unwrap()), (0, false), "{until:?}");
                signals[at].store(after, Release);
                Ok(())
            })
            .unwrap();
            assert_eq!(signals[4].load(Acquire), 1);
        }
    });
}

#[test]
fn a_thread_of_the_host_ends_a_wait_that_the_end_of_a_scope_waits_for() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let signals = Signals::<u64>::new(cx, 2).unwrap();
        thread::scope(|threads| {
            threads.spawn(|| {
                thread::sleep(Duration::from_millis(5));
                signals[0].store(1 << 40, Release);
            });
            cx.scope(&stream, |scope| {
                let lent = scope.lend(&signals).unwrap();
                scope.wait_value(&lent, 0, Until::AtLeast(1 << 40)).unwrap();
                scope.write_value(&lent, 1, 3).unwrap();
                Ok(())
            })
            .unwrap();
            assert_eq!(signals[1].load(Acquire), 3);
        });
        signals.close().unwrap();
    });
}

#[test]
fn a_request_that_waits_for_a_number_is_pending_until_it_is_there() {
    let context = context().share();
    context
        .enter(|cx| {
            let stream = Stream::non_blocking(cx).unwrap();
            let signals = std::sync::Arc::new(Signals::<u32>::new(cx, 1).unwrap());
            let done = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
            let request = Request::new(done, std::sync::Arc::clone(&signals));
            let pending = request.submit(cx, &stream, |scope, signals| -> Result<(), MemoryError> {
                scope.wait_value(&scope.lend(&**signals)?, 0, Until::Equal(1))
            });
            let pending = pending.unwrap();
            assert!(!pending.is_done().unwrap());
            signals[0].store(1, Release);
            pending.wait().unwrap();
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_scope_left_by_a_panic_waits_for_the_waits_of_its_streams() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let signals = Signals::<u32>::new(cx, 2).unwrap();
        let left = catch_unwind(AssertUnwindSafe(|| {
            cx.scope::<()>(&stream, |scope| {
                let lent = scope.lend(&signals).unwrap();
                scope.wait_value(&lent, 0, Until::Equal(1)).unwrap();
                scope.write_value(&lent, 1, 1).unwrap();
                signals[0].store(1, Release);
                std::panic::resume_unwind(Box::new(()))
            })
        }));
        assert!(left.is_err());
        assert_eq!(signals[1].load(Acquire), 1);
    });
}

#[test]
fn a_batch_does_its_operations_in_order() {
    in_context(|cx| {
        let (stream, other) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let signals = Signals::<u32>::new(cx, 3).unwrap();
        let mut buffer = Buffer::<u64>::zeroed(cx, 2).unwrap();
        cx.multi_scope(|scope| {
            let (scope, other) = (scope.on(&stream).unwrap(), scope.on(&other).unwrap());
            let (lent, numbers) = (scope.lend(&signals).unwrap(), scope.lend(buffer.as_mut_slice()).unwrap());
            let mut operations = Operations::default();
            operations.write(&lent, 0, 1).unwrap().wait(&lent, 1, Until::Equal(1)).unwrap();
            operations.barrier(CUstreamMemoryBarrier_flags::CU_STREAM_MEMORY_BARRIER_TYPE_SYS);
            operations.write(&numbers, 1, u64::MAX).unwrap().write(&lent, 2, 9).unwrap();
            scope.operate(&mut operations).unwrap();
            while signals[0].load(Acquire) == 0 {
                thread::yield_now();
            }
            assert_eq!(signals[2].load(Acquire), 0);

            let theirs = other.lend(&signals).unwrap();
            assert_eq!(other.operate(&mut operations).unwrap_err(), MemoryError::OtherStream);
            let mut mixed = Operations::default();
            mixed.write(&lent, 0, 2).unwrap().write(&theirs, 0, 2).unwrap();
            assert_eq!(scope.operate(&mut mixed).unwrap_err(), MemoryError::OtherStream);
            other.operate(&mut Operations::default()).unwrap();
            let refused = operations.wait(&lent, 3, Until::Equal(0)).unwrap_err();
            assert_eq!(refused, MemoryError::Index { index: 3, len: 3 });
            other.write_value(&theirs, 1, 1).unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(signals[2].load(Acquire), 9);
        assert_eq!(buffer.to_vec(cx).unwrap(), [0, u64::MAX]);
    });
}

#[test]
fn a_batch_that_is_too_long_or_unsupported_is_refused_as_a_whole() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let signals = Signals::<u32>::new(cx, 1).unwrap();
        cx.scope(&stream, |scope| {
            let lent = scope.lend(&signals).unwrap();
            let mut operations = Operations::default();
            for value in 1..=255 {
                operations.write(&lent, 0, value).unwrap();
            }
            scope.operate(&mut operations).unwrap();
            operations.write(&lent, 0, 256).unwrap();
            let code = |refused| match refused {
                Err(MemoryError::Driver(error)) => error.code(),
                other => panic!("{other:?}"),
            };
            assert_eq!(code(scope.operate(&mut operations)), CUresult::CUDA_ERROR_INVALID_VALUE);
            let mut operations = Operations::default();
            operations.write(&lent, 0, 7).unwrap().flush_remote_writes();
            assert_eq!(code(scope.operate(&mut operations)), CUresult::CUDA_ERROR_NOT_SUPPORTED);
            Ok(())
        })
        .unwrap();
        assert_eq!(signals[0].load(Acquire), 255);
    });
}

#[test]
fn streams_reduce_into_numbers() {
    use cuprum::sys::CUstreamAtomicReductionOpType as Reduction;

    in_context(|cx| {
        if on_gpu() && cx.context().driver().version() < cuprum::sys::Version::new(13, 1) {
            return;
        }
        let stream = Stream::non_blocking(cx).unwrap();
        let (narrow, wide) = (Signals::<u32>::new(cx, 3).unwrap(), Signals::<u64>::new(cx, 3).unwrap());
        narrow.iter().for_each(|number| number.store(0b1100, Release));
        wide.iter().for_each(|number| number.store(0b1100, Release));
        let kinds = [
            (Reduction::CU_STREAM_ATOMIC_REDUCTION_OP_ADD, 0b1100 + 0b1010),
            (Reduction::CU_STREAM_ATOMIC_REDUCTION_OP_AND, 0b1000),
            (Reduction::CU_STREAM_ATOMIC_REDUCTION_OP_OR, 0b1110),
        ];
        cx.scope(&stream, |scope| {
            let (narrow, wide) = (scope.lend(&narrow).unwrap(), scope.lend(&wide).unwrap());
            let mut operations = Operations::default();
            for (at, (kind, _)) in kinds.into_iter().enumerate() {
                operations
                    .reduce(&narrow, at, kind, 0b1010)
                    .unwrap()
                    .reduce(&wide, at, kind, 0b1010)
                    .unwrap();
            }
            scope.operate(&mut operations).unwrap();
            Ok(())
        })
        .unwrap();
        for (at, (_, expected)) in kinds.into_iter().enumerate() {
            assert_eq!((narrow[at].load(Acquire), wide[at].load(Acquire)), (expected, expected.into()));
        }
    });
}

#[test]
fn signals_of_another_context_are_not_lent() {
    let other = context();
    in_context(|cx| {
        let theirs = Signals::<u32>::new(&cx.push(&other).unwrap(), 1).unwrap();
        let (stream, none) = (Stream::new(cx).unwrap(), Signals::<u64>::new(cx, 0).unwrap());
        assert!(none.is_empty());
        cx.scope(&stream, |scope| {
            let refused = scope.lend(&theirs).unwrap_err();
            assert!(
                matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT)
            );
            let none = scope.lend(&none).unwrap();
            assert_eq!(scope.write_value(&none, 0, 1).unwrap_err(), MemoryError::Index { index: 0, len: 0 });
            Ok(())
        })
        .unwrap();
    });
}
