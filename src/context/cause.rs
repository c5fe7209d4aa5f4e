//! State kept once per context, for all values that stand for it: the first cause of a fault, and
//! whether the default stream may have work.
//!
//! A primary context has one value per retain, and a foreign context one per handle borrowed. The
//! fault that one value reports first explains later errors of all. The state lives as long as any
//! of the values, and not longer, because a later context may get the same handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cuprum_sys::{CUcontext, CUdevice, Library};

use super::default_stream::DefaultStream;
use crate::error::Poison;

/// The first fault of a context in use, and its default stream.
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

/// A context in use, and its device if it is known to be the primary context.
struct InUse(Weak<Cause>, Option<CUdevice>);

/// All contexts in use. Locked when a value is made and for a reset; not locked in a forked child.
static IN_USE: Mutex<Vec<InUse>> = Mutex::new(Vec::new());

fn in_use() -> MutexGuard<'static, Vec<InUse>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cause {
    /// Returns the state of a context. `primary` records it as the primary context of a device.
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

    /// Forgets the fault of a device's primary context after a reset.
    pub(super) fn forget_primary(library: Library, device: CUdevice) {
        let all = in_use();
        let primary = all
            .iter()
            .filter(|InUse(_, of)| *of == Some(device))
            .filter_map(|InUse(cause, _)| cause.upgrade());
        primary.filter(|cause| cause.library.is_same_driver(library)).for_each(|cause| cause.poison.forget());
    }
}
