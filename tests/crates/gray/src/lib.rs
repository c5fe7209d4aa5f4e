//! Somebody's library: it keeps the context in which it was used first, be it borrowed or shared, and asks neither who
//! called it nor what is current.

use cuprum::{Buffer, Current, KeptContext, MemoryError};

/// A picture on the device, of one byte per point.
#[derive(Debug)]
pub struct Gray<'ctx> {
    context: KeptContext<'ctx>,
    points: Buffer<'ctx, u8>,
}

impl<'ctx> Gray<'ctx> {
    /// Uploads a picture to the current context.
    ///
    /// # Errors
    /// As the driver says.
    pub fn new(cx: &Current<'_, 'ctx>, points: &[u8]) -> Result<Self, MemoryError> {
        Ok(Self { context: cx.keep(), points: Buffer::from_slice(cx, points)? })
    }

    /// Reads the picture.
    ///
    /// # Errors
    /// As the driver says.
    pub fn points(&self) -> Result<Vec<u8>, MemoryError> {
        self.context.enter(|cx| self.points.to_vec(cx))?
    }

    /// Replaces each point by what `change`, the caller's code, makes of it. It runs while the context is current.
    ///
    /// # Errors
    /// As the driver says.
    pub fn change(&mut self, change: impl FnMut(u8) -> u8) -> Result<(), MemoryError> {
        self.context.enter(|cx| {
            let points: Vec<u8> = self.points.to_vec(cx)?.into_iter().map(change).collect();
            self.points.copy_from_host(cx, &points)
        })?
    }
}
