//! Rules of the repository that no compiler checks: what the sources say of themselves, and what must not grow.
//!
//! Nothing here needs a device, so that this program is quick to build.

#[path = "../support/arrows/mod.rs"]
mod arrows_between;
#[path = "../support/source/mod.rs"]
mod source;

mod allows;
mod arrows;
mod docs;
mod english;
mod examples;
mod growth;
mod holes;
mod not_wrapped;
mod packages;
mod pages;
mod pycuda;
mod sizes;
mod structs;
