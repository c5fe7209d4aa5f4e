//! After a fault, and in forked children.

use cuprum::LaunchConfig;
use cuprum::region::{Arg, Pool};

use crate::common::kernels;
use crate::{BYTES, DEFERRED, in_modes, shared_context};

/// Reads in flight when a kernel faults.
const READS: usize = 8;

#[test]
fn memory_of_reads_is_not_given_out_after_a_fault() {
    in_modes!(DEFERRED, memory_of_reads_is_not_given_out_after_a_fault, || {
        let context = shared_context();
        let run = context.enter(|cx| {
            let pool = Pool::new(cx);
            let (queue, faulty) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let module = kernels!(cx, "faults").share();
            let oob = pool.function(&module, "oob_write").unwrap();
            let region = queue.alloc(cx, BYTES).unwrap();
            queue.fill(cx, &region, 7u8).unwrap();
            let host: Vec<_> = (0..READS).map(|_| pool.pinned(cx, BYTES).unwrap()).collect();
            let out = faulty.alloc(cx, 16).unwrap();
            let arguments = [Arg::Region(&out), Arg::U64(1 << 40), Arg::U32(1)];
            // SAFETY: it is not safe: the write is outside of everything, and the device stops the
            // kernel for it.
            unsafe { faulty.launch(cx, &oob, LaunchConfig::new(1, 1), &arguments, &[]) }.unwrap();
            queue.wait(cx, &faulty.mark(cx).unwrap()).unwrap();
            let starts: Vec<_> = host.iter().map(|host| host.as_ptr()).collect();
            let reads: Vec<_> = host.into_iter().map(|host| queue.read(cx, &region, host).unwrap()).collect();
            let mut failed = 0;
            for (at, read) in reads.into_iter().enumerate() {
                match at % 2 {
                    0 => drop(read),
                    _ => failed += usize::from(read.wait().is_err()),
                }
            }
            assert_eq!(failed, READS / 2);
            // Nothing can be allocated any more, and none of that memory is given out.
            let again: Vec<_> = (0..READS).filter_map(|_| pool.pinned(cx, BYTES).ok()).collect();
            assert!(again.iter().all(|host| !starts.contains(&host.as_ptr())));
            assert!(pool.trim(cx).is_ok() || context.poisoned_by().is_some());
            Ok(())
        });
        run.unwrap();
        assert!(context.poisoned_by().is_some());
    });
}

#[cfg(unix)]
mod forks {
    use std::ffi::{c_int, c_uint};
    use std::sync::atomic::{AtomicBool, Ordering};

    use cuprum::region::{Pool, RegionError};

    use crate::{BYTES, in_modes, shared_context};

    unsafe extern "C" {
        fn fork() -> c_int;
        fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
        fn _exit(code: c_int) -> !;
        safe fn alarm(seconds: c_uint) -> c_uint;
    }

    /// Children, each forked while other threads take the locks of a queue and of its pool.
    const CHILDREN: usize = 100;

    #[test]
    fn no_child_waits_for_a_lock() {
        in_modes!(&[&[]], no_child_waits_for_a_lock, || {
            let context = shared_context();
            let made = context.enter(|cx| {
                let pool = Pool::new(cx);
                let queue = pool.queue(cx).unwrap();
                Ok((pool, queue))
            });
            let ((pool, queue), over) = (made.unwrap(), AtomicBool::new(false));
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        let busy = |cx: &mut cuprum::Current<'_, 'static>| {
                            while !over.load(Ordering::Relaxed) {
                                let region = queue.alloc(cx, BYTES).unwrap();
                                queue.fill(cx, &region, 1u8).unwrap();
                                let to = pool.pinned(cx, BYTES).unwrap();
                                drop(queue.read(cx, &region, to).unwrap());
                            }
                            Ok(())
                        };
                        context.enter(busy).unwrap();
                    });
                }
                let hung = context.enter(|cx| Ok((0..CHILDREN).filter(|_| one(cx, &pool, &queue)).count()));
                over.store(true, Ordering::Relaxed);
                assert_eq!(hung.unwrap(), 0, "of {CHILDREN} children");
            });
        });
    }

    /// Forks a child that drops one of everything. Returns true if the child hangs, or if its
    /// errors do not name the fork.
    fn one(cx: &cuprum::Current<'_, 'static>, pool: &Pool, queue: &cuprum::region::Queue) -> bool {
        let beside = pool.queue(cx).unwrap();
        let (region, host) = (queue.alloc(cx, BYTES).unwrap(), pool.pinned(cx, BYTES).unwrap());
        let (mark, replay) = (queue.mark(cx).unwrap(), beside.record(cx).unwrap().end(cx).unwrap());
        queue.replay(cx, &replay).unwrap();
        let read = queue.read(cx, &region, host).unwrap();
        let recording = beside.record(cx).unwrap();
        // SAFETY: the child touches objects of this thread, a pool and a queue, and leaves through
        // `_exit`.
        let child = unsafe { fork() };
        if child == 0 {
            alarm(20);
            let is_told = |result: Result<(), RegionError>| matches!(result, Err(RegionError::Driver(error)) if error.code() == cuprum::Error::FORKED);
            let told = is_told(queue.fill(cx, &region, 1u8))
                && is_told(queue.alloc(cx, BYTES).map(drop))
                && is_told(pool.pinned(cx, BYTES).map(drop))
                && is_told(pool.queue(cx).map(drop))
                && is_told(pool.trim(cx))
                && is_told(queue.mark(cx).map(drop))
                && is_told(queue.wait(cx, &mark))
                && is_told(queue.replay(cx, &replay))
                && is_told(queue.record(cx).map(drop))
                && is_told(mark.synchronize())
                && is_told(read.is_done().map(drop));
            drop((region, mark, replay, recording));
            let waited = is_told(read.wait().map(drop));
            // SAFETY: ends the child without running the parent's exit functions.
            unsafe { _exit(c_int::from(!(told && waited))) };
        }
        let mut status = -1;
        // SAFETY: a child of ours, and a place to write to.
        assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
        status != 0
    }
}
