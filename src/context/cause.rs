//! What is kept once for each context, however many values stand for it: the first cause of a fault, and whether there may
//! be work on the default stream.
//!
//! A primary context has as many values as it is retained, and a foreign one as many as were made of its handle. What one
//! of them reported first explains the later errors of all. It is kept as long as one of them lasts, and so as long as
//! the context does for certain: the same handle may be that of another context afterwards.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cuprum_sys::{CUcontext, CUdevice, Library};

use super::default_stream::DefaultStream;
use crate::error::Poison;

/// The first fault of a context that is in use, and its default stream.
pub(super) struct Cause {
    library: Library,
    context: CUcontext,
    pub(super) poison: Poison,
    pub(super) default_stream: DefaultStream,
}

// SAFETY: the handle is only compared; the rest is plain data and an atomic.
unsafe impl Send for Cause {}
// SAFETY: as above.
unsafe impl Sync for Cause {}

/// A context in use, and the device whose primary one it is known to be.
struct InUse(Weak<Cause>, Option<CUdevice>);

/// All contexts in use. Locked when a value is made, and for a reset; not in a forked child.
static IN_USE: Mutex<Vec<InUse>> = Mutex::new(Vec::new());

fn in_use() -> MutexGuard<'static, Vec<InUse>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cause {
    /// Returns the one of a context, to which `primary` adds that it is the primary one of a device.
    pub(super) fn of(library: Library, context: CUcontext, primary: Option<CUdevice>) -> Arc<Self> {
        let new = || {
            let (poison, default_stream) = (Poison::new(), DefaultStream::default());
            Arc::new(Self { library, context, poison, default_stream })
        };
        if library.forked() {
            return new();
        }
        let mut all = in_use();
        all.retain(|InUse(cause, _)| cause.strong_count() != 0);
        let same = |cause: &Self| cause.context == context && cause.library.is_same_driver(library);
        for InUse(cause, of) in all.iter_mut() {
            if let Some(cause) = cause.upgrade().filter(|cause| same(cause)) {
                *of = of.or(primary);
                return cause;
            }
        }
        let cause = new();
        all.push(InUse(Arc::downgrade(&cause), primary));
        cause
    }

    /// Forgets the fault of a device's primary context, which has become a fresh one.
    pub(super) fn forget_primary(library: Library, device: CUdevice) {
        let all = in_use();
        let primary = all
            .iter()
            .filter(|InUse(_, of)| *of == Some(device))
            .filter_map(|InUse(cause, _)| cause.upgrade());
        primary.filter(|cause| cause.library.is_same_driver(library)).for_each(|cause| cause.poison.forget());
    }
}
