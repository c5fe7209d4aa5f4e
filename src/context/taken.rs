//! The error for taking a thread's stack twice.

/// The thread's [`ContextStack`](super::ContextStack) is already taken: pass the token on, push
/// from the [`Current`](super::Current) at hand, or [enter](super::ContextRef::enter).
///
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
#[expect(clippy::exhaustive_structs, reason = "an error that says all by its name")]
pub struct StackTaken;
