//! The refusal of a second token of one stack.

use std::fmt;

/// The thread's [`ContextStack`](super::ContextStack) is out already: pass the token on, push from the
/// [`Current`](super::Current) in hand, or [enter](super::ContextRef::enter).
///
/// # Example
/// ```
/// use cuprum::{ContextStack, StackTaken};
///
/// let stack = ContextStack::take()?;
/// assert_eq!(ContextStack::take().err(), Some(StackTaken));
/// drop(stack);
/// assert!(ContextStack::take().is_ok());
/// # Ok::<(), StackTaken>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackTaken;

impl fmt::Display for StackTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this thread's context stack is taken: push from the token that is in use, or use `ContextRef::enter`",
        )
    }
}

impl std::error::Error for StackTaken {}
