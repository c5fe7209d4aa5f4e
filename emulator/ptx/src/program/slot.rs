//! Storage for a runner's translation of a kernel.

use std::any::Any;
use std::sync::OnceLock;

/// A value that the runner derives from a kernel once. The program does not know its type.
#[derive(Debug, Default)]
pub struct Slot(OnceLock<Box<dyn Any + Send + Sync>>);

impl Slot {
    /// Returns the value, created if there is none. Returns `None` if it has another type.
    pub fn get_or_make<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }
}
