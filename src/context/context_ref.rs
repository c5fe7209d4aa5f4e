//! The part that all owners of a context have in common.

use std::fmt;
use std::ptr;
use std::sync::Arc;

use cuprum_sys::{CUcontext, CUdevice, CUgreenCtx, FnId, Library, StreamMode};

#[cfg(doc)]
use super::Context;
#[cfg(doc)]
use super::ForeignContext;
#[cfg(doc)]
use super::GreenContext;
#[cfg(doc)]
use super::PrimaryContext;
use super::cause::Cause;
use super::default_stream::DefaultStream;
use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::keep::{Keep, Shareable};
use crate::raw::mark::Mark;
use crate::raw::shared::Shared;

/// A context that an object keeps alive: borrowed for `'ctx`, or by a share.
pub(crate) type KeptContext<'ctx> = Keep<'ctx, ContextRef>;

/// A context with any owner. [`Context`], [`PrimaryContext`], [`GreenContext`], [`ForeignContext`]
/// and a [shared context](crate::Shared) dereference to it.
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
    pub(super) green: CUgreenCtx,
    /// Set if waiting for a copy between this context and another one failed. The driver would not
    /// wait for that copy, so neither objects of this context nor the context are freed from then
    /// on.
    mark: Mark,
    /// Releases the context to the driver; `None` for a foreign context, and after the release.
    end: Option<End>,
    is_shared: bool,
}

pub(super) type End = fn(&ContextRef) -> Result<(), Error>;

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

    pub(super) fn new_green(raw: CUcontext, green: CUgreenCtx, device: Device) -> Self {
        Self::with_cause(raw, green, device, None)
    }

    /// `primary` is the device if this is its primary context.
    pub(super) fn with_cause(
        raw: CUcontext,
        green: CUgreenCtx,
        device: Device,
        primary: Option<CUdevice>,
    ) -> Self {
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

    pub(super) fn ended_by(self, end: End) -> Self {
        let mut context = self;
        context.end = Some(end);
        context
    }

    pub(super) fn close(mut self) -> Result<(), Error> {
        self.end.take().map_or(Ok(()), |end| self.ended(end))
    }

    pub(super) fn share(mut self) -> Shared<Self> {
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
