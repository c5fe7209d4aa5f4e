//! Streams that are kept by whoever uses them.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::AtomicUsize;

use super::Stream;
use crate::context::ContextRef;
use crate::raw::keep::{Keep, Shareable};

/// A stream with the number of its handles.
struct Counted<'ctx> {
    stream: Stream<'ctx>,
    shares: AtomicUsize,
}

// SAFETY: the count is there from the start, when `share` puts the stream into a box that the shares own.
unsafe impl Shareable for Counted<'_> {
    fn shares(&self) -> Option<&AtomicUsize> {
        Some(&self.shares)
    }

    /// Dropping what it consists of destroys the stream.
    fn end(&self) {}
}

/// A handle of a stream that is shared: by its clones, and by the memory that was allocated in its order.
///
/// The stream is destroyed when the last of them is dropped. Of a [`SharedContext`](crate::SharedContext) all of it is
/// `'static`. It dereferences to the [`Stream`]; since nobody has that alone any more, it cannot be captured.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::pool::StreamBuffer;
/// use cuprum::stream::SharedStream;
/// use cuprum::{PrimaryContext, SharedContext, Stream};
///
/// struct Filter {
///     scratch: StreamBuffer<'static, f32>,
///     stream: SharedStream<'static>,
///     context: SharedContext,
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let mut filter = context.enter(|cx| -> Result<Filter, Box<dyn std::error::Error>> {
///     let stream = Stream::new(cx)?.share();
///     let scratch = StreamBuffer::alloc(cx, &stream, 100)?;
///     Ok(Filter { scratch, stream, context: context.clone() })
/// })??;
/// filter.context.enter(|cx| filter.scratch.fill(cx, 1.0))??;
/// filter.context.enter(|cx| filter.stream.synchronize(cx))??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedStream<'ctx>(Keep<'ctx, Counted<'ctx>>);

impl<'ctx> Stream<'ctx> {
    /// Makes the stream one that is shared: it is destroyed when the last of its handles and of the memory in its order is
    /// dropped. No driver call.
    #[inline]
    pub fn share(self) -> SharedStream<'ctx> {
        SharedStream(Keep::first(Box::new(Counted { stream: self, shares: AtomicUsize::new(1) })))
    }
}

impl Clone for SharedStream<'_> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'ctx> Deref for SharedStream<'ctx> {
    type Target = Stream<'ctx>;

    #[inline]
    fn deref(&self) -> &Stream<'ctx> {
        &self.0.stream
    }
}

impl fmt::Debug for SharedStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedStream").field(&**self).finish()
    }
}

/// A stream kept alive by what works in its order: borrowed for `'s`, or by a share. As nobody can borrow it mutably
/// meanwhile, it is not captured.
///
/// It is `pub` for a sealed trait that gives it, and met nowhere outside.
#[derive(Clone, Debug)]
pub struct KeptStream<'s>(Kept<'s>);

#[derive(Clone, Debug)]
enum Kept<'s> {
    Borrowed(&'s Stream<'s>),
    Shared(SharedStream<'s>),
}

impl<'s> Deref for KeptStream<'s> {
    type Target = Stream<'s>;

    #[inline]
    fn deref(&self) -> &Stream<'s> {
        match &self.0 {
            Kept::Borrowed(stream) => stream,
            Kept::Shared(stream) => stream,
        }
    }
}

impl<'s> KeptStream<'s> {
    /// The stream's context, kept for something else.
    pub(crate) fn context_kept(&self) -> Keep<'s, ContextRef> {
        self.keep()
    }
}

/// A stream in whose order memory can be allocated: `&Stream`, which stays borrowed as long as the memory is there, or
/// `&SharedStream`, of which the memory takes a share.
///
/// Example: that of [`StreamBuffer`](crate::pool::StreamBuffer), `alloc`.
pub trait StreamSource<'s>: sealed::StreamSource<'s> {}

impl<'s, S: sealed::StreamSource<'s>> StreamSource<'s> for S {}

mod sealed {
    use super::{KeptStream, Stream};

    #[diagnostic::on_unimplemented(
        message = "memory cannot be allocated in the order of `{Self}`",
        label = "a `&Stream` or a `&SharedStream` has an order"
    )]
    pub trait StreamSource<'s> {
        /// The stream, as long as this is there.
        fn stream(&self) -> &Stream<'s>;

        fn kept(self) -> KeptStream<'s>;
    }
}

impl<'s> sealed::StreamSource<'s> for &'s Stream<'_> {
    #[inline]
    fn stream(&self) -> &Stream<'s> {
        self
    }

    #[inline]
    fn kept(self) -> KeptStream<'s> {
        KeptStream(Kept::Borrowed(self))
    }
}

impl<'s> sealed::StreamSource<'s> for &SharedStream<'s> {
    #[inline]
    fn stream(&self) -> &Stream<'s> {
        self
    }

    fn kept(self) -> KeptStream<'s> {
        KeptStream(Kept::Shared(self.clone()))
    }
}
