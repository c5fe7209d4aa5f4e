//! Memory and semaphores of other APIs, by file descriptor.

mod install;
mod memory;
mod refused;
mod semaphore;

pub(crate) use install::install;
pub(crate) use semaphore::{Params, Semaphores, Step};
