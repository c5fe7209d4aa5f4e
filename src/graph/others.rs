//! Captured work of other libraries: memory that it uses, and things that have to live as long.

use std::sync::Arc;

use super::capture::Capture;
use super::error::GraphError;
use super::loan::Loan;
use crate::raw::owner::context;

impl<'a> Capture<'_, '_, 'a> {
    context!(|this| this.stream.context());

    /// Checks that memory is lent to the graph of this capture, for a library that queues work on
    /// [the stream](Capture::stream). No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`].
    #[inline]
    pub fn check<M: ?Sized>(&self, memory: Loan<M>) -> Result<(), GraphError> {
        self.shared.kept.borrow().check(memory.place)
    }

    /// Keeps a share of something that captured work of a library uses, until the graph and its
    /// executable are dropped. Of several shares of one thing one is kept. No driver call.
    pub fn keep(&self, share: Arc<impl Send + Sync + 'a>) {
        self.shared.kept.borrow_mut().keep(share);
    }
}
