//! The refusal of a second token of one stack.

/// The thread's [`ContextStack`](super::ContextStack) is out already: pass the token on, push from the
/// [`Current`](super::Current) in hand, or [enter](super::ContextRef::enter).
///
/// # Example
/// ```
/// use cuprum::context::{ContextStack, StackTaken};
///
/// let stack = ContextStack::take()?;
/// assert_eq!(ContextStack::take().err(), Some(StackTaken));
/// drop(stack);
/// assert!(ContextStack::take().is_ok());
/// # Ok::<(), StackTaken>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this thread's context stack is taken: push from the token that is in use, or use `ContextRef::enter`"
)]
pub struct StackTaken;
