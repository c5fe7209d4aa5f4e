//! Memory in the order of a stream, lent to a scope on that stream.

use super::StreamBuffer;
use crate::launch::addresses;
use crate::memory::{DeviceData, MemoryError};
use crate::stream::{Lent, LentShared, Scope};

impl<'scope> Scope<'scope, '_> {
    /// Lends memory in the order of this scope's stream, to be used any number of times in order. No driver call.
    ///
    /// # Errors
    /// [`MemoryError::NotInOrder`] if the memory is in the order of another stream;
    /// [`Error::is_wrong_context`](crate::Error::is_wrong_context).
    pub fn lend_ordered<T: DeviceData>(
        &self,
        memory: &'scope mut StreamBuffer<'_, T>,
    ) -> Result<Lent<'scope, T>, MemoryError> {
        self.lend_ordered_shared(memory).map(Lent::new)
    }

    /// Lends memory in the order of this scope's stream to be read. No driver call.
    ///
    /// # Errors
    /// Those of [`lend_ordered`](Scope::lend_ordered).
    pub fn lend_ordered_shared<T: DeviceData>(
        &self,
        memory: &'scope StreamBuffer<'_, T>,
    ) -> Result<LentShared<'scope, T>, MemoryError> {
        let (stream, token) = self.in_order(memory.stream())?;
        Ok(LentShared::new(memory.as_raw(), memory.len(), stream, token))
    }
}

addresses! {
    In <- &StreamBuffer<'_, T>;
    InOut <- &mut StreamBuffer<'_, T>;
}
