//! Contexts that belong to everything made in them.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::AtomicUsize;

use super::{ContextRef, Current, Shares, enter};
use crate::error::Error;
use crate::raw::keep::{Keep, Near};

/// A handle to a context that is shared: by its clones, and by everything made in it.
///
/// The context goes when the last of them is dropped, whichever that is. Objects made in it are `'static`, so they fit
/// into structs and statics, and may be sent to any thread and dropped in any order. Drops are as with a context that
/// is borrowed: on any thread, silent, once.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::{Buffer, PrimaryContext, SharedContext, Stream};
///
/// struct Doubler {
///     context: SharedContext,
///     stream: Stream<'static>,
///     buffer: Buffer<'static, f32>,
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let (stream, buffer) = context.enter(|cx| Ok::<_, Box<dyn std::error::Error>>((
///     Stream::new(cx)?,
///     Buffer::from_slice(cx, &[1.0f32, 2.0])?,
/// )))??;
/// let doubler = Doubler { context, stream, buffer };
/// std::thread::spawn(move || {
///     let host = doubler.context.enter(|cx| doubler.buffer.to_vec(cx)).unwrap().unwrap();
///     assert_eq!(host, [1.0, 2.0]);
/// }).join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SharedContext(Keep<'static, ContextRef>);

impl SharedContext {
    /// `context` is given up by its owner, which would have ended it with `end`.
    pub(super) fn new(context: ContextRef, end: fn(&ContextRef) -> Result<(), Error>) -> Self {
        let shares = Shares { count: AtomicUsize::new(1), end };
        Self(Keep::first(Box::new(ContextRef { shares: Some(shares), ..context })))
    }

    /// Its address, from the share itself and not from a reference to the context: whoever takes a share of it may be the
    /// last, and frees the context through that address.
    #[inline]
    pub(super) fn as_near(&self) -> Near<'_, ContextRef> {
        self.0.as_near()
    }

    /// Runs `body` with the context current: like [`ContextRef::enter`], but objects made in it are `'static`.
    ///
    /// # Errors
    /// Those of [`ContextRef::enter`].
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    pub fn enter<R>(&self, body: impl FnOnce(&mut Current<'_, 'static>) -> R) -> Result<R, Error> {
        // SAFETY: `enter` drops its token before it returns, and until then this handle, which is borrowed, keeps the
        // context; objects made from the token take shares of their own.
        enter::enter(unsafe { self.as_near().outlived() }, body)
    }
}

impl Deref for SharedContext {
    type Target = ContextRef;

    fn deref(&self) -> &ContextRef {
        &self.0
    }
}

impl fmt::Debug for SharedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedContext").field(&**self).finish()
    }
}
