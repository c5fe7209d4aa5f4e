//! Room for a runner's translation of a kernel.

use std::any::Any;
use std::sync::OnceLock;

/// A value that the runner of a kernel has made of it, once. The program does not know its type.
#[derive(Debug, Default)]
pub struct Slot(OnceLock<Box<dyn Any + Send + Sync>>);

impl Slot {
    /// The value, made now if there is none. `None` if it is of another type.
    pub fn get_or_make<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }
}
