//! Device memory that is only read.

use std::ops::Deref;

use cuprum::memory::{DeviceData, ForeignBuffer};

/// A buffer on memory of a tensor that must not be written. It dereferences to the buffer, and
/// never lends it mutably.
///
/// ```
/// # cuprum::example!(driver, context);
/// # context.enter(|cx| {
/// use cuprum_dlpack::{ReadOnlyBuffer, Tensor};
///
/// let shared = std::sync::Arc::new(cuprum::Buffer::from_slice(cx, &[1u32, 2, 3])?);
/// let buffer: ReadOnlyBuffer<'_, u32> = Tensor::export(shared, &[3])?.into_read_only_buffer(cx)?;
/// assert_eq!(buffer.as_slice().to_vec(cx)?, [1, 2, 3]);
/// # Ok(()) })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
