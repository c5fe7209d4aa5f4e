//! The one way to share: a counted handle of an object that has an owner otherwise.
//!
//! Contexts, modules, libraries of code, streams and arrays each had a type of their own for it, and kernels one more. One
//! generic type serves all: a method for shared objects of one kind is an inherent method of that instance, such as
//! `Shared<ContextRef>::enter`. The alternatives:
//!
//! - A lifetime in it, `Shared<'a, T>`, would also stand for an object that is borrowed for `'a`, and a type that wraps a raw handle
//!   could keep its context in one. But each `T` that needs a lifetime has it already, so that every struct would say it
//!   twice. Such a wrapper keeps an object of this crate instead, at least its context's default stream
//!   ([`Stream::default_in`](crate::Stream::default_in)), which is entered as the context is.
//! - A plain `Arc<T>` gives its content out again, and reaches `ContextRef::enter`, which borrows, and not the one below.
//! - A count in each kind, as before, repeats `Arc`: objects of a context, which know its address alone, count there
//!   too ([`Keep`](super::keep::Keep)).

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A handle of something that is shared: by its clones, and by all that was made with it.
///
/// It dereferences to the object, which ends when the last handle is dropped, on whichever thread: a context is given
/// back, code unloaded, a stream destroyed, an array freed. There is no way back to a sole owner.
///
/// | shared | made by | takes a share |
/// |---|---|---|
/// | [`ContextRef`](crate::ContextRef) | [`open`](crate::open), [`PrimaryContext::share`](crate::context::PrimaryContext::share), [`Context::share`](crate::context::Context::share) | everything made in it, which is `'static` |
/// | [`Module`](crate::Module) | [`Module::share`](crate::Module::share) | each [kernel](Shared::kernel) of it |
/// | [`CodeLibrary`](crate::module::CodeLibrary) | [`CodeLibrary::share`](crate::module::CodeLibrary::share) | each [module](Shared::module) of it |
/// | [`Stream`](crate::Stream) | [`Stream::share`](crate::Stream::share) | memory in its order |
/// | [`Array`](crate::memory::Array), [`MipmappedArray`](crate::memory::MipmappedArray) | their `share` | each texture and surface of it |
///
/// Other objects, such as a function of a module, borrow the handle.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::{Buffer, ContextRef, Shared, Stream};
///
/// struct Doubler {
///     context: Shared<ContextRef>,
///     stream: Stream<'static>,
///     buffer: Buffer<'static, f32>,
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let (stream, buffer) = context.enter(|cx| Ok((
///     Stream::new(cx)?,
///     Buffer::from_slice(cx, &[1.0f32, 2.0])?,
/// )))?;
/// let doubler = Doubler { context, stream, buffer };
/// let thread = std::thread::spawn(move || doubler.context.enter(|cx| Ok(doubler.buffer.to_vec(cx)?)));
/// assert_eq!(thread.join().map_err(|_| "panic")??, [1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    pub(crate) fn new(thing: T) -> Self {
        Self(Arc::new(thing))
    }

    /// The address of the allocation, not of a reference: a share that is taken by it may be the last, and frees
    /// through that address.
    #[inline]
    pub(crate) fn address(&self) -> NonNull<T> {
        // SAFETY: an `Arc` is not null.
        unsafe { NonNull::new_unchecked(Arc::as_ptr(&self.0).cast_mut()) }
    }

    /// A share of which only the drop is of interest.
    pub(crate) fn erased<'a>(&self) -> Share<'a>
    where
        T: Send + Sync + 'a,
    {
        let share: Arc<T> = self.0.clone();
        share
    }
}

/// A share of anything, which is dropped in time.
pub(crate) type Share<'a> = Arc<dyn Send + Sync + 'a>;

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Not `DerefMut`: there are others that use it.
impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&**self).finish()
    }
}
