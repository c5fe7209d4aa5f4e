//! Matrix instructions of a warp.
//!
//! The lanes of a warp together contain a matrix. For `mma` the position of each element is
//! documented; for `wmma` it is private, and here row-major element `e` is number `e / 32` of lane
//! `e % 32`. Products are summed in double precision and rounded once; hardware rounds otherwise.

use super::product::multiply;
use crate::exec::access::{Request, lane_address, place_near};
use crate::exec::block::rows::Rows;
use crate::exec::block::{Block, Issue, Stop};
use crate::program::matrix::{
    Element, Matrix, MatrixMove, MatrixProduct, MatrixRows, Part, extent, opaque_position,
};
use crate::report::FaultKind;
use crate::semantics::float8::{E4m3, E5m2, Float8};
use crate::semantics::half::{Bf16, F16, Half};
use crate::semantics::{LANES, Register, Width, float, lanes_of};

/// Bytes per row of a tile.
const ROW: u32 = 16;

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

pub(super) fn nans(rows: &Rows, product: &MatrixProduct, part: Part) -> u32 {
    let ty = product.ty(part);
    let registers = match part {
        Part::A => &product.a,
        Part::B => &product.b,
        Part::C => &product.c,
        Part::D => &product.d,
    };
    let held = product.elements(part).min(registers.len() as u32 * ty.packed());
    let is_nan =
        |lane| (0..held).any(|number| self::number(ty, element(rows, registers, ty, lane, number)).is_nan());
    lanes_of(u32::MAX).filter(|lane| is_nan(*lane)).fold(0, |lanes, lane| lanes | 1 << lane)
}

/// Transposes a tile of 8 x 8 halves. Each lane has two neighbors of a row, and four lanes a row.
fn transpose(tile: &[u32; LANES]) -> [u32; LANES] {
    let half = |row: usize, column: usize| tile[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        half(column + 1, row) << 16 | half(column, row)
    })
}

pub(super) fn matrix(block: &mut Block<'_, '_>, issue: Issue, matrix: &Matrix) -> Result<(), Stop> {
    if issue.active != u32::MAX {
        return Err(block.fault(FaultKind::WrongMembers, issue));
    }
    let rows = &mut block.warps[issue.warp].rows;
    match matrix {
        Matrix::Product(product) => multiply(rows, product),
        Matrix::Transpose { out, value } => {
            *rows.row_mut(*out) = transpose(rows.row(*value));
        }
        Matrix::Rows(tiles) => return move_rows(block, issue, tiles),
        Matrix::Move(fragment) => return move_fragment(block, issue, fragment),
    }
    Ok(())
}

fn move_rows(block: &mut Block<'_, '_>, issue: Issue, tiles: &MatrixRows) -> Result<(), Stop> {
    let MatrixRows { store, space, transposed, cache, .. } = *tiles;
    let mut memory = None;
    for (number, register) in tiles.registers.iter().enumerate() {
        let turned = |tile: &[u32; LANES]| if transposed { transpose(tile) } else { *tile };
        let mut tile = [0; LANES];
        if store {
            tile = turned(block.warps[issue.warp].rows.row(*register));
        }
        for (row, words) in tile.chunks_exact_mut(ROW as usize / size_of::<u32>()).enumerate() {
            let lane = 8 * number + row;
            let address = lane_address(block, issue.warp, &tiles.address, lane);
            let request = match store {
                true => Request::write(space, address, ROW, cache),
                false => Request::read(space, address, ROW, cache),
            };
            let host = place_near(block, issue.at(lane), request, &mut memory)?;
            if store {
                // SAFETY: `place` checked a whole row for writing; the words have as many bytes.
                unsafe { std::ptr::copy_nonoverlapping(words.as_ptr().cast(), host, ROW as usize) };
            } else {
                // SAFETY: `place` checked a whole row; the words have as many bytes.
                unsafe { std::ptr::copy_nonoverlapping(host, words.as_mut_ptr().cast(), ROW as usize) };
            }
        }
        if !store {
            *block.warps[issue.warp].rows.row_mut(*register) = turned(&tile);
        }
    }
    Ok(())
}

fn move_fragment(block: &mut Block<'_, '_>, issue: Issue, fragment: &MatrixMove) -> Result<(), Stop> {
    let [height, width] = extent(fragment.shape, fragment.part);
    let MatrixMove { store, ty, space, cache, .. } = *fragment;
    let bytes = ty.bits().div_ceil(8);
    let elements = height * width / LANES as u32;
    let held = fragment.registers.len() as u32 * ty.packed();
    let mut memory = None;
    for lane in lanes_of(u32::MAX) {
        let base = lane_address(block, issue.warp, &fragment.address, lane);
        let stride = match fragment.stride {
            Some(stride) => block.warps[issue.warp].rows.get(stride, lane),
            None if fragment.by_column => height,
            None => width,
        };
        for number in 0..held {
            // Numbers beyond the number of elements repeat them.
            let [row, column] = opaque_position(width, lane as u32, number % elements);
            let (major, minor) = if fragment.by_column { (column, row) } else { (row, column) };
            let start = (u64::from(major) * u64::from(stride) + u64::from(minor)) * u64::from(ty.bits());
            let address = base.wrapping_add(start / 8);
            let request = match store {
                true => Request::write(space, address, bytes, cache),
                false => Request::read(space, address, bytes, cache),
            };
            let host = place_near(block, issue.at(lane), request, &mut memory)?;
            let rows = &mut block.warps[issue.warp].rows;
            let mut raw = [0u8; 8];
            if store {
                raw = element(rows, &fragment.registers, ty, lane, number).to_le_bytes();
                // SAFETY: the bytes are in memory that may be written; no element has more than 8.
                unsafe { std::ptr::copy_nonoverlapping(raw.as_ptr(), host, bytes as usize) };
            } else {
                // SAFETY: the bytes are in live memory; no element has more than 8.
                unsafe { std::ptr::copy_nonoverlapping(host, raw.as_mut_ptr(), bytes as usize) };
                let bits = u64::from_le_bytes(raw) >> (start % 8);
                set_element(rows, &fragment.registers, ty, lane, number, bits);
            }
        }
    }
    Ok(())
}
