//! Recordings and replays keep the memory that they use, and stay in order. Each test fails without
//! its rule: see `naive`.

use std::sync::atomic::{AtomicBool, Ordering};

use cuprum::region::{Pool, Queue, Recording, RegionError, Replay};
use cuprum::{ContextRef, Current, Shared};

use crate::{
    BYTES, DEFERRED, LATE, bytes, come_after, filled, in_modes, in_pool, refused, shared_context, staged,
    synchronize,
};

#[test]
fn a_recording_keeps_what_it_uses() {
    in_modes!(LATE, a_recording_keeps_what_it_uses, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let (before, output) = (filled(cx, &queue, 1), queue.alloc(cx, 2 * BYTES).unwrap());
            let recording = queue.record(cx).unwrap();
            let inside = queue.alloc(cx, BYTES).unwrap();
            queue.upload(cx, &inside, staged(cx, pool, &[7; BYTES])).unwrap();
            queue.copy(cx, &output.slice(..BYTES).unwrap(), &inside).unwrap();
            queue.fill(cx, &before, 8u8).unwrap();
            queue.copy(cx, &output.slice(BYTES..).unwrap(), &before).unwrap();
            drop((before, inside));
            let replay = recording.end(cx).unwrap();
            synchronize(cx, &queue);
            // Memory that was let go would be taken by these.
            let taken: Vec<_> = (0..4).map(|_| filled(cx, &queue, 2)).collect();
            let mut host: Vec<_> = (0..4).map(|_| staged(cx, pool, &[3; BYTES])).collect();
            for round in 0..3 {
                queue.fill(cx, &output, 0u8).unwrap();
                queue.replay(cx, &replay).unwrap();
                let copied = bytes(cx, pool, &queue, &output);
                assert!(copied[..BYTES].iter().all(|&byte| byte == 7), "upload, round {round}");
                assert!(copied[BYTES..].iter().all(|&byte| byte == 8), "fill, round {round}");
            }
            drop(replay);
            for region in &taken {
                assert_eq!(bytes(cx, pool, &queue, region), [2; BYTES], "a replay wrote another's memory");
            }
            assert!(host.iter_mut().all(|bytes| bytes.iter().all(|&byte| byte == 3)));
        });
    });
}

#[test]
fn memory_of_a_replay_dropped_in_flight_is_not_given_out() {
    in_modes!(DEFERRED, memory_of_a_replay_dropped_in_flight_is_not_given_out, || {
        in_pool(|cx, pool| {
            let (recorder, player) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let recording = recorder.record(cx).unwrap();
            let inside = recorder.alloc(cx, BYTES).unwrap();
            recorder.fill(cx, &inside, 7u8).unwrap();
            drop(inside);
            let replay = recording.end(cx).unwrap();
            player.replay(cx, &replay).unwrap();
            synchronize(cx, &recorder);
            drop(replay);
            let mine = filled(cx, &recorder, 2);
            synchronize(cx, &recorder);
            synchronize(cx, &player);
            assert_eq!(bytes(cx, pool, &recorder, &mine), [2; BYTES], "the replay came later");
        });
    });
}

#[test]
fn a_replay_comes_after_the_work_before_the_recording() {
    in_modes!(DEFERRED, a_replay_comes_after_the_work_before_the_recording, || {
        in_pool(|cx, pool| {
            let (recorder, player) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let first = filled(cx, &recorder, 5);
            synchronize(cx, &recorder);
            let read = recorder.read(cx, &first, pool.pinned(cx, BYTES).unwrap()).unwrap();
            drop(first);
            let second = recorder.alloc(cx, BYTES).unwrap();
            let recording = recorder.record(cx).unwrap();
            recorder.fill(cx, &second, 7u8).unwrap();
            let replay = recording.end(cx).unwrap();
            player.replay(cx, &replay).unwrap();
            synchronize(cx, &player);
            assert_eq!(*read.wait().unwrap(), [5; BYTES], "the replay overtook it");
        });
    });
}

