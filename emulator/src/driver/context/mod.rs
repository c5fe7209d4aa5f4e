//! Contexts: their state and objects, the current context, primary contexts, and leaks.

mod alive;
mod calls;
mod config;
mod current;
mod heap;
mod leak;
mod object;
mod peer;
mod primary;
mod settings;

use crate::driver::call::Builder;

pub(crate) use alive::{alive, tell_held};
pub(crate) use current::{current, current_part};
pub(crate) use heap::Heap;
pub(crate) use leak::LEAKS;
pub(crate) use object::{CONTEXTS, Context, GreenPart, other_context};
pub(crate) use primary::{release_part, retain_part};

pub(crate) fn install(builder: &mut Builder) {
    calls::install(builder);
    peer::install(builder);
    primary::install(builder);
    settings::install(builder);
}
