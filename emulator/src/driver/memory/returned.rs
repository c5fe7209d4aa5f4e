//! Memory of pools that goes back to its device: by a trim, by the end of the pool, or by a free that is not of a stream.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of calls that returned memory to its device.
static RETURNS: AtomicU64 = AtomicU64::new(0);

/// Number of those calls so far. After the next one, memory that a stream has freed is not there for work that was queued
/// before, as on two H200s; of which pool it was does not matter, since only programs with such a mistake notice.
pub(super) fn returns() -> u64 {
    RETURNS.load(Ordering::Acquire)
}

/// Notes such a call.
pub(super) fn note_return() {
    RETURNS.fetch_add(1, Ordering::AcqRel);
}
