//! A third library: it keeps its picture, which is another library's, in a struct without a
//! lifetime.

#![allow(clippy::missing_errors_doc, reason = "the errors are the driver's")]

use cuprum::{ContextRef, MemoryError, Shared};
use cuprum_test_gray::Gray;

/// A picture with a frame.
#[derive(Debug)]
pub struct Poster {
    picture: Gray<'static>,
}

impl Poster {
    /// Uploads a picture.
    pub fn new(context: &Shared<ContextRef>, points: &[u8]) -> Result<Self, MemoryError> {
        let picture = context.enter_as(|cx| Gray::new(cx, points))?;
        Ok(Self { picture })
    }

    /// Sets the first and the last point.
    pub fn frame(&mut self, point: u8) -> Result<(), MemoryError> {
        let (mut at, len) = (0, self.picture.points()?.len());
        self.picture.change(|old| {
            at += 1;
            if at == 1 || at == len { point } else { old }
        })
    }

    /// Reads the picture.
    pub fn points(&self) -> Result<Vec<u8>, MemoryError> {
        self.picture.points()
    }
}
