//! Rules of the repository that no compiler checks: consistency of sources and texts, and limits
//! that must not grow.
//!
//! Nothing here needs a device, so that this program is quick to build.

mod arrows_between;

mod allows;
mod arrows;
mod concepts;
mod docs;
mod english;
mod environment;
mod errors;
mod evidence;
mod examples;
mod not_wrapped;
mod packages;
mod pages;
mod porches;
mod prose;
mod ratchet;
mod sizes;
mod twice;

use cuprum_testing::source;
