//! Contexts: created, retained, borrowed or shared; their common part; and the current one.

mod attach;
pub(crate) mod captures;
mod cause;
mod created;
mod current;
mod default_stream;
mod doubt;
mod enter;
mod entered;
mod foreign;
mod green;
mod open;
mod primary;
mod profiler;
mod record;
mod settings;
mod shared;
pub(crate) mod stack;
mod taken;
mod wait;

use std::fmt;
use std::ptr;
use std::sync::Arc;

use cuprum_sys::{CUcontext, CUdevice, CUgreenCtx, FnId, Library, StreamMode};

pub use self::attach::Attached;
pub(crate) use self::captures::{Beside, Capturing};
use self::cause::Cause;
pub use self::created::{Context, ContextFlags};
pub(crate) use self::current::Token;
pub use self::current::{ContextStack, Current, Limit, MemoryInfo, ToPush};
pub(crate) use self::default_stream::{DefaultStream, Waited};
pub(crate) use self::entered::entered;
pub use self::foreign::ForeignContext;
pub use self::green::GreenContext;
pub use self::primary::PrimaryContext;
pub use self::profiler::Profile;
pub use self::taken::StackTaken;
pub(crate) use self::wait::{wait_for_context, waited_for};

use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::keep::{Keep, Shareable};
use crate::raw::mark::Mark;
use crate::raw::shared::Shared;

/// A context that an object keeps alive: borrowed for `'ctx`, or by a share.
pub(crate) type KeptContext<'ctx> = Keep<'ctx, ContextRef>;

/// A context with any owner. [`Context`], [`PrimaryContext`], [`GreenContext`], [`ForeignContext`]
/// and [shared context](crate::Shared) dereference to it.
///
/// Programs only have references to it. Objects made in a borrowed context carry the lifetime of
/// the borrow, so the context cannot be destroyed before its buffers, streams, events and modules.
///
/// # Keeping it in a struct
///
/// A struct cannot hold a context and a [`Buffer`](crate::Buffer) that borrows it. Objects of a
/// [shared context](crate::Shared) borrow nothing and are `'static`. Such a struct can be moved,
/// sent to a thread, kept in a `static`, and its fields dropped in any order.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::{Buffer, ContextRef};
///
/// /// Accepts any owner of a context, without a token of its caller.
/// fn sum(context: &ContextRef, numbers: &[u32]) -> cuprum::Result<u32> {
///     context.enter(|cx| Ok(Buffer::from_slice(cx, numbers)?.to_vec(cx)?.iter().sum()))
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?;
/// assert_eq!(sum(&context, &[1, 2, 3])?, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContextRef {
    raw: CUcontext,
    device: Device,
    cause: Arc<Cause>,
    /// The handle of a green context, whether this crate made it or not; otherwise null.
    green: CUgreenCtx,
    /// Set if waiting for a copy between this context and another one failed. The driver would not
    /// wait for that copy, so neither objects of this context nor the context are freed from then
    /// on.
    mark: Mark,
    /// Releases the context to the driver; `None` for a foreign context, and after the release.
    end: Option<End>,
    is_shared: bool,
}

type End = fn(&ContextRef) -> Result<(), Error>;

// SAFETY: the driver allows any thread to use a context handle; the rest is plain data and atomics.
unsafe impl Send for ContextRef {}
// SAFETY: as above; only the atomics in it change.
unsafe impl Sync for ContextRef {}

// SAFETY: only `share` sets the flag, on a context in a `Shared`, from which nothing is moved out.
unsafe impl Shareable for ContextRef {
    #[inline]
    fn is_shared(&self) -> bool {
        self.is_shared
    }
}

impl ContextRef {
    pub(crate) fn new(raw: CUcontext, device: Device) -> Self {
        Self::new_green(raw, CUgreenCtx::null(), device)
    }

    fn new_green(raw: CUcontext, green: CUgreenCtx, device: Device) -> Self {
        Self::with_cause(raw, green, device, None)
    }

    /// `primary` is the device if this is its primary context.
    fn with_cause(raw: CUcontext, green: CUgreenCtx, device: Device, primary: Option<CUdevice>) -> Self {
        let cause = Cause::of(device.library(), raw, primary);
        if device.library().stream_mode() == StreamMode::PerThread {
            cause.default_stream.per_thread();
        }
        Self { raw, device, cause, green, mark: Mark::new(), end: None, is_shared: false }
    }

    /// Returns the device of this context.
    pub const fn device(&self) -> Device {
        self.device
    }

    /// Returns the driver that made this context.
    pub const fn driver(&self) -> Driver {
        self.device.driver()
    }

    pub(crate) const fn library(&self) -> Library {
        self.device.library()
    }

    #[inline]
    pub(crate) fn default_stream(&self) -> &DefaultStream {
        &self.cause.default_stream
    }

    /// Returns the driver's handle. It is valid as long as this reference.
    pub const fn as_raw(&self) -> CUcontext {
        self.raw
    }

    /// Returns the first sticky error of this context, after which every call in it fails.
    ///
    /// This crate knows only errors that its own calls returned, through any value that stands for
    /// the context, such as another [`PrimaryContext`] of the device. No driver call.
    #[inline]
    pub fn poisoned_by(&self) -> Option<Error> {
        self.cause.poison.first()
    }

    /// Records the first sticky error. Adds its call to later ones.
    #[cold]
    pub(crate) fn record(&self, error: Error) -> Error {
        self.cause.poison.record(error)
    }

    /// The mark of its memory, for code that lends the memory to work of other contexts.
    #[inline]
    pub(crate) const fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Fails if objects of this context may not be freed: see [`Error::LOST`].
    #[inline]
    pub(crate) fn check_kept(&self, call: FnId) -> Result<(), Error> {
        if self.mark.is_lost() { Err(Error::lost(call)) } else { Ok(()) }
    }

    fn ended_by(self, end: End) -> Self {
        let mut context = self;
        context.end = Some(end);
        context
    }

    fn close(mut self) -> Result<(), Error> {
        self.end.take().map_or(Ok(()), |end| self.ended(end))
    }

    fn share(mut self) -> Shared<Self> {
        self.is_shared = true;
        Shared::new(self)
    }

    /// Releases the context to the driver. Succeeds if the driver is shutting down and has freed
    /// it.
    fn ended(&self, end: End) -> Result<(), Error> {
        match self.check_kept(FnId::cuCtxDestroy_v2).and_then(|()| end(self)) {
            Err(error) if !error.is_deinitialized() => Err(self.record(error)),
            _ => Ok(()),
        }
    }
}

impl Drop for ContextRef {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.end.take().map(|end| self.ended(end)) {
            self.swallow(error);
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

/// Common methods of the owners of a context: dereferencing to it, and keeping it.
macro_rules! context_owner {
    ($name:ident) => {
        impl $name {
            /// Keeps the context until the process ends: objects made in it are `'static`.
            ///
            /// [`share`](Self::share) does the same without leaking the context.
            #[inline]
            pub fn leak(self) -> &'static ContextRef {
                &Box::leak(Box::new(self)).0
            }

            /// Makes the context shared: it ends with its last handle and the last object made in
            /// it.
            #[inline]
            pub fn share(self) -> crate::Shared<ContextRef> {
                self.0.share()
            }
        }

        impl std::ops::Deref for $name {
            type Target = ContextRef;

            fn deref(&self) -> &ContextRef {
                &self.0
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
