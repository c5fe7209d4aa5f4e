//! Marker for types that stay on the thread on which they were made.

use std::marker::PhantomData;

/// Makes its holder neither `Send` nor `Sync`, with a helpful compiler message.
pub(crate) struct ThisThread(PhantomData<*mut ()>);

/// Never implemented. The compiler shows its message if the bound is not met.
#[diagnostic::on_unimplemented(
    message = "tokens of a context stack, and scopes and what is lent to them, stay on their thread",
    label = "a token, or what works by one, would get to another thread here",
    note = "on the other thread, `ContextRef::enter` makes the context current, or `ContextStack::take()?.push(&context)?`"
)]
pub(crate) trait Sendable {}

impl ThisThread {
    pub(crate) const MARK: Self = Self(PhantomData);
}

impl Clone for ThisThread {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for ThisThread {}

// SAFETY: never applies, because nothing implements the trait; it exists for the message. The `for`
// prevents the compiler from refusing a bound that cannot be met.
unsafe impl Send for ThisThread where for<'a> Self: Sendable {}

// SAFETY: as above.
unsafe impl Sync for ThisThread where for<'a> Self: Sendable {}
