//! Errors of registering host memory.

use std::fmt;

use super::MemoryError;

/// Error of registering memory.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{RegisterError, RegisterFlags, Registered};
///
/// match Registered::new(&cx, vec![0u32; 1000], RegisterFlags::empty()) {
///     Ok(registered) => assert_eq!(registered.len(), 1000),
///     // The vector is returned: copies from it still work, but slower.
///     Err(RegisterError { error, memory: Some(vector) }) => println!("{} elements, {error}", vector.len()),
///     Err(RegisterError { error, memory: None }) => return Err(error.into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(thiserror::Error)]
#[error("{error}")]
#[expect(clippy::exhaustive_structs, reason = "an error with what it gives back")]
pub struct RegisterError<O> {
    /// The error.
    pub error: MemoryError,
    /// The memory; `None` if it is leaked, because the driver may have registered it.
    pub memory: Option<O>,
}

impl<O> fmt::Debug for RegisterError<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = if self.memory.is_some() { "given back" } else { "leaked" };
        f.debug_struct("RegisterError").field("error", &self.error).field("memory", &memory).finish()
    }
}
