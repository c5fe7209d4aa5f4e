//! The regions that accesses by pointers of a launch should hit.
//!
//! Most addresses are computed from one parameter or variable. Its region is found before the
//! launch runs, so machine code reads its bounds once for all accesses, and they stay the same in
//! loops. An access that leaves the region is looked up each time.

use crate::exec::block::Block;
use crate::exec::block::cached::Reach;
use crate::memory::Region;
use crate::program::instruction::{Constant, Op};
use crate::program::{Kernel, effects};
use crate::ptx::Space;
use crate::semantics::{Register, Width};
use std::collections::HashMap;

/// Origin of a register that may contain an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// No pointer, as far as known.
    Number,
    /// Computed from the constant in this row.
    Root(u32),
    Unknown,
}

impl Origin {
    fn join(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Number, one) | (one, Origin::Number) => one,
            (Origin::Root(a), Origin::Root(b)) if a == b => self,
            _ => Origin::Unknown,
        }
    }
}

/// Accesses of one size by one root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Limit {
    root: usize,
    bytes: u32,
    write: bool,
}

/// Positions of the words about an access in the list that [`Roots::fill`] writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Device address of the region, and the host address after it.
    pub(super) base: usize,
    /// Number of accesses that fit, and after it the number of places for four in a row.
    pub(super) limit: usize,
}

/// The roots of a kernel's addresses.
#[derive(Debug, Default)]
pub(super) struct Roots {
    rows: Vec<u32>,
    limits: Vec<Limit>,
    of_access: HashMap<u32, usize>,
}

impl Roots {
    pub(super) fn of(kernel: &Kernel) -> Roots {
        let origins = origins(kernel);
        let mut roots = Roots::default();
        for (pc, instruction) in kernel.code.iter().enumerate() {
            let (space, address, bytes, write) = match &instruction.op {
                Op::Load(access) | Op::Store(access) => {
                    let bytes = access.total_bytes();
                    (access.space, &access.address, bytes, matches!(instruction.op, Op::Store(_)))
                }
                Op::Atomic(atomic) => (atomic.space, &atomic.address, atomic.ty.bytes(), true),
                _ => continue,
            };
            let Origin::Root(row) = origins[address.base.0 as usize] else { continue };
            if address.width != Width::Double || !matches!(space, None | Some(Space::Global | Space::Const)) {
                continue;
            }
            let root = position(&mut roots.rows, row);
            let limit = position(&mut roots.limits, Limit { root, bytes, write });
            roots.of_access.insert(pc as u32, limit);
        }
        roots
    }

    /// Returns the bounds of an access, if its region is known before the launch.
    pub(super) fn bounds(&self, pc: u32) -> Option<Bounds> {
        let limit = *self.of_access.get(&pc)?;
        Some(Bounds { base: 2 * self.limits[limit].root, limit: 2 * (self.rows.len() + limit) })
    }

    /// Finds the regions for a launch.
    pub(super) fn fill(&self, block: &mut Block<'_, '_>) {
        let launch = block.launch;
        let region_of = |row: &u32| -> Option<&Region> {
            let (.., value) = launch.uniform.iter().find(|(register, ..)| *register == Register(*row))?;
            let region = launch.map.find(*value)?;
            let usable = region.reachable && launch.hooks.reaches(region) && is_written(region);
            usable.then_some(region)
        };
        let regions: Vec<_> = self.rows.iter().map(region_of).collect();
        let words = &mut block.machine.bounds;
        words.clear();
        for region in &regions {
            words.extend(region.map_or([0; 2], |region| [region.base, region.host.addr() as u64]));
        }
        for Limit { root, bytes, write } in &self.limits {
            let bytes = u64::from(*bytes);
            let usable = regions[*root].filter(|region| region.writable || !write);
            let usable = usable.filter(|region| region.base % bytes == 0);
            let limit = usable.map_or(0, |region| region.len / bytes);
            words.extend([limit, Reach::row_limit(limit)]);
        }
    }
}

/// True if no access has to test or record which bytes of a region are written.
fn is_written(region: &Region) -> bool {
    region.init.as_ref().is_none_or(|init| init.is_complete())
}

fn position<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    let known = list.iter().position(|known| *known == item);
    known.unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

/// Maximum number of passes over a kernel.
const MOST_PASSES: usize = 8;

/// Returns the origins of all registers, whatever the order in which instructions run.
fn origins(kernel: &Kernel) -> Vec<Origin> {
    let mut origins = vec![Origin::Number; kernel.rows as usize];
    for (register, width, constant) in &kernel.constants {
        let pointer = matches!(constant, Constant::Param { bytes: 8, .. } | Constant::Global { .. });
        if *width == Width::Double && pointer {
            origins[register.0 as usize] = Origin::Root(register.0);
        }
    }
    // Origins that need more passes than this are wrong, which costs time and changes no result.
    for _ in 0..MOST_PASSES {
        let mut changed = false;
        for instruction in &kernel.code {
            let origin = |register: &Register| origins[register.0 as usize];
            let of_result = match &instruction.op {
                Op::Pure { info, sources, .. } => {
                    let wide = sources.iter().zip(info.sources).filter(|(_, width)| *width == Width::Double);
                    wide.map(|(source, _)| origin(source)).fold(Origin::Number, Origin::join)
                }
                Op::Select { a, b, .. } => origin(a).join(origin(b)),
                _ => Origin::Unknown,
            };
            effects::writes(instruction, &mut |register, width| {
                let known = &mut origins[register.0 as usize];
                let joined = if width == Width::Double { known.join(of_result) } else { *known };
                changed |= joined != *known;
                *known = joined;
            });
        }
        if !changed {
            break;
        }
    }
    origins
}
