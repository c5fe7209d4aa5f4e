//! Source lanes of a shuffle, per lane and over whole rows.

use super::LANES;
use super::rows::for_each_level;

/// Mode of `shfl`, which determines the source lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// Returns the lane from which lane `own` reads, and true if it is in the same segment.
#[inline(always)]
pub fn shuffle_source(mode: ShuffleMode, own: u32, operand: u32, clamp: u32) -> (u32, bool) {
    let operand = operand & 31;
    let segment = clamp >> 8 & 31;
    let clamp = clamp & 31;
    let most = (own & segment) | (clamp & !segment);
    let least = own & segment;
    let (source, valid) = match mode {
        ShuffleMode::Up => {
            let source = own.wrapping_sub(operand);
            (source, source as i32 >= most as i32)
        }
        ShuffleMode::Down => (own + operand, own + operand <= most),
        ShuffleMode::Butterfly => (own ^ operand, own ^ operand <= most),
        ShuffleMode::Index => {
            let source = least | (operand & !segment);
            (source, source <= most)
        }
    };
    if valid { (source & 31, true) } else { (own, false) }
}

/// A shuffle of all lanes of a warp; registers as offsets in cells.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    pub mode: ShuffleMode,
    pub out: u32,
    pub value: u32,
    pub lane: u32,
    pub clamp: u32,
    /// The members that each lane names; `None` if all lanes are known to name the same.
    pub members: Option<u32>,
}

/// Shuffles. Returns the lanes that read from their own segment.
pub type ShuffleRows = unsafe fn(*mut u32, &Shuffle) -> u32;

for_each_level! {
    /// Shuffles, by level.
    pub shuffles: ShuffleRows = shuffle_rows(file: *mut u32, what: &Shuffle) -> u32
}

/// # Safety
/// `file` contains the rows of the shuffle.
#[inline(always)]
unsafe fn shuffle_rows(file: *mut u32, shuffle: &Shuffle) -> u32 {
    // SAFETY: guaranteed by the caller.
    let row = |offset: u32| unsafe { *file.wrapping_add(offset as usize).cast::<[u32; LANES]>() };
    let (values, lanes, clamps) = (row(shuffle.value), row(shuffle.lane), row(shuffle.clamp));
    // The mode is a constant in each of the loops.
    let (sources, found) = match shuffle.mode {
        ShuffleMode::Up => sources(ShuffleMode::Up, &lanes, &clamps),
        ShuffleMode::Down => sources(ShuffleMode::Down, &lanes, &clamps),
        ShuffleMode::Butterfly => sources(ShuffleMode::Butterfly, &lanes, &clamps),
        ShuffleMode::Index => sources(ShuffleMode::Index, &lanes, &clamps),
    };
    let mut result = [0; LANES];
    for (cell, source) in result.iter_mut().zip(&sources) {
        *cell = values[*source as usize % LANES];
    }
    if let Some(members) = shuffle.members {
        // Lanes with the same members cooperate; a lane reads zero from a lane with other members.
        let members = row(members);
        for own in 0..LANES {
            let with = members[sources[own] as usize % LANES] == members[own];
            result[own] = if with { result[own] } else { 0 };
        }
    }
    // SAFETY: guaranteed by the caller.
    unsafe { file.wrapping_add(shuffle.out as usize).cast::<[u32; LANES]>().write(result) };
    found
}

#[inline(always)]
fn sources(mode: ShuffleMode, lanes: &[u32; LANES], clamps: &[u32; LANES]) -> ([u32; LANES], u32) {
    let (mut sources, mut valid) = ([0; LANES], 0);
    for own in 0..LANES {
        let (source, inside) = shuffle_source(mode, own as u32, lanes[own], clamps[own]);
        sources[own] = source;
        valid |= u32::from(inside) << own;
    }
    (sources, valid)
}
