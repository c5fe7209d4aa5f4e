//! Device functions of a kernel while it is decoded.

use super::form::Form;
use crate::program::Function;
use crate::semantics::Register;

/// A function that has been decoded, or is queued.
pub(super) struct Unit {
    pub(super) module_index: u32,
    pub(super) params: Vec<(Register, u32)>,
    pub(super) returns: Vec<(Register, u32)>,
    pub(super) function: Function,
}

/// A parameter or result of a device function whose address is taken.
pub(super) struct Spilled<'s> {
    pub(super) name: &'s str,
    pub(super) first: Register,
    pub(super) words: u32,
    pub(super) form: Form,
    pub(super) align: u64,
    pub(super) is_result: bool,
}
