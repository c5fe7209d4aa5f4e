//! Modifiers of arithmetic: rounding, ranges, and parts of results.

use crate::program::decode::modifiers::Modifiers;
use crate::semantics::PureInfo;
use crate::semantics::float::{DOWN, NEAREST, UP, ZERO};

pub(super) type Found = Option<&'static PureInfo>;

/// Rounding of a floating-point operation, its treatment of subnormal numbers, and its range.
#[derive(Clone, Copy)]
pub(super) struct FloatMode {
    pub(super) rounding: Option<u8>,
    pub(super) ftz: bool,
    pub(super) sat: bool,
}

impl FloatMode {
    pub(super) fn of(modifiers: &mut Modifiers<'_, '_>) -> Self {
        let roundings = [("rn", NEAREST), ("rz", ZERO), ("rm", DOWN), ("rp", UP)];
        FloatMode {
            rounding: modifiers.pick(&roundings),
            ftz: modifiers.flag("ftz"),
            sat: modifiers.flag("sat"),
        }
    }

    pub(super) fn plain(self) -> bool {
        self.rounding.is_none() && !self.ftz && !self.sat
    }
}

/// Variant of `min`, `max`: if NaNs propagate, and if magnitudes are compared and signs multiplied.
#[derive(Clone, Copy)]
pub(super) struct Extremum {
    pub(super) nan: bool,
    pub(super) xor_sign: bool,
}

/// Part of a product that an instruction keeps.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kept {
    Low,
    High,
    Wide,
}