#[test]
fn memory_of_a_lane_does_not_enter_a_recording() {
    in_modes!(DEFERRED, memory_of_a_lane_does_not_enter_a_recording, || {
        in_pool(|cx, pool| {
            let queues = [(); 3].map(|()| pool.queue(cx).unwrap());
            let [recorder, joined, player] = &queues;
            let first = filled(cx, joined, 5);
            synchronize(cx, joined);
            let read = joined.read(cx, &first, pool.pinned(cx, BYTES).unwrap()).unwrap();
            drop(first);
            let recording = recorder.record(cx).unwrap();
            come_after(cx, joined, recorder);
            let second = joined.alloc(cx, BYTES).unwrap();
            joined.fill(cx, &second, 7u8).unwrap();
            come_after(cx, recorder, joined);
            let replay = recording.end(cx).unwrap();
            player.replay(cx, &replay).unwrap();
            synchronize(cx, player);
            assert_eq!(*read.wait().unwrap(), [5; BYTES], "the replay overtook it");
        });
    });
}

#[test]
fn memory_of_a_queue_that_joins_is_refused_unless_the_recorder_came_after_it() {
    in_pool(|cx, pool| {
        let (recorder, joined) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
        let region = filled(cx, &joined, 5);
        let recording = recorder.record(cx).unwrap();
        come_after(cx, &joined, &recorder);
        assert_eq!(refused(joined.fill(cx, &region, 6u8)), RegionError::NotOrdered);
        come_after(cx, &recorder, &joined);
        drop(recording);
        // Afterwards, the recorder has still not come after the allocation, and the other one needs
        // not.
        assert_eq!(refused(recorder.fill(cx, &region, 6u8)), RegionError::NotOrdered);
        joined.fill(cx, &region, 6u8).unwrap();
        come_after(cx, &recorder, &joined);
        let recording = recorder.record(cx).unwrap();
        come_after(cx, &joined, &recorder);
        joined.fill(cx, &region, 7u8).unwrap();
        come_after(cx, &recorder, &joined);
        recorder.replay(cx, &recording.end(cx).unwrap()).unwrap();
        assert_eq!(bytes(cx, pool, &recorder, &region), [7; BYTES]);
    });
}

#[test]
fn a_recording_refuses_waits_and_marks_of_others() {
    in_pool(|cx, pool| {
        let queues = [(); 3].map(|()| pool.queue(cx).unwrap());
        let [queue, beside, third] = &queues;
        let region = filled(cx, queue, 5);
        let (eager, replay) = (beside.mark(cx).unwrap(), queue.record(cx).unwrap().end(cx).unwrap());
        let recording = queue.record(cx).unwrap();
        let mark = queue.mark(cx).unwrap();
        assert_eq!(refused(queue.record(cx)), RegionError::Recording);
        assert_eq!(refused(queue.read(cx, &region, pool.pinned(cx, BYTES).unwrap())), RegionError::Recording);
        assert_eq!(refused(queue.replay(cx, &replay)), RegionError::Recording);
        assert_eq!(refused(queue.wait(cx, &eager)), RegionError::OtherRecording);
        assert_eq!(refused(mark.synchronize()), RegionError::Recording);
        assert_eq!(refused(mark.is_done()), RegionError::Recording);
        let other = beside.record(cx).unwrap();
        assert_eq!(refused(beside.wait(cx, &mark)), RegionError::OtherRecording);
        drop(other);
        queue.fill(cx, &region, 6u8).unwrap();
        let replay = recording.end(cx).unwrap();
        assert_eq!(refused(third.wait(cx, &mark)), RegionError::OtherRecording, "it has ended");
        assert_eq!(bytes(cx, pool, queue, &region), [5; BYTES], "nothing ran");
        queue.replay(cx, &replay).unwrap();
        assert_eq!(bytes(cx, pool, queue, &region), [6; BYTES], "nothing was spoiled");
    });
}

#[test]
fn a_recording_that_was_not_joined_fails_and_its_queues_work_again() {
    in_pool(|cx, pool| {
        let (queue, joined) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
        let region = filled(cx, &queue, 5);
        let recording = queue.record(cx).unwrap();
        come_after(cx, &joined, &queue);
        let inside = joined.alloc(cx, BYTES).unwrap();
        joined.fill(cx, &inside, 6u8).unwrap();
        let RegionError::Driver(error) = refused(recording.end(cx)) else { panic!("another error") };
        assert!(error.is_capture(), "{error}");
        come_after(cx, &joined, &queue);
        joined.fill(cx, &region, 7u8).unwrap();
        assert_eq!(bytes(cx, pool, &joined, &region), [7; BYTES]);
        // Dropped, one that was joined leaves nothing either.
        let recording: Recording = queue.record(cx).unwrap();
        queue.fill(cx, &region, 8u8).unwrap();
        drop(recording);
        assert_eq!(bytes(cx, pool, &joined, &region), [7; BYTES]);
        assert_eq!(bytes(cx, pool, &queue, &region), [7; BYTES]);
    });
}

