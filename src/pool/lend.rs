//! Memory in the order of a stream, lent to a scope on that stream.

use super::StreamBuffer;
use crate::launch::addresses;
use crate::memory::{DeviceData, MemoryError, Slice, SliceMut};
use crate::raw::seal::Key;
use crate::stream::{Lend, Scope};

/// Lends it to a scope on its own stream, to read and write. No driver call.
impl<'scope, T: DeviceData> Lend<'scope> for &'scope mut StreamBuffer<'_, T> {
    type View = SliceMut<'scope, T>;

    fn lend(self, scope: &Scope<'scope, '_>, _: Key) -> Result<SliceMut<'scope, T>, MemoryError> {
        scope.in_order(self.stream())?;
        Ok(SliceMut::new(self.as_raw(), self.len(), self.stream().near()))
    }
}

/// Lends it to a scope on its own stream, to read. No driver call.
impl<'scope, T: DeviceData> Lend<'scope> for &'scope StreamBuffer<'_, T> {
    type View = Slice<'scope, T>;

    fn lend(self, scope: &Scope<'scope, '_>, _: Key) -> Result<Slice<'scope, T>, MemoryError> {
        scope.in_order(self.stream())?;
        Ok(Slice::new(self.as_raw(), self.len(), self.stream().near()))
    }
}

addresses! {
    In <- &StreamBuffer<'_, T>;
    InOut <- &mut StreamBuffer<'_, T>;
}
