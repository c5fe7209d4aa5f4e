//! Streams shared by all their users.

use std::ops::Deref;

use super::Stream;
use crate::context::ContextRef;
use crate::raw::keep::Keep;
use crate::raw::shared::Shared;

impl<'ctx> Stream<'ctx> {
    /// Makes the stream shared: it is destroyed when its last handle and the last memory in its
    /// order are dropped. A shared stream cannot be captured, because no value owns it exclusively.
    /// No driver call.
    #[inline]
    pub fn share(self) -> Shared<Self> {
        Shared::new(self)
    }
}

/// A stream kept alive by memory in its order: borrowed for `'s`, or by a share. It cannot be
/// borrowed mutably meanwhile, so it is not captured.
#[derive(Clone, Debug)]
pub struct KeptStream<'s>(Kept<'s>);

#[derive(Clone, Debug)]
enum Kept<'s> {
    Borrowed(&'s Stream<'s>),
    Shared(Shared<Stream<'s>>),
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
    pub(crate) fn context_kept(&self) -> Keep<'s, ContextRef> {
        self.keep()
    }
}

/// A stream in whose order memory can be allocated: `&Stream`, which stays borrowed while the
/// memory exists, or `&Shared<Stream>`, of which the memory holds a share.
#[diagnostic::on_unimplemented(
    message = "memory cannot be allocated in the order of `{Self}`",
    label = "a `&Stream` or a `&Shared<Stream>` has an order"
)]
pub trait StreamSource<'s> {
    fn stream(&self) -> &Stream<'s>;

    fn kept(self) -> KeptStream<'s>;
}

impl<'s> StreamSource<'s> for &'s Stream<'_> {
    #[inline]
    fn stream(&self) -> &Stream<'s> {
        self
    }

    #[inline]
    fn kept(self) -> KeptStream<'s> {
        KeptStream(Kept::Borrowed(self))
    }
}

impl<'s> StreamSource<'s> for &Shared<Stream<'s>> {
    #[inline]
    fn stream(&self) -> &Stream<'s> {
        self
    }

    fn kept(self) -> KeptStream<'s> {
        KeptStream(Kept::Shared(self.clone()))
    }
}
