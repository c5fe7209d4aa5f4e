//! Room for what others make of a kernel.

use std::any::Any;
use std::sync::OnceLock;

/// What the runner of a kernel has made of it, once. What that is, is no business of the program.
#[derive(Debug, Default)]
pub(crate) struct Slot(OnceLock<Box<dyn Any + Send + Sync>>);

impl Slot {
    /// What is there, made now if nothing is. `None` if it is of another type.
    pub(crate) fn get_or_make<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }
}
