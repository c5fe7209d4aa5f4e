//! Elements of the matrices that the lanes of a warp contain together.

use crate::exec::block::rows::Rows;
use crate::program::matrix::Element;
use crate::semantics::float8::{E4m3, E5m2, Float8};
use crate::semantics::half::{Bf16, F16, Half};
use crate::semantics::{Register, Width, float};

/// Returns the bits of the `element`-th value of a lane in these registers.
pub(super) fn element(rows: &Rows, registers: &[Register], ty: Element, lane: usize, element: u32) -> u64 {
    let register = registers[(element / ty.packed()) as usize];
    if ty == Element::F64 {
        return rows.get_wide(register, Width::Double, lane);
    }
    let word = rows.get(register, lane) >> (ty.bits() * (element % ty.packed()));
    u64::from(word & u32::MAX >> (32 - ty.bits()))
}

pub(super) fn set_element(
    rows: &mut Rows,
    registers: &[Register],
    ty: Element,
    lane: usize,
    element: u32,
    bits: u64,
) {
    let register = registers[(element / ty.packed()) as usize];
    if ty == Element::F64 {
        return rows.set_wide(register, Width::Double, lane, bits);
    }
    let shift = ty.bits() * (element % ty.packed());
    let mask = (u32::MAX >> (32 - ty.bits())) << shift;
    let old = rows.get(register, lane);
    rows.set(register, lane, (old & !mask) | ((bits as u32) << shift & mask));
}

/// Converts a value to a number, exactly.
#[inline(always)]
pub(super) fn number(ty: Element, bits: u64) -> f64 {
    match ty {
        Element::F16 => F16::from_bits(bits as u16).to_f32().into(),
        Element::Bf16 => Bf16::from_bits(bits as u16).to_f32().into(),
        Element::Tf32 => f32::from_bits(bits as u32 & !0x1fff).into(),
        Element::F32 => f32::from_bits(bits as u32).into(),
        Element::F64 => f64::from_bits(bits),
        Element::U8 => f64::from(bits as u8),
        Element::S8 => f64::from(bits as i8),
        Element::S32 => f64::from(bits as i32),
        Element::U4 | Element::B1 => f64::from(bits as u8),
        Element::S4 => f64::from((bits as i8) << 4 >> 4),
        Element::E4m3 => E4m3::decode::<false>(bits as u8).to_f32().into(),
        Element::E5m2 => E5m2::decode::<false>(bits as u8).to_f32().into(),
    }
}

/// Returns the bits of a sum.
#[inline(always)]
pub(super) fn rounded(ty: Element, x: f64, saturate: bool) -> u64 {
    match ty {
        Element::F16 => <F16 as Half>::round::<{ float::NEAREST }>(x).bits().into(),
        Element::F32 => float::canonical(x as f32).to_bits().into(),
        Element::F64 => x.to_bits(),
        // Sums of products of bytes fit in double precision; beyond 32 bits they wrap or saturate.
        _ if saturate => u64::from(x as i32 as u32),
        _ => u64::from(x as i64 as u32),
    }
}
