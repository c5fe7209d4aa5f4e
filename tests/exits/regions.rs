//! Regions, reads and replays that are kept with all else.

use cuprum::Current;
use cuprum::region::{Mark, Pinned, Pool, Queue, Read, Region, Replay};

/// One of each, with work in flight.
pub(crate) struct Regions {
    _read: Read,
    _pinned: Pinned,
    _region: Region,
    _mark: Mark,
    _replay: Replay,
    _queue: Queue,
    _pool: Pool,
}

impl Regions {
    pub(crate) fn new(cx: &Current<'_, 'static>) -> Self {
        const BYTES: usize = 1 << 12;
        let pool = Pool::new(cx);
        let (queue, recorded) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
        let region = queue.alloc(cx, BYTES).unwrap();
        queue.fill(cx, &region, 7u8).unwrap();
        drop(queue.read(cx, &region, pool.pinned(cx, BYTES).unwrap()).unwrap());
        let read = queue.read(cx, &region, pool.pinned(cx, BYTES).unwrap()).unwrap();
        let recording = recorded.record(cx).unwrap();
        recorded.fill(cx, &recorded.alloc(cx, BYTES).unwrap(), 8u8).unwrap();
        let replay = recording.end(cx).unwrap();
        queue.replay(cx, &replay).unwrap();
        Self {
            _read: read,
            _pinned: pool.pinned(cx, BYTES).unwrap(),
            _region: region,
            _mark: queue.mark(cx).unwrap(),
            _replay: replay,
            _queue: queue,
            _pool: pool,
        }
    }
}
