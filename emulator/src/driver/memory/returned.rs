//! Counts when pools return memory: by a trim, at their end, or by a free without a stream.

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