fn pool_and_queue(context: &Shared<ContextRef>) -> (Pool, Queue) {
    let made = context.enter(|cx| {
        let pool = Pool::new(cx);
        let queue = pool.queue(cx)?;
        Ok((pool, queue))
    });
    made.unwrap()
}

#[test]
fn recordings_move_between_threads() {
    in_modes!(LATE, recordings_move_between_threads, || {
        let context = shared_context();
        let (pool, queue) = pool_and_queue(&context);
        let on_a_thread = |body: &(dyn Fn(&Current<'_, 'static>) + Sync)| {
            std::thread::scope(|scope| {
                scope
                    .spawn(|| {
                        context
                            .enter(|cx| {
                                body(cx);
                                Ok(())
                            })
                            .unwrap()
                    })
                    .join()
                    .unwrap();
            });
        };
        let recording = std::sync::Mutex::new(None);
        let replay = std::sync::Mutex::new(None::<Replay>);
        let region = context.enter(|cx| Ok(filled(cx, &queue, 5))).unwrap();
        on_a_thread(&|cx| *recording.lock().unwrap() = Some(queue.record(cx).unwrap()));
        on_a_thread(&|cx| queue.fill(cx, &region, 6u8).unwrap());
        on_a_thread(&|cx| {
            let recording = recording.lock().unwrap().take().unwrap();
            *replay.lock().unwrap() = Some(recording.end(cx).unwrap());
        });
        on_a_thread(&|cx| {
            let player = pool.queue(cx).unwrap();
            let replay = replay.lock().unwrap().take().unwrap();
            player.replay(cx, &replay).unwrap();
            drop(replay);
            come_after(cx, &queue, &player);
        });
        let read = context.enter(|cx| Ok(bytes(cx, &pool, &queue, &region))).unwrap();
        assert_eq!(read, [6; BYTES]);
    });
}

/// Rounds in which a recording begins and ends while another thread queues work.
const ROUNDS: usize = 12;

#[test]
fn work_of_another_thread_is_kept_if_it_is_recorded() {
    const MODES: &[&[(&str, &str)]] =
        &[&[("CUPRUM_EMULATOR_MODE", "eager")], &[("CUPRUM_EMULATOR_MODE", "deferred")]];
    in_modes!(MODES, work_of_another_thread_is_kept_if_it_is_recorded, || {
        let context = shared_context();
        let (pool, queue) = pool_and_queue(&context);
        let over = AtomicBool::new(false);
        let replays = std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let work = |cx: &mut Current<'_, 'static>| {
                        while !over.load(Ordering::Relaxed) {
                            // Dropped at once: only a recording keeps it.
                            let region = queue.alloc(cx, BYTES).unwrap();
                            queue.fill(cx, &region, 7u8).unwrap();
                            // The deferred mode keeps all of it till the end.
                            std::thread::sleep(std::time::Duration::from_micros(20));
                        }
                        Ok(())
                    };
                    context.enter(work).unwrap();
                });
            }
            let rounds = context.enter_as(|cx| {
                let round = |_| {
                    let recording = queue.record(cx)?;
                    std::thread::sleep(std::time::Duration::from_micros(300));
                    let replay = recording.end(cx);
                    std::thread::sleep(std::time::Duration::from_micros(300));
                    replay
                };
                (0..ROUNDS).map(round).collect::<Result<Vec<Replay>, RegionError>>()
            });
            over.store(true, Ordering::Relaxed);
            rounds.unwrap()
        });
        let changed = context.enter(|cx| {
            synchronize(cx, &queue);
            let victims: Vec<_> = (0..100).map(|_| filled(cx, &queue, 1)).collect();
            replays.iter().for_each(|replay| queue.replay(cx, replay).unwrap());
            let is_changed = |region: &&_| bytes(cx, &pool, &queue, region) != [1; BYTES];
            Ok(victims.iter().filter(is_changed).count())
        });
        assert_eq!(changed.unwrap(), 0, "regions that a replay has written, which nothing kept");
    });
}
