//! Another author's library: it keeps the context in which it was used first, borrowed or shared,
//! and depends neither on its caller nor on the current context.

#![allow(clippy::missing_errors_doc, reason = "the errors are the driver's")]

use cuprum::{Buffer, Current, MemoryError, Stream};

/// A picture on the device, of one byte per point.
#[derive(Debug)]
pub struct Gray<'ctx> {
    /// The default stream, which keeps the context.
    home: Stream<'ctx>,
    points: Buffer<'ctx, u8>,
}

impl<'ctx> Gray<'ctx> {
    /// Uploads a picture to the current context.
    pub fn new(cx: &Current<'_, 'ctx>, points: &[u8]) -> Result<Self, MemoryError> {
        Ok(Self { home: Stream::default_in(cx), points: Buffer::from_slice(cx, points)? })
    }

    /// Reads the picture.
    pub fn points(&self) -> Result<Vec<u8>, MemoryError> {
        self.home.enter_as(|cx| self.points.to_vec(cx))
    }

    /// Replaces each point by the result of `change`, the caller's code. It runs while the context
    /// is current.
    pub fn change(&mut self, change: impl FnMut(u8) -> u8) -> Result<(), MemoryError> {
        self.home.enter_as(|cx| {
            let points: Vec<u8> = self.points.to_vec(cx)?.into_iter().map(change).collect();
            cx.copy(&mut self.points, &points)
        })
    }
}
