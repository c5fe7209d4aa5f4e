//! The NaNs in products of matrices.

use super::element::{element, number};
use crate::exec::block::rows::Rows;
use crate::exec::block::warp::Warp;
use crate::exec::check::nans::{Birth, Made, Nans};
use crate::program::matrix::{Element, MatrixProduct, Part};
use crate::program::warp_group::GroupProduct;
use crate::semantics::format::FloatFormat;
use crate::semantics::{LANES, Register, Width, lanes_of};

/// Returns the lanes that contain a NaN in a part of a product.
pub(super) fn of_part(rows: &Rows, product: &MatrixProduct, part: Part) -> u32 {
    let ty = product.ty(part);
    let registers = match part {
        Part::A => &product.a,
        Part::B => &product.b,
        Part::C => &product.c,
        Part::D => &product.d,
    };
    let held = product.elements(part).min(registers.len() as u32 * ty.packed());
    let is_nan = |lane| (0..held).any(|at| number(ty, element(rows, registers, ty, lane, at)).is_nan());
    lanes_of(u32::MAX).filter(|lane| is_nan(*lane)).fold(0, |lanes, lane| lanes | 1 << lane)
}

/// Records the NaNs in the result of a matrix product. `before` are the lanes with NaNs in the
/// sources, `after` those in the result; `known` returns a NaN of a source.
pub(super) fn of_product(
    warp: &mut Warp,
    pc: u32,
    (result, format): (&[Register], FloatFormat),
    [before, after]: [u32; 2],
    known: impl Fn(&Nans, usize) -> Option<Made>,
) {
    for lane in 0..LANES {
        let made = match (after >> lane & 1, before) {
            (0, _) => None,
            (_, 0) => Some((format, Birth { pc, lane, operands: Vec::new() })),
            _ => known(&warp.nans, lane).map(|(_, birth)| (format, birth)),
        };
        result.iter().for_each(|register| warp.nans.set(*register, lane, made.clone()));
    }
}

/// Records the NaNs of a warp group's product. They were computed from numbers unless `among` is
/// true: a source contains a NaN.
#[cold]
pub(super) fn of_group(warp: &mut Warp, pc: u32, product: &GroupProduct, among: bool) {
    let [.., ty] = product.types;
    let Some(format) = format_of(ty) else { return };
    let holds = |lane: usize, rows: &Rows| {
        product.d.iter().any(|register| format.has_nan(rows.get_wide(*register, Width::Single, lane), 4))
    };
    let after = (0..LANES).filter(|lane| holds(*lane, &warp.rows)).fold(0, |lanes, lane| lanes | 1 << lane);
    let known = |nans: &Nans, lane| product.d.iter().find_map(|register| nans.get(*register, lane).cloned());
    of_product(warp, pc, (&product.d, format), [u32::from(among), after], known);
}

/// Returns the format of an element that can be a NaN.
pub(super) fn format_of(ty: Element) -> Option<FloatFormat> {
    match ty {
        Element::F16 => Some(FloatFormat::F16),
        Element::Bf16 => Some(FloatFormat::Bf16),
        Element::Tf32 | Element::F32 => Some(FloatFormat::F32),
        Element::F64 => Some(FloatFormat::F64),
        Element::S32 | Element::U8 | Element::S8 | Element::U4 | Element::S4 | Element::B1 => None,
        Element::E4m3 | Element::E5m2 => None,
    }
}
