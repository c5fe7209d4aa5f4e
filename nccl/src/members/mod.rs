//! Processes that find each other, and notice when one ends.

mod error;
mod frame;
mod join;
mod members;
mod start;
mod world;

pub use self::error::MemberError;
pub use self::members::Members;
pub use self::world::World;
