//! Lists of operations that one call queues.

use std::marker::PhantomData;

use cuprum_sys::CUstream;

use crate::memory::MemoryError;

/// Operations on loans of one stream that one call queues.
pub(super) struct Batch<'scope, R> {
    pub(super) list: Vec<R>,
    stream: Option<CUstream>,
    /// Invariant, as in [`Lent`](super::Lent).
    _scope: PhantomData<&'scope mut &'scope ()>,
}

impl<R> Batch<'_, R> {
    pub(super) const fn new() -> Self {
        Self { list: Vec::new(), stream: None, _scope: PhantomData }
    }

    /// Records the streams of loans. Fails unless all loans are of one stream.
    pub(super) fn accept(&mut self, streams: &[CUstream]) -> Result<(), MemoryError> {
        streams.iter().try_for_each(|&stream| same_stream([*self.stream.get_or_insert(stream), stream]))
    }

    /// Fails unless the loans are of the stream on which the batch is queued.
    pub(super) fn check(&self, stream: CUstream) -> Result<(), MemoryError> {
        same_stream([self.stream.unwrap_or(stream), stream])
    }
}

impl<R> Default for Batch<'_, R> {
    fn default() -> Self {
        Self::new()
    }
}

pub(super) fn same_stream([one, other]: [CUstream; 2]) -> Result<(), MemoryError> {
    if one == other { Ok(()) } else { Err(MemoryError::OtherStream) }
}
