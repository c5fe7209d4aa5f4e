//! Contexts: created, retained or borrowed, and what all three have in common.

mod created;
mod foreign;
pub(crate) mod owned;
mod primary;
mod stack;

use std::fmt;
use std::ptr;

use cuprum_sys::{CUcontext, Library};

pub use self::created::{Context, ContextFlags};
pub use self::foreign::ForeignContext;
pub use self::primary::{PrimaryContext, PrimaryState};
pub use self::stack::{ContextStack, Current, Limit, MemoryInfo, StackTaken};

use crate::device::Device;
use crate::driver::Driver;
use crate::error::{Error, Poison};
use crate::swallowed;

/// A context, whoever owns it: what [`Context`], [`PrimaryContext`] and [`ForeignContext`] dereference to.
///
/// It is only met behind a reference, and everything made in it carries that reference's lifetime: a context
/// cannot be destroyed while a buffer, stream, event or module of it is alive.
pub struct ContextRef {
    raw: CUcontext,
    device: Device,
    poison: Poison,
}

// SAFETY: the driver allows any thread to use a context handle; the rest is plain data and an atomic.
unsafe impl Send for ContextRef {}
// SAFETY: as above; nothing in it changes but the atomic.
unsafe impl Sync for ContextRef {}

impl ContextRef {
    pub(crate) const fn new(raw: CUcontext, device: Device) -> Self {
        Self { raw, device, poison: Poison::new() }
    }

    /// The device on which this context lives.
    pub const fn device(&self) -> Device {
        self.device
    }

    /// The driver that made this context.
    pub const fn driver(&self) -> Driver {
        self.device.driver()
    }

    pub(crate) const fn library(&self) -> Library {
        self.device.library()
    }

    /// The driver's handle. It is valid as long as this reference.
    pub const fn as_raw(&self) -> CUcontext {
        self.raw
    }

    /// The first error after which this context answers nothing else, if there was one.
    ///
    /// Only answers seen through this crate are known here. No driver call is made.
    pub fn poisoned_by(&self) -> Option<Error> {
        self.poison.first()
    }

    /// Remembers `error` if it is the first sticky one; gives it the name of the first otherwise.
    #[cold]
    pub(crate) fn record(&self, error: Error) -> Error {
        self.poison.record(error)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn swallow(&self, error: Error) {
        let lost_before = error.first_reported_by().is_some();
        if !error.is_deinitialized() && !lost_before {
            swallowed::tell(error);
        }
    }
}

impl PartialEq for ContextRef {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other) || (self.raw == other.raw && self.driver() == other.driver())
    }
}

impl Eq for ContextRef {}

impl fmt::Debug for ContextRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextRef")
            .field("raw", &self.raw)
            .field("device", &self.device)
            .field("poisoned_by", &self.poisoned_by())
            .finish()
    }
}
