//! One region that many threads and many graphs use.

use std::sync::Mutex;

use cuprum::region::{Pool, Replay};

use crate::{BYTES, LATE, bytes, come_after, filled, in_modes, shared_context};

/// Threads, each with a queue and a recording of its own.
const WORKERS: usize = 6;

#[test]
fn weights_are_shared_by_threads_and_recordings() {
    in_modes!(LATE, weights_are_shared_by_threads_and_recordings, || {
        let context = shared_context();
        let made = context.enter(|cx| {
            let pool = Pool::new(cx);
            let queue = pool.queue(cx).unwrap();
            let weights = filled(cx, &queue, 7);
            let loaded = queue.mark(cx).unwrap();
            Ok((pool, weights, loaded))
        });
        let (pool, weights, loaded) = made.unwrap();
        let replays: Mutex<Vec<Replay>> = Mutex::default();
        std::thread::scope(|scope| {
            for worker in 0..WORKERS {
                let (pool, weights, loaded) = (pool.clone(), weights.clone(), &loaded);
                let (context, replays) = (&context, &replays);
                scope.spawn(move || {
                    let work = |cx: &mut cuprum::Current<'_, 'static>| {
                        let queue = pool.queue(cx).unwrap();
                        queue.wait(cx, loaded).unwrap();
                        let output = queue.alloc(cx, BYTES).unwrap();
                        let recording = queue.record(cx).unwrap();
                        queue.copy(cx, &output, &weights).unwrap();
                        let replay = recording.end(cx).unwrap();
                        for round in 0..20 {
                            queue.fill(cx, &output, round).unwrap();
                            queue.replay(cx, &replay).unwrap();
                            assert_eq!(bytes(cx, &pool, &queue, &output), [7; BYTES], "worker {worker}");
                            // Eagerly too, concurrently with the other threads.
                            queue.copy(cx, &output, &weights).unwrap();
                        }
                        replays.lock().unwrap().push(replay);
                        Ok(())
                    };
                    context.enter(work).unwrap();
                });
            }
        });
        drop((weights, loaded));
        // Each graph has a share, and runs on any queue.
        let replays = replays.into_inner().unwrap();
        let rest = context.enter(|cx| {
            let queue = pool.queue(cx).unwrap();
            let mine = filled(cx, &queue, 1);
            replays.iter().for_each(|replay| queue.replay(cx, replay).unwrap());
            drop(replays);
            let other = pool.queue(cx).unwrap();
            come_after(cx, &other, &queue);
            assert_eq!(bytes(cx, &pool, &other, &mine), [1; BYTES]);
            Ok(())
        });
        rest.unwrap();
    });
}
