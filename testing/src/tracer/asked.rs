//! A call as the tracer sees it.

use cuprum::sys::FnId;

/// A call on its way through a traced function.
pub(super) struct Asked<'a> {
    /// Number of the traced driver.
    pub(super) driver: usize,
    pub(super) function: FnId,
    /// The C types of the arguments.
    pub(super) types: &'a [&'static str],
    /// The arguments' bits; 0 for a struct that does not fit.
    pub(super) words: &'a [u64],
}
