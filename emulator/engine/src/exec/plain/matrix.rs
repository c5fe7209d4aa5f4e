//! Matrix instructions of a warp.
//!
//! The lanes of a warp together contain a matrix. For `mma` the position of each element is
//! documented; for `wmma` it is private, and here row-major element `e` is number `e / 32` of lane
//! `e % 32`.

use super::element::{element, set_element};
use super::product::multiply;
use crate::exec::access::{Request, lane_address, place_near};
use crate::exec::block::{Block, Issue, Stop};
use crate::program::matrix::{Matrix, MatrixMove, MatrixRows, extent, opaque_position};
use crate::report::FaultKind;
use crate::semantics::{LANES, lanes_of};

/// Bytes per row of a tile.
const ROW: u32 = 16;

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
