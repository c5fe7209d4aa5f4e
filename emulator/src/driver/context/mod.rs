//! Contexts: their state and objects, the current context, primary contexts, and leaks.

mod alive;
mod calls;
mod config;
mod current;
mod heap;
mod install;
mod leak;
mod object;
mod peer;
mod primary;
mod settings;

pub(crate) use alive::{alive, tell_held};
pub(crate) use current::{current, current_part};
pub(crate) use heap::Heap;
pub(crate) use install::install;
pub(crate) use leak::leaks;
pub(crate) use object::{CONTEXTS, Context, GreenPart, other_context};
pub(crate) use primary::{release_part, retain_part};
