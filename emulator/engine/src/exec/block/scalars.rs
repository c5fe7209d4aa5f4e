//! Registers whose value is stored only for the first lane of a warp ([`crate::exec::code`]).

use super::launch::Launch;
use super::rows::Rows;
use super::special::block_value;
use super::thread_index;
use crate::exec::code::MOST_WARPS;
use crate::exec::code::affine::evaluate;
use crate::exec::code::growth::{Growth, Half};
use crate::program::Kernel;
use crate::program::instruction::Special;
use crate::program::memory::RANK_SHIFT;
use crate::semantics::{LANES, Width};

/// Maximum of coefficients. Larger ones could overflow when an address is computed.
const MOST: i64 = 1 << 50;

/// State of a block that scalars need. Kept between launches.
#[derive(Debug, Default)]
pub(in crate::exec) struct Scalars {
    /// For every eight warps, the values of their first lanes.
    pub(in crate::exec) groups: Vec<Rows>,
    pub(in crate::exec) growths: Vec<Growth>,
    /// Layout of the addresses of each access; `None` if they are not aligned.
    pub(in crate::exec) patterns: Vec<Option<[Half; 2]>>,
    /// True if the launch is regular enough.
    pub(in crate::exec) usable: bool,
    numbers: Vec<i64>,
}

impl Scalars {
    /// Updates the state that depends on the constants of a launch. `changed` is true if they
    /// differ from the last launch.
    pub(in crate::exec) fn prepare(&mut self, launch: &Launch<'_>, changed: bool) {
        self.usable = false;
        let Some(affine) = launch.steps.and_then(|steps| steps.affine.as_ref()) else { return };
        let Some(lanes) = lanes(launch.args.block) else { return };
        let fresh = self.groups.is_empty();
        if fresh {
            let groups = (launch.threads as usize).div_ceil(LANES * MOST_WARPS);
            self.groups = (0..groups).map(|group| first_lanes(launch, group)).collect();
        }
        if !changed && !fresh {
            self.usable = !self.growths.is_empty();
            return;
        }
        for (register, width, value) in &launch.uniform {
            self.groups.iter_mut().for_each(|file| file.fill(*register, *width, *value));
        }
        let file = &self.groups[0];
        let row = |register, width| match width {
            Width::Double => file.get_wide(register, width, 0) as i64,
            _ => i64::from(file.get(register, 0) as i32),
        };
        evaluate(&affine.exprs, row, &mut self.numbers);
        self.growths.clear();
        self.patterns.clear();
        for shape in &affine.shapes {
            let coefficients = shape.map(|id| self.numbers[id as usize]);
            if coefficients.iter().any(|number| !(-MOST..=MOST).contains(number)) {
                self.growths.clear();
                return;
            }
            self.growths.push(Growth::of(coefficients, &lanes));
        }
        let accesses = launch.steps.map_or(&[][..], |steps| &steps.accesses);
        let pattern = |(shape, bytes): &(u32, u32)| self.growths[*shape as usize].halves(i64::from(*bytes));
        self.patterns.extend(accesses.iter().map(pattern));
        self.usable = true;
    }

    /// Sets the registers with the block's coordinates and addresses that depend on the block.
    pub(in crate::exec) fn start(&mut self, launch: &Launch<'_>, index: [u32; 3]) {
        for (register, width, special) in &launch.varying {
            if let Some(value) = block_value(launch, *special, index) {
                self.groups.iter_mut().for_each(|file| file.fill(*register, *width, value));
            }
        }
        let start = u64::from(launch.rank(index)) << RANK_SHIFT;
        for (register, width, offset) in &launch.shared_addresses {
            self.groups.iter_mut().for_each(|file| file.fill(*register, *width, start + offset));
        }
    }
}

/// Returns the coordinates of lanes relative to the first, if they are the same in all warps.
fn lanes([x, y, z]: [u32; 3]) -> Option<[[i64; 3]; LANES]> {
    let warp = LANES as u32;
    let plane = x * y;
    let regular = y == 1 && z == 1
        || x % warp == 0
        || warp % x == 0 && (z == 1 || plane % warp == 0 || warp % plane == 0);
    let lanes = core::array::from_fn(|lane| {
        let lane = lane as u32;
        if x % warp == 0 || y == 1 && z == 1 {
            [lane, 0, 0]
        } else if z == 1 || plane % warp == 0 {
            [lane % x, lane / x, 0]
        } else {
            thread_index(lane, [x, y, z])
        }
    });
    regular.then(|| lanes.map(|lane| lane.map(i64::from)))
}

/// Creates a register file of the first lanes of a group, with the values that never change.
#[inline]
fn first_lanes(launch: &Launch<'_>, group: usize) -> Rows {
    let kernel: &Kernel = launch.args.kernel;
    let mut file = Rows::new(kernel.rows, kernel.predicates);
    for (register, width, special) in &launch.varying {
        if let Special::ThreadId(axis) = special {
            for lane in 0..MOST_WARPS {
                let first = ((group * MOST_WARPS + lane) * LANES) as u32;
                let value = thread_index(first, launch.args.block)[*axis as usize];
                file.set_wide(*register, *width, lane, value.into());
            }
        }
    }
    file
}
