//! Contexts: created, retained, borrowed or shared, their common part, and the current one.

mod captures;
mod created;
mod current;
mod doubt;
mod enter;
mod foreign;
mod green;
mod open;
mod primary;
mod profiler;
mod settings;
mod shared;
pub(crate) mod stack;
mod taken;

use std::fmt;
use std::ptr;
use std::sync::atomic::AtomicUsize;

use cuprum_sys::{CUcontext, CUgreenCtx, Library};

pub(crate) use self::captures::beside_captures;
pub use self::created::{Context, ContextFlags};
pub(crate) use self::current::Token;
pub use self::current::{ContextStack, Current, Limit, MemoryInfo, ToPush};
pub use self::foreign::ForeignContext;
pub use self::green::GreenContext;
pub use self::open::KeptContext;
pub use self::primary::{PrimaryContext, PrimaryState};
pub use self::profiler::Profile;
pub use self::shared::SharedContext;
pub use self::taken::StackTaken;

use crate::device::Device;
use crate::driver::Driver;
use crate::error::{Error, Poison};
use crate::raw::keep::Shareable;

/// A context, whoever owns it: what [`Context`], [`PrimaryContext`], [`GreenContext`], [`ForeignContext`] and
/// [`SharedContext`] dereference to.
///
/// It is only met behind a reference. Objects made in a borrowed context carry the borrow's lifetime, so the context
/// cannot be destroyed while a buffer, stream, event or module of it is alive.
///
/// # Keeping it in a struct
///
/// A struct cannot hold a context and a [`Buffer`](crate::Buffer) that borrows it. Objects made in a [`SharedContext`]
/// borrow nothing and are `'static`: such a struct may be moved, sent to a thread, kept in a `static`, and its fields
/// dropped in any order.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::{Buffer, ContextRef, MemoryError, PrimaryContext};
///
/// /// Takes any owner of a context, and needs no token of its caller.
/// fn sum(context: &ContextRef, numbers: &[u32]) -> Result<u32, MemoryError> {
///     context.enter(|cx| Ok(Buffer::from_slice(cx, numbers)?.to_vec(cx)?.iter().sum()))?
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?;
/// assert_eq!(sum(&context, &[1, 2, 3])?, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContextRef {
    raw: CUcontext,
    device: Device,
    poison: Poison,
    /// Of a [`GreenContext`], whoever made it; null otherwise.
    green: CUgreenCtx,
    /// Only of a [`SharedContext`].
    shares: Option<Shares>,
}

/// Additional state of a shared context.
struct Shares {
    count: AtomicUsize,
    /// Gives the context back to the driver.
    end: fn(&ContextRef) -> Result<(), Error>,
}

// SAFETY: the driver allows any thread to use a context handle; the rest is plain data and atomics.
unsafe impl Send for ContextRef {}
// SAFETY: as above; nothing in it changes but the atomics.
unsafe impl Sync for ContextRef {}

// SAFETY: `shares` is set once, by `SharedContext`, which puts the context into a box that the shares own.
unsafe impl Shareable for ContextRef {
    #[inline]
    fn shares(&self) -> Option<&AtomicUsize> {
        self.shares.as_ref().map(|shares| &shares.count)
    }

    fn end(&self) {
        if let Some(shares) = &self.shares {
            self.end_with(shares.end);
        }
    }
}

impl ContextRef {
    pub(crate) const fn new(raw: CUcontext, device: Device) -> Self {
        Self::new_green(raw, CUgreenCtx::null(), device)
    }

    const fn new_green(raw: CUcontext, green: CUgreenCtx, device: Device) -> Self {
        Self { raw, device, poison: Poison::new(), green, shares: None }
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

    /// The first sticky error of this context, after which it answers nothing else, if there was one.
    ///
    /// Only answers seen through this crate are known here. No driver call is made.
    #[inline]
    pub fn poisoned_by(&self) -> Option<Error> {
        self.poison.first()
    }

    /// Remembers `error` if it is the first sticky one; gives it the name of the first otherwise.
    #[cold]
    pub(crate) fn record(&self, error: Error) -> Error {
        self.poison.record(error)
    }

    /// Gives the context back to the driver in a `Drop`.
    fn end_with(&self, end: fn(&Self) -> Result<(), Error>) {
        if let Err(error) = self.ended(end) {
            self.swallow(error);
        }
    }

    /// Gives the context back to the driver. One that is shutting down has freed everything: that is success.
    fn ended(&self, end: fn(&Self) -> Result<(), Error>) -> Result<(), Error> {
        match end(self) {
            Err(error) if !error.is_deinitialized() => Err(self.record(error)),
            _ => Ok(()),
        }
    }
}

impl PartialEq for ContextRef {
    #[inline]
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

/// Common part of the owners of a context: dereferencing to the context, a drop that gives it back, and `close`.
macro_rules! context_owner {
    ($name:ident, $end:path) => {
        impl $name {
            /// Keeps the context for the rest of the process: objects made in it are `'static`.
            ///
            /// [`share`](Self::share) does the same without keeping the context for ever.
            #[inline]
            pub fn leak(self) -> &'static ContextRef {
                &Box::leak(Box::new(self)).0
            }

            /// Makes the context shared: it ends when the last of its handles, and of all made in it, is dropped.
            #[inline]
            pub fn share(self) -> super::SharedContext {
                let mut this = std::mem::ManuallyDrop::new(self);
                let none = ContextRef::new(cuprum_sys::CUcontext::null(), this.0.device);
                super::SharedContext::new(std::mem::replace(&mut this.0, none), $end)
            }
        }

        impl std::ops::Deref for $name {
            type Target = ContextRef;

            fn deref(&self) -> &ContextRef {
                &self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                self.0.end_with($end);
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.0).finish()
            }
        }
    };
}

use context_owner;
