//! The one way to share: a counted handle of an object that otherwise has one owner.
//!
//! One generic type serves contexts, modules, code libraries, streams and arrays. A method for one
//! kind of shared objects is an inherent method of that instance, such as
//! `Shared<ContextRef>::enter`. The alternatives:
//!
//! - A lifetime in it, `Shared<'a, T>`, would also represent an object borrowed for `'a`, and a
//!   wrapper of a raw handle could keep its context in it. But each `T` that needs a lifetime
//!   already has one, so every struct would state it twice. Such a wrapper keeps an object of this
//!   crate instead, at least its context's default stream
//!   ([`Stream::default_in`](crate::Stream::default_in)), which is entered like the context.
//! - A plain `Arc<T>` could return its content, and would resolve to `ContextRef::enter`, which
//!   borrows, instead of the method for shared contexts.
//! - A separate count in each kind repeats `Arc`: objects of a context, which only know its
//!   address, count there too ([`Keep`](super::keep::Keep)).

use super::debug::debug;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A handle of a shared object: its clones, and all objects made with it, share the object.
///
/// It dereferences to the object. When the last share is dropped, on any thread, the object ends: a
/// context is released, code unloaded, a stream destroyed, an array freed. Exclusive ownership
/// cannot be regained.
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

    /// The address of the allocation, not of a reference: the last share may be taken from it, and
    /// then frees through that address.
    #[inline]
    pub(crate) fn address(&self) -> NonNull<T> {
        // SAFETY: an `Arc` is not null.
        unsafe { NonNull::new_unchecked(Arc::as_ptr(&self.0).cast_mut()) }
    }

    /// A share that is only dropped.
    pub(crate) fn erased<'a>(&self) -> Share<'a>
    where
        T: Send + Sync + 'a,
    {
        let share: Arc<T> = self.0.clone();
        share
    }
}

/// A share of any object, only to be dropped.
pub(crate) type Share<'a> = Arc<dyn Send + Sync + 'a>;

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// No `DerefMut`, because other shares use the object.
impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

debug!([T: fmt::Debug] Shared<T>: |this, f| f.debug_tuple("Shared").field(&**this).finish());
