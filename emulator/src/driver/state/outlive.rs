//! Operations that continue after a fault of their context.
//!
//! On hardware a fault ends kernels, but copies issued earlier between page-locked host memory and
//! the device continue: waits return the sticky code immediately, and the bytes arrive later. On an
//! H200, a wait returned 0.15 s after the fault with half of 16 GiB written; two seconds later all
//! of it was. Copies of pageable memory have finished or stopped when a wait returns. Callbacks of
//! streams receive the fault, later than the wait. Host functions are not called.
//!
//! A thread of the driver finishes these operations slowly, so that a program that does not expect
//! them is likely to fail visibly.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cuprum_sys::FnId;

use super::health::Health;
use super::queue::{Job, Left};
use super::stream_key::Ticket;

/// The calls that wait for operations which continue after a fault. All others return immediately.
///
/// Recorded on H200s (`tests/data/goldens/after_fault.txt`): the end of the context stops those
/// operations. Freeing or unregistering host memory returns the fault at once and keeps the memory,
/// which is still being written. Here the process owns the memory, so those two calls wait.
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

/// True if a call waits for operations that continue after a fault.
pub(super) fn is_awaited_by(call: FnId) -> bool {
    AWAIT.contains(&call)
}

fn end(left: Left, note: impl Fn(Ticket)) {
    let Job { health, operation, .. } = left.job;
    operation.end_after_fault(&health);
    drop(operation);
    note(left.ticket);
}

/// Finishes operations on a separate thread, in this order; `note` receives each that has ended.
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
        // If no thread can be started, they end now.
        while let Some(one) = next(&left) {
            end(one, note);
        }
    }
}

/// Pause after each of the first pieces of a copy in a broken context.
const REST: Duration = Duration::from_millis(10);

/// Number of pieces that are followed by a pause.
const RESTS: u64 = 16;

/// Pauses a copy before this piece if its context is broken.
pub(crate) fn rest_before(piece: u64, health: &Health) {
    if piece < RESTS && health.is_poisoned() {
        std::thread::sleep(REST);
    }
}
