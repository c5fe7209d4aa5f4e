//! Operations that go on after a fault of their context.
//!
//! On hardware a fault ends kernels, but copies between page-locked host memory and the device that
//! were issued before go on: waits answer the sticky code at once, and the bytes arrive later. On an
//! H200, a wait answered 0.15 s after the fault with half of 16 GiB written, and two seconds later
//! all of it was. Copies of pageable memory are over, or stopped, when a wait answers. Callbacks of
//! streams receive the fault, later than the wait; host functions are not called.
//!
//! A thread of the driver finishes the rest. It takes its time, so that a program which does not
//! expect it has the chance to show so.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cuprum_sys::FnId;

use super::health::Health;
use super::queue::{Job, Left};
use super::stream_key::Ticket;

/// The calls that wait for operations that go on after a fault. All others answer at once.
///
/// Recorded on H200s (`tests/data/goldens/after_fault.txt`): the end of the context stops those operations. Freeing or
/// unregistering host memory answers the fault at once there, and keeps the memory, which goes on being written; here it
/// is memory of the process itself, so those two calls wait.
const AWAIT: &[FnId] = &[
    FnId::cuCtxDestroy,
    FnId::cuCtxDestroy_v2,
    FnId::cuCtxDetach,
    FnId::cuDevicePrimaryCtxRelease,
    FnId::cuDevicePrimaryCtxRelease_v2,
    FnId::cuDevicePrimaryCtxReset,
    FnId::cuDevicePrimaryCtxReset_v2,
    FnId::cuMemFreeHost,
    FnId::cuMemHostUnregister,
];

/// True if a call waits for operations that go on after a fault.
pub(super) fn is_awaited_by(call: FnId) -> bool {
    AWAIT.contains(&call)
}

fn end(left: Left, note: impl Fn(Ticket)) {
    let Job { health, operation, .. } = left.job;
    operation.end_after_fault(&health);
    drop(operation);
    note(left.ticket);
}

/// Ends operations on a thread of their own, in this order; `note` receives each that has ended.
pub(super) fn go_on(left: Vec<Left>, note: impl Fn(Ticket) + Copy + Send + 'static) {
    let left = Arc::new(Mutex::new(left.into_iter()));
    let next =
        |left: &Mutex<std::vec::IntoIter<Left>>| left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = {
        let left = Arc::clone(&left);
        move || {
            while let Some(one) = next(&left) {
                end(one, note);
            }
        }
    };
    if std::thread::Builder::new().name("cuprum-copies".into()).spawn(work).is_err() {
        // Without a thread, they end now.
        while let Some(one) = next(&left) {
            end(one, note);
        }
    }
}

/// Pause of a copy of a broken context after each of its first pieces.
const REST: Duration = Duration::from_millis(10);

/// Number of pieces of a copy that are followed by a pause; a longer copy goes on without.
const RESTS: u64 = 16;

/// Pauses a copy before its piece of this number, if its context is broken.
pub(crate) fn rest_before(piece: u64, health: &Health) {
    if piece < RESTS && health.is_poisoned() {
        std::thread::sleep(REST);
    }
}
