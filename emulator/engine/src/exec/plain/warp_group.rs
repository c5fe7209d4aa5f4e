//! `wgmma`: matrix products of a warp group.
//!
//! Each warp computes its own rows of a product: when the product is issued or, with a seed, as
//! late as the wait for it; hardware may do either. The warps of a group synchronize at the wait,
//! as on hardware, so that one of them can report for all that the factors in shared memory are no
//! longer needed. Sums are rounded like in other matrix instructions. Exited lanes have no effect,
//! but exited warps are an error; both as on an H100.
//!
//! Programs must not access a register of a product in progress. If one does, NVIDIA's assembler
//! inserts a wait, so the product ends there here.

use super::Flow;
use super::barrier::split_off;
use super::element::{element, number, rounded, set_element};
use super::product_nans;
use super::tensor_core::{Adder, Factors, add_mixed_rows, positions};
use crate::exec::access::{Request, place};
use crate::exec::block::warp::{LateProduct, Wait};
use crate::exec::block::{Block, Issue, Site, Stop};
use crate::program::effects;
use crate::program::instruction::Op;
use crate::program::matrix::Element;
use crate::program::warp_group::{CORE_ROW, GroupOp, GroupProduct, LeftFactor, ROWS, SharedFactor, WARPS};
use crate::ptx::Space;
use crate::report::FaultKind;
use crate::semantics::{LANES, Width};

pub(super) fn warp_group(block: &mut Block<'_, '_>, issue: Issue, op: &GroupOp) -> Result<Flow, Stop> {
    if issue.active != block.warps[issue.warp].live {
        return Err(block.fault(FaultKind::WrongMembers, issue));
    }
    let group = group_of(issue.warp);
    if block.warps.get(group).is_none_or(|group| group.iter().any(|warp| warp.live == 0)) {
        return Err(block.fault(FaultKind::IncompleteGroup, issue));
    }
    match op {
        GroupOp::Product(product) => begin(block, issue, product)?,
        GroupOp::Commit => block.warps[issue.warp].products.commit(),
        GroupOp::Wait { .. } => return wait(block, issue),
    }
    Ok(Flow::Next)
}

/// Maximum number of products of a warp in progress, whether or not they are waited for.
const MOST_UNDER_WAY: usize = 1024;

fn group_of(warp: usize) -> std::ops::Range<usize> {
    let first = warp / WARPS * WARPS;
    first..first + WARPS
}

/// Computes a product, or records that it is due.
fn begin(block: &mut Block<'_, '_>, issue: Issue, product: &GroupProduct) -> Result<(), Stop> {
    let rows = &block.warps[issue.warp].rows;
    let lane = issue.active.trailing_zeros() as usize;
    let descriptor = |factor: &SharedFactor| rows.get_wide(factor.descriptor, Width::Double, lane);
    let a = match &product.a {
        LeftFactor::Shared(factor) => descriptor(factor),
        LeftFactor::Registers(_) => 0,
    };
    let operands = LateProduct {
        pc: issue.pc,
        descriptors: [a, descriptor(&product.b)],
        accumulates: rows.holds(product.accumulates) >> lane & 1 != 0,
    };
    if block.launch.options.seed.is_some() {
        block.warps[issue.warp].products.push(operands);
        if block.warps[issue.warp].products.under_way().count() > MOST_UNDER_WAY {
            end(block, issue.warp, 1)?;
        }
        return Ok(());
    }
    multiply(block, issue.warp, product, operands)
}

/// Waits for the warps of the group. The last one ends the products that are due, releases all.
fn wait(block: &mut Block<'_, '_>, issue: Issue) -> Result<Flow, Stop> {
    split_off(block, issue);
    block.warps[issue.warp].paths[issue.path].wait = Wait::Group;
    let group = group_of(issue.warp);
    if !group.clone().all(|warp| here(block, warp).is_some()) {
        return Ok(Flow::Yield);
    }
    for warp in group.clone() {
        let Some(path) = here(block, warp) else { continue };
        let pc = block.warps[warp].paths[path].pc;
        if let Op::WarpGroup(op) = &block.instruction(pc).op {
            if let GroupOp::Wait { most } = **op {
                let due = block.warps[warp].products.due(most);
                end(block, warp, due)?;
            }
        }
        let path = &mut block.warps[warp].paths[path];
        path.wait = Wait::Ready;
        path.pc += 1;
    }
    if let Some(clocks) = &mut block.checks.clocks {
        let parties: Vec<_> = group.map(|warp| (warp, block.warps[warp].live)).collect();
        clocks.meet(&parties, None);
    }
    Ok(Flow::Yield)
}

/// Returns the divergent path of a warp that waits for its group.
fn here(block: &Block<'_, '_>, warp: usize) -> Option<usize> {
    block.warps[warp].paths.iter().position(|part| part.wait == Wait::Group)
}

