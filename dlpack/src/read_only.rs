//! Device memory that is only read.

use std::ops::Deref;

use cuprum::memory::{DeviceData, ForeignBuffer};

/// A buffer on memory of a tensor that must not be written. It dereferences to the buffer, and
/// never lends it mutably.
///
/// Example: see [`Tensor::into_read_only_buffer`](crate::Tensor::into_read_only_buffer).
#[derive(Debug)]
pub struct ReadOnlyBuffer<'ctx, T: DeviceData>(pub(crate) ForeignBuffer<'ctx, T>);

/// No `DerefMut`, because other code reads the memory.
impl<'ctx, T: DeviceData> Deref for ReadOnlyBuffer<'ctx, T> {
    type Target = ForeignBuffer<'ctx, T>;

    #[inline]
    fn deref(&self) -> &ForeignBuffer<'ctx, T> {
        &self.0
    }
}
