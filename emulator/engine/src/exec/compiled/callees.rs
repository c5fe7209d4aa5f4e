//! The functions that machine code calls.

use super::backend::{Callee, I32, I64};
use super::context;

/// Their positions in [`all`].
pub(super) const FIND: usize = 0;
pub(super) const ATOMIC: usize = 1;
pub(super) const PURE: usize = 2;
pub(super) const TEST: usize = 3;
/// [`PURE`] for rare cases of a common operation.
pub(super) const PURE_COLD: usize = 4;
pub(super) const KEEP: usize = 5;
pub(super) const CHANGE: usize = 6;
pub(super) const FIND_EACH: usize = 7;
pub(super) const MOVE_ROW: usize = 8;

/// Returns all of them.
pub(super) fn all() -> [Callee; 9] {
    let [find, atomic] = [context::find as *const u8, context::atomic as *const u8];
    let [pure, test] = [context::pure as *const u8, context::test as *const u8];
    let pure_cold = context::pure_cold as *const u8;
    let pure_of = |address, cold| Callee { address, params: &[I64; 5], result: I64, cold };
    [
        Callee { address: find, params: &[I32, I64], result: I64, cold: true },
        Callee { address: atomic, params: &[I64, I32, I64, I64, I64], result: I64, cold: false },
        pure_of(pure, false),
        Callee { address: test, params: &[I64, I64, I64], result: I64, cold: false },
        pure_of(pure_cold, true),
        Callee { address: context::keep as *const u8, params: &[I64, I64, I64], result: I64, cold: false },
        Callee {
            address: context::change_at as *const u8,
            params: &[I64, I32, I64, I64, I64],
            result: I64,
            cold: false,
        },
        Callee {
            address: context::find_each as *const u8,
            params: &[I32, I32, I32],
            result: I64,
            cold: true,
        },
        Callee { address: context::move_row as *const u8, params: &[I32, I32, I64], result: I64, cold: true },
    ]
}
