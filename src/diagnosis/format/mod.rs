//! The formats of code: what an image begins with, how long it says it is, and whether all of it is there.

mod bytes;
mod cubin;
mod fatbin;
mod ptx;

#[cfg(test)]
mod tests;

pub(super) use self::cubin::cubin;
pub(super) use self::fatbin::{FATBIN, fatbins};
pub(super) use self::ptx::ptx;