/// Ends the first products in progress.
fn end(block: &mut Block<'_, '_>, warp: usize, count: usize) -> Result<(), Stop> {
    for operands in block.warps[warp].products.take(count) {
        if let Op::WarpGroup(op) = &block.instruction(operands.pc).op {
            if let GroupOp::Product(product) = &**op {
                multiply(block, warp, product, operands)?;
            }
        }
    }
    Ok(())
}

/// Ends all products of a warp in progress if an instruction accesses a register of one of them.
#[cold]
pub(super) fn end_before(block: &mut Block<'_, '_>, issue: Issue) -> Result<(), Stop> {
    let instruction = block.instruction(issue.pc);
    if matches!(instruction.op, Op::WarpGroup(_)) {
        return Ok(());
    }
    let mut touched = Vec::new();
    effects::reads(instruction, &mut |register| touched.push((register, false)));
    effects::writes(instruction, &mut |register, _| touched.push((register, true)));
    let products = &block.warps[issue.warp].products;
    let uses = products.under_way().any(|operands| {
        let Op::WarpGroup(op) = &block.instruction(operands.pc).op else { return false };
        let GroupOp::Product(product) = &**op else { return false };
        let is_touched = |(register, written): &(_, bool)| {
            let holds = |registers: &[_]| registers.contains(register);
            let factor = matches!(&product.a, LeftFactor::Registers(held) if holds(held));
            let places = product.sparse.is_some_and(|sparse| sparse.places == *register);
            holds(&product.d) || *written && (factor || places)
        };
        touched.iter().any(is_touched)
    });
    if uses {
        let all = products.under_way().count();
        end(block, issue.warp, all)?;
    }
    Ok(())
}

/// Returns a warp's rows of the left factor, as they are stored.
fn left_factor(
    block: &mut Block<'_, '_>,
    site: Site,
    product: &GroupProduct,
    descriptor: u64,
) -> Result<Vec<f64>, Stop> {
    let (stored, a_type) = (product.stored() as usize, product.types[0]);
    let mut a = vec![0f64; ROWS as usize * stored];
    match &product.a {
        LeftFactor::Registers(held) => {
            let rows = &block.warps[site.warp].rows;
            for lane in 0..LANES {
                for index in 0..4 * a_type.packed() {
                    let (register, inner) = (index / a_type.packed(), index % a_type.packed());
                    let row = lane / 4 + 8 * (register as usize % 2);
                    let first = (lane as u32 % 4 + register / 2 * 4) * a_type.packed();
                    let bits = element(rows, held, a_type, lane, index);
                    a[row * stored + (first + inner) as usize] = number(a_type, bits);
                }
            }
        }
        LeftFactor::Shared(factor) => {
            let first = (site.warp % WARPS) as u32 * ROWS;
            let placed = Placed::new(descriptor, factor.transposed, a_type, false);
            placed.read(block, (site, product.cache), first..first + ROWS, |row, inner, value| {
                a[(row - first) as usize * stored + inner as usize] = value;
            })?;
        }
    }
    Ok(a)
}

/// Returns the position in the common dimension of each stored element of the left factor.
fn places(block: &Block<'_, '_>, warp: usize, product: &GroupProduct) -> Vec<usize> {
    match product.sparse {
        Some(sparse) => positions(&block.warps[warp].rows, &sparse),
        None => (0..ROWS).flat_map(|_| 0..product.stored() as usize).collect(),
    }
}

/// Adds rows to the right factor for invalid positions of sparse elements.
fn add_invalid_rows(
    block: &mut Block<'_, '_>,
    (site, descriptor): (Site, u64),
    product: &GroupProduct,
    places: &[usize],
    b: &mut Vec<f64>,
) -> Result<(), Stop> {
    let (depth, columns) = (product.depth() as usize, product.columns as usize);
    if places.iter().all(|place| *place < depth) {
        return Ok(());
    }
    let mut words = vec![0u32; columns * depth];
    let placed = Placed::new(descriptor, product.b.transposed, Element::S32, true);
    placed.read(block, (site, product.cache), 0..product.columns, |column, inner, value| {
        words[inner as usize * columns + column as usize] = value as i32 as u32;
    })?;
    add_mixed_rows(b, &words, places, [depth, columns]);
    Ok(())
}

