//! Matrix products of a warp.
//!
//! The lanes of a warp together contain a matrix. For `mma` the position of each element is
//! documented; for `wmma` it is private, and here row-major element `e` is number `e / 32` of lane
//! `e % 32`. Products are summed in double precision and rounded once; hardware rounds otherwise.

use crate::exec::access::{Request, lane_address, place};
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

/// Returns the row and column of the first of a lane's two elements of a tile.
fn tile_position(lane: usize) -> (usize, usize) {
    (lane / 4, lane % 4 * 2)
}

/// Returns a lane's bits of a tile.
fn tile_word(tile: &[[u16; 8]; 8], lane: usize, transposed: bool) -> u32 {
    let (row, column) = tile_position(lane);
    let pair = match transposed {
        false => [tile[row][column], tile[row][column + 1]],
        true => [tile[column][row], tile[column + 1][row]],
    };
    u32::from(pair[1]) << 16 | u32::from(pair[0])
}

fn gather_tile(rows: &Rows, register: Register, transposed: bool) -> [[u16; 8]; 8] {
    let mut tile = [[0; 8]; 8];
    for lane in 0..LANES {
        let (row, column) = tile_position(lane);
        let word = rows.get(register, lane);
        for (offset, half) in [word as u16, (word >> 16) as u16].into_iter().enumerate() {
            let column = column + offset;
            let [row, column] = if transposed { [column, row] } else { [row, column] };
            tile[row][column] = half;
        }
    }
    tile
}

pub(super) fn matrix(block: &mut Block<'_, '_>, issue: Issue, matrix: &Matrix) -> Result<(), Stop> {
    if issue.active != u32::MAX {
        return Err(block.fault(FaultKind::WrongMembers, issue));
    }
    let rows = &mut block.warps[issue.warp].rows;
    match matrix {
        Matrix::Product(product) => (0..product.groups()).for_each(|group| multiply(rows, product, group)),
        Matrix::Transpose { out, value } => {
            let tile = gather_tile(rows, *value, false);
            (0..LANES).for_each(|lane| rows.set(*out, lane, tile_word(&tile, lane, true)));
        }
        Matrix::Rows(tiles) => return move_rows(block, issue, tiles),
        Matrix::Move(fragment) => return move_fragment(block, issue, fragment),
    }
    Ok(())
}

fn move_rows(block: &mut Block<'_, '_>, issue: Issue, tiles: &MatrixRows) -> Result<(), Stop> {
    let MatrixRows { store, space, transposed, cache, .. } = *tiles;
    for (number, register) in tiles.registers.iter().enumerate() {
        let mut tile = [[0u16; 8]; 8];
        if store {
            tile = gather_tile(&block.warps[issue.warp].rows, *register, transposed);
        }
        for (row, values) in tile.iter_mut().enumerate() {
            let lane = 8 * number + row;
            let address = lane_address(block, issue.warp, &tiles.address, lane);
            let request = match store {
                true => Request::write(space, address, ROW, cache),
                false => Request::read(space, address, ROW, cache),
            };
            let host = place(block, issue.at(lane), request)?.host.cast::<[u16; 8]>();
            if store {
                // SAFETY: `place` checked a whole row for writing.
                unsafe { host.write_unaligned(*values) };
            } else {
                // SAFETY: `place` checked a whole row.
                *values = unsafe { host.read_unaligned() };
            }
        }
        if !store {
            let rows = &mut block.warps[issue.warp].rows;
            (0..LANES).for_each(|lane| rows.set(*register, lane, tile_word(&tile, lane, transposed)));
        }
    }
    Ok(())
}

fn move_fragment(block: &mut Block<'_, '_>, issue: Issue, fragment: &MatrixMove) -> Result<(), Stop> {
    let [height, width] = extent(fragment.shape, fragment.part);
    let MatrixMove { ty, space, cache, .. } = *fragment;
    let bytes = ty.bits().div_ceil(8);
    let elements = height * width / LANES as u32;
    for lane in lanes_of(u32::MAX) {
        let base = lane_address(block, issue.warp, &fragment.address, lane);
        let stride = match fragment.stride {
            Some(stride) => block.warps[issue.warp].rows.get(stride, lane),
            None if fragment.by_column => height,
            None => width,
        };
        let held = fragment.registers.len() as u32 * ty.packed();
        for number in 0..held {
            // Numbers beyond the number of elements repeat them.
            let [row, column] = opaque_position(width, lane as u32, number % elements);
            let (major, minor) = if fragment.by_column { (column, row) } else { (row, column) };
            let start = (u64::from(major) * u64::from(stride) + u64::from(minor)) * u64::from(ty.bits());
            let address = base.wrapping_add(start / 8);
            let rows = &mut block.warps[issue.warp].rows;
            if fragment.store {
                let bits = element(rows, &fragment.registers, ty, lane, number);
                let place = place(block, issue.at(lane), Request::write(space, address, bytes, cache))?;
                // SAFETY: `place` checked the bytes; no element has more than 8.
                unsafe {
                    std::ptr::copy_nonoverlapping(bits.to_le_bytes().as_ptr(), place.host, bytes as usize);
                }
            } else {
                let place = place(block, issue.at(lane), Request::read(space, address, bytes, cache))?;
                let mut raw = [0u8; 8];
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(place.host, raw.as_mut_ptr(), bytes as usize) };
                let bits = u64::from_le_bytes(raw) >> (start % 8);
                let rows = &mut block.warps[issue.warp].rows;
                set_element(rows, &fragment.registers, ty, lane, number, bits);
            }
        }
    }
    Ok(())
}

/// Computes one of the products that an instruction makes at once.
fn multiply(rows: &mut Rows, product: &MatrixProduct, group: u32) {
    let [_, n, k] = product.shape.map(|extent| extent as usize);
    let lanes = || (0..LANES as u32).filter(|lane| product.group_of(*lane) == group);
    let gather = |rows: &Rows, part: Part, registers: &[Register]| {
        let [height, width] = product.extent(part);
        let ty = product.ty(part);
        let mut matrix = vec![0f64; (height * width) as usize];
        for lane in lanes() {
            for index in 0..product.elements(part) {
                let [row, column] = product.position(part, lane, index);
                matrix[(row * width + column) as usize] =
                    number(ty, element(rows, registers, ty, lane as usize, index));
            }
        }
        matrix
    };
    let a = gather(rows, Part::A, &product.a);
    let b = gather(rows, Part::B, &product.b);
    let c = gather(rows, Part::C, &product.c);
    let ty = product.ty(Part::D);
    for lane in lanes() {
        for index in 0..product.elements(Part::D) {
            let [row, column] = product.position(Part::D, lane, index).map(|at| at as usize);
            let factors = (0..k).map(|i| (a[row * k + i], b[i * n + column]));
            let start = c[row * n + column];
            let sum = match ty {
                Element::F64 => factors.fold(start, |sum, (x, y)| x.mul_add(y, sum)),
                _ if product.differ => start + factors.map(|(x, y)| f64::from(x != y)).sum::<f64>(),
                _ => start + factors.map(|(x, y)| x * y).sum::<f64>(),
            };
            let bits = rounded(ty, sum, product.saturate);
            set_element(rows, &product.d, ty, lane as usize, index, bits);
        }
    }
}
