//! Source lanes of a shuffle, per lane and over whole rows.

use super::LANES;
use super::permute::{self, Permute};
use super::rows::{Extension, for_each_level};

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

/// The lane from which each lane reads, and the lanes that read from their own segment.
#[derive(Clone, Copy, Debug)]
pub struct Sources {
    lanes: [u32; LANES],
    inside: u32,
}

impl Sources {
    /// Returns the sources if all lanes have the same operands.
    #[must_use]
    pub fn of(mode: ShuffleMode, operand: u32, clamp: u32) -> Self {
        sources(mode, &[operand; LANES], &[clamp; LANES])
    }
}

/// A shuffle of all lanes of some warps; registers as offsets in cells.
#[derive(Clone, Debug)]
pub struct Shuffle {
    pub mode: ShuffleMode,
    pub out: u32,
    pub value: u32,
    pub lane: u32,
    pub clamp: u32,
    /// The sources, if they are the same in every run.
    pub fixed: Option<Sources>,
    /// The members that each lane names; `None` if all lanes are known to name the same.
    pub members: Option<u32>,
}

/// Shuffles the rows of these register files. Writes a word for each: the lanes that read from
/// their own segment.
pub type ShuffleRows = unsafe fn(&[*mut u32], &Shuffle, &mut [u32]);

/// Returns the function that shuffles, for this extension.
#[must_use]
pub fn shuffle_function(level: Extension) -> ShuffleRows {
    let index = level as usize;
    match level {
        #[cfg(not(target_arch = "x86_64"))]
        Extension::Baseline => shuffles::<permute::OneByOne>()[index],
        #[cfg(target_arch = "x86_64")]
        Extension::Avx2 => shuffles::<permute::ByEights>()[index],
        #[cfg(all(target_arch = "x86_64", has_avx512))]
        Extension::Avx512 => shuffles::<permute::BySixteens>()[index],
    }
}

/// Shuffles values among lanes with the same number of a group; others read zero. The rest is the
/// operands of each lane. Returns the results, and the lanes that read from their own segment.
#[must_use]
pub fn shuffle_lanes(mode: ShuffleMode, rows: [&[u32; LANES]; 4]) -> ([u32; LANES], u32) {
    const ROWS: usize = 5;
    let [values, lanes, clamps, groups] = rows;
    let mut file = [*values, *lanes, *clamps, *groups, [0; LANES]];
    let [value, lane, clamp, members, out]: [u32; ROWS] = core::array::from_fn(|row| (row * LANES) as u32);
    let shuffle = Shuffle { mode, out, value, lane, clamp, fixed: None, members: Some(members) };
    let run = Extension::detect().map_or(shuffle_rows::<permute::OneByOne> as ShuffleRows, shuffle_function);
    let mut inside = [0];
    // SAFETY: the file has all rows, and the function was chosen for this processor.
    unsafe { run(&[file.as_mut_ptr().cast()], &shuffle, &mut inside) };
    (file[ROWS - 1], inside[0])
}

for_each_level! {
    shuffles[P: Permute]: ShuffleRows = shuffle_rows::<P>(files: &[*mut u32], shuffle: &Shuffle, inside: &mut [u32])
}

/// # Safety
/// The files contain the rows of the shuffle, and the processor has the extension of `P`.
#[inline(always)]
unsafe fn shuffle_rows<P: Permute>(files: &[*mut u32], shuffle: &Shuffle, inside: &mut [u32]) {
    for (file, inside) in files.iter().zip(inside) {
        // SAFETY: guaranteed by the caller.
        let row = |offset: u32| unsafe { &*file.wrapping_add(offset as usize).cast::<[u32; LANES]>() };
        let found;
        let sources = match &shuffle.fixed {
            Some(fixed) => fixed,
            None => {
                found = sources(shuffle.mode, row(shuffle.lane), row(shuffle.clamp));
                &found
            }
        };
        // SAFETY: guaranteed by the caller.
        let mut result = unsafe { P::permute(row(shuffle.value), &sources.lanes) };
        if let Some(members) = shuffle.members {
            // Lanes with the same members cooperate; a lane reads zero from one with others.
            let members = row(members);
            for own in 0..LANES {
                let with = members[sources.lanes[own] as usize % LANES] == members[own];
                result[own] = if with { result[own] } else { 0 };
            }
        }
        *inside = sources.inside;
        // SAFETY: guaranteed by the caller.
        unsafe { file.wrapping_add(shuffle.out as usize).cast::<[u32; LANES]>().write(result) };
    }
}

#[inline(always)]
fn sources(mode: ShuffleMode, lanes: &[u32; LANES], clamps: &[u32; LANES]) -> Sources {
    // The mode is a constant in each of the loops.
    match mode {
        ShuffleMode::Up => sources_of(ShuffleMode::Up, lanes, clamps),
        ShuffleMode::Down => sources_of(ShuffleMode::Down, lanes, clamps),
        ShuffleMode::Butterfly => sources_of(ShuffleMode::Butterfly, lanes, clamps),
        ShuffleMode::Index => sources_of(ShuffleMode::Index, lanes, clamps),
    }
}

#[inline(always)]
fn sources_of(mode: ShuffleMode, operands: &[u32; LANES], clamps: &[u32; LANES]) -> Sources {
    let (mut lanes, mut inside) = ([0; LANES], 0);
    for own in 0..LANES {
        let (source, valid) = shuffle_source(mode, own as u32, operands[own], clamps[own]);
        lanes[own] = source;
        inside |= u32::from(valid) << own;
    }
    Sources { lanes, inside }
}
