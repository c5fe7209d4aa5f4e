//! Counts when pools return memory to their device: by a trim, by the end of a pool, or by a free
//! that is not stream-ordered.

use std::sync::atomic::{AtomicU64, Ordering};

static RETURNS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of calls that returned memory to its device. After the next one, queued work
/// can no longer use memory that a stream has freed, as on two H200s. Calls of all pools count
/// together, because only programs with such a mistake can notice.
pub(super) fn returns() -> u64 {
    RETURNS.load(Ordering::Acquire)
}

/// Counts such a call.
pub(super) fn note_return() {
    RETURNS.fetch_add(1, Ordering::AcqRel);
}
