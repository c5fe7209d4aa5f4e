//! Regions, queues, recordings and replays.
//!
//! A program of its own, because its tests run in children. The device works late, so a value that
//! is returned too early shows each time. `naive` builds the crate once more without its rules.

mod basics;
mod faults;
mod kernels;
mod naive;
mod recordings;
mod reuse;
mod shared;

use cuprum::context::{Context, ContextFlags};
use cuprum::region::{Pinned, Pool, Queue, Region, RegionError};
use cuprum::{ContextRef, Current, Shared};
use cuprum_testing::{child, common, executors};

/// Modes of the software device in which work is done at other times than it is queued.
const LATE: &[&[(&str, &str)]] = &[
    &[("CUPRUM_EMULATOR_MODE", "deferred")],
    &[("CUPRUM_EMULATOR_MODE", "shuffled:1")],
    &[("CUPRUM_EMULATOR_MODE", "shuffled:2")],
    &[("CUPRUM_EMULATOR_MODE", "async")],
];

/// The mode in which no work runs before a wait for it.
const DEFERRED: &[&[(&str, &str)]] = &[&[("CUPRUM_EMULATOR_MODE", "deferred")]];

/// Runs a test of this program in children with each of these environments.
macro_rules! in_modes {
    ($modes:expr, $name:ident, $body:expr) => {
        crate::child::in_children(concat!(module_path!(), "::", stringify!($name)), $modes, $body)
    };
}
use in_modes;

/// A shared context of its own.
fn shared_context() -> Shared<ContextRef> {
    Context::create(common::device(), ContextFlags::empty()).unwrap().share()
}

/// Runs `body` with a pool in a context of its own, and sees to it that nothing was swallowed at
/// the end.
fn in_pool<R>(body: impl FnOnce(&Current<'_, 'static>, &Pool) -> R) -> R {
    let swallowed = cuprum::swallowed::count();
    let context = shared_context();
    let result = context.enter(|cx| Ok(body(cx, &Pool::new(cx)))).unwrap();
    drop(context);
    assert_eq!(cuprum::swallowed::count(), swallowed);
    result
}

/// Returns a function that checks whether the allocation now at an address still exists. Free
/// memory of a device is no evidence, because other tests allocate and free meanwhile.
fn allocated(address: u64) -> impl Fn() -> bool {
    let id = move || common::driver().pointer_info(address).map_or(0, |info| info.id);
    let first = id();
    assert_ne!(first, 0);
    move || id() == first
}

/// Bytes of the regions of these tests.
const BYTES: usize = 4096;

/// A region whose bytes are `value` when its queue has come to that.
fn filled(cx: &Current<'_, 'static>, queue: &Queue, value: u8) -> Region {
    let region = queue.alloc(cx, BYTES).unwrap();
    queue.fill(cx, &region, value).unwrap();
    region
}

/// Waits for all work of a queue so far.
fn synchronize(cx: &Current<'_, 'static>, queue: &Queue) {
    queue.mark(cx).unwrap().synchronize().unwrap();
}

/// The bytes of a region, by a queue that comes after whatever wrote it.
fn bytes(cx: &Current<'_, 'static>, pool: &Pool, queue: &Queue, region: &Region) -> Vec<u8> {
    let to = pool.pinned(cx, region.len()).unwrap();
    queue.read(cx, region, to).unwrap().wait().unwrap().to_vec()
}

/// Page-locked memory with these bytes.
fn staged(cx: &Current<'_, 'static>, pool: &Pool, bytes: &[u8]) -> Pinned {
    let mut pinned = pool.pinned(cx, bytes.len()).unwrap();
    pinned.copy_from_slice(bytes);
    pinned
}

/// Makes a queue come after all that another one was given so far.
fn come_after(cx: &Current<'_, 'static>, queue: &Queue, other: &Queue) {
    queue.wait(cx, &other.mark(cx).unwrap()).unwrap();
}

/// The error of a call that was refused.
fn refused<T>(result: Result<T, RegionError>) -> RegionError {
    result.map(drop).unwrap_err()
}