/// Computes a warp's rows of a product.
fn multiply(
    block: &mut Block<'_, '_>,
    warp: usize,
    product: &GroupProduct,
    operands: LateProduct,
) -> Result<(), Stop> {
    let (depth, columns) = (product.depth() as usize, product.columns as usize);
    let [_, b_type, d_type] = product.types;
    let site = Site { warp, pc: operands.pc, lane: 0 };
    let mut a = left_factor(block, site, product, operands.descriptors[0])?;
    let mut b = vec![0f64; columns * depth];
    let is_deep = product.sparse.is_some();
    let placed = Placed::new(operands.descriptors[1], product.b.transposed, b_type, is_deep);
    placed.read(block, (site, product.cache), 0..product.columns, |column, inner, value| {
        b[inner as usize * columns + column as usize] = value;
    })?;
    if product.negated {
        a.iter_mut().for_each(|value| *value = -*value);
    }
    let places = places(block, warp, product);
    add_invalid_rows(block, (site, operands.descriptors[1]), product, &places, &mut b)?;
    let rows = &mut block.warps[warp].rows;
    let values = product.columns * ROWS / LANES as u32;
    let at = |lane: usize, index| {
        let [row, column] = GroupProduct::position(lane as u32, index);
        row as usize * columns + column as usize
    };
    let adder = Adder::of_group(b_type, d_type);
    let (a, b) = (Factors::new(a, product.types[0], adder), Factors::new(b, b_type, adder));
    let mut sums = vec![0f64; ROWS as usize * columns];
    if operands.accumulates {
        for lane in 0..LANES {
            for index in 0..values {
                sums[at(lane, index)] = number(d_type, element(rows, &product.d, d_type, lane, index));
            }
        }
    }
    let watched = block.launch.options.check_nans;
    let all = [a.values(), b.values(), &sums];
    let among = watched && all.iter().any(|values| values.iter().any(|value| value.is_nan()));
    match adder {
        Some(adder) => adder.add(&mut sums, (&a, &places), (&b, columns)),
        None => add_products(&mut sums, (a.values(), &places), b.values(), columns),
    }
    for lane in 0..LANES {
        for index in 0..values {
            let bits = rounded(d_type, sums[at(lane, index)], product.saturate);
            set_element(rows, &product.d, d_type, lane, index, bits);
        }
    }
    if watched {
        product_nans::of_group(&mut block.warps[warp], operands.pc, product, among);
    }
    Ok(())
}

/// Adds a product of matrices by rows; `places` contains the row of `b` for each element of `a`.
fn add_products(sums: &mut [f64], (a, places): (&[f64], &[usize]), b: &[f64], columns: usize) {
    let stored = a.len() / ROWS as usize;
    let rows = a.chunks_exact(stored).zip(places.chunks_exact(stored));
    for (sums, (a, places)) in sums.chunks_exact_mut(columns).zip(rows) {
        for (a, place) in a.iter().zip(places) {
            let b = &b[place * columns..][..columns];
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
    }
}

/// A factor in shared memory, as described by its descriptor.
struct Placed {
    start: u32,
    leading: u32,
    stride: u32,
    /// The offset of the swizzle pattern, in rows of 128 bytes.
    base: u32,
    /// Bytes per row of the pattern, 16 without a swizzle.
    span: u32,
    transposed: bool,
    ty: Element,
    /// Core matrices along k.
    cores: u32,
}

impl Placed {
    /// `is_deep` is true for the right factor of a sparse product.
    fn new(descriptor: u64, transposed: bool, ty: Element, is_deep: bool) -> Placed {
        let field = |shift: u32| (descriptor >> shift) as u32 & 0x3fff;
        Placed {
            start: field(0) << 4,
            leading: field(16) << 4,
            stride: field(32) << 4,
            base: (descriptor >> 49) as u32 & 7,
            span: [16, 128, 64, 32][(descriptor >> 62) as usize],
            transposed,
            ty,
            cores: if is_deep { 4 } else { 2 },
        }
    }

    /// Returns the address of 16 bytes of a core matrix: its numbers along m or n and k, the row.
    fn address(&self, [outer, inner]: [u32; 2], row: u32) -> u32 {
        let Placed { leading, stride, span, .. } = *self;
        // Offsets along the rows of the pattern, and from one pattern to the next.
        let per_span = span / CORE_ROW;
        let along = |number: u32| number % per_span * CORE_ROW + number / per_span * leading;
        let offset = match (self.transposed, span) {
            (_, 16) => outer * stride + inner * leading,
            (false, _) => outer * stride + along(inner),
            (true, _) => along(outer) + inner * stride,
        };
        let address = self.start.wrapping_add(offset).wrapping_add(row * span);
        let pattern = (address >> 7).wrapping_sub(self.base) & (per_span - 1);
        (address ^ pattern << 4) & 0x3_ffff
    }

    /// Reads elements. `set` receives the positions along m or n and along k, and the value.
    fn read(
        &self,
        block: &mut Block<'_, '_>,
        (site, cache): (Site, u32),
        outer: std::ops::Range<u32>,
        mut set: impl FnMut(u32, u32, f64),
    ) -> Result<(), Stop> {
        let bits = self.ty.bits();
        let elements = CORE_ROW * 8 / bits;
        for core in outer.start / 8..outer.end / 8 {
            for inner in 0..self.cores {
                for row in 0..8 {
                    let address = block.shared_base() + self.address([core, inner], row);
                    let request = Request::read(Some(Space::Shared), address.into(), CORE_ROW, cache);
                    let host = place(block, site, request)?.host.cast::<u128>();
                    // SAFETY: `place` checked 16 bytes.
                    let raw = u128::from_le(unsafe { host.read_unaligned() });
                    for index in 0..elements {
                        let value = (raw >> (index * bits)) as u64 & u64::MAX >> (64 - bits);
                        let value = number(self.ty, value);
                        match self.transposed {
                            true => set(8 * core + index, 8 * inner + row, value),
                            false => set(8 * core + row, elements * inner + index, value),
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
