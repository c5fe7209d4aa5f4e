//! Rules of the repository that no compiler checks: what the sources say of themselves, and what must not grow.

#[path = "../support/arrows/mod.rs"]
mod arrows_between;

mod arrows;
