//! The formats of code: their first bytes, their sizes, and checks that they are complete.

mod bytes;
mod cubin;
mod fatbin;
mod ptx;

pub(super) use self::cubin::cubin;
pub(super) use self::fatbin::{FATBIN, fatbins};
pub(super) use self::ptx::ptx;
