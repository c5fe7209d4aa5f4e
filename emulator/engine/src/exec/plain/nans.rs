//! The check for NaNs: follows each NaN from the instruction that computed it to a store.
//!
//! A NaN that is never stored is no mistake: code for special cases computes NaNs and does not
//! select them. The check therefore follows a NaN from the instruction that computed it from
//! numbers, through arithmetic, moves, shuffles, calls and matrix products, to a store. A NaN
//! loaded from memory has already been stored, so it is not reported again.

use super::{Flow, perform, product_nans};
use crate::exec::block::{Block, Issue, Stop};
use crate::exec::check::nans::{Birth, Made};
use crate::program::effects;
use crate::program::instruction::{Instruction, Op};
use crate::program::matrix::{Matrix, Part};
use crate::report::FaultKind;
use crate::semantics::format::FloatFormat;
use crate::semantics::{LANES, PureInfo, Register, Width, lanes_of};

/// Runs an instruction, and records the NaNs that it computes, moves and stores.
#[cold]
#[inline(never)]
pub(super) fn watch(
    block: &mut Block<'_, '_>,
    issue: Issue,
    instruction: &Instruction,
) -> Result<Flow, Stop> {
    check_stores(block, issue, instruction)?;
    let known = Known::of(block, issue, instruction);
    match &instruction.op {
        Op::Pure { info: info @ PureInfo { formats: [Some(format), ..], .. }, out, sources } => {
            let operands = Operands::of(block, issue, info, *sources);
            let flow = perform(block, issue, &instruction.op)?;
            arithmetic(block, issue, (*out, *format), &operands, &known);
            Ok(flow)
        }
        Op::Matrix(whole) => {
            let product = match &**whole {
                Matrix::Product(product) => {
                    product_nans::format_of(product.ty(Part::D)).map(|format| (product, format))
                }
                Matrix::Move(_) | Matrix::Rows(_) | Matrix::Transpose { .. } => None,
            };
            let held = |block: &mut Block<'_, '_>, part| {
                product.map_or(0, |(product, _)| {
                    product_nans::of_part(&block.warps[issue.warp].rows, product, part)
                })
            };
            let before = [Part::A, Part::B, Part::C].iter().fold(0, |lanes, part| lanes | held(block, *part));
            let flow = perform(block, issue, &instruction.op)?;
            match product {
                Some((product, format)) => {
                    let after = held(block, Part::D);
                    let warp = &mut block.warps[issue.warp];
                    product_nans::of_product(
                        warp,
                        issue.pc,
                        (&product.d, format),
                        [before, after],
                        |_, lane| known.at(lane),
                    );
                }
                None => moved(block, issue, instruction, &known),
            }
            Ok(flow)
        }
        // Its products are computed and recorded later.
        Op::WarpGroup(_) => perform(block, issue, &instruction.op),
        _ => {
            let flow = perform(block, issue, &instruction.op)?;
            moved(block, issue, instruction, &known);
            Ok(flow)
        }
    }
}

/// Finds stores of a NaN that the kernel computed.
fn check_stores(block: &Block<'_, '_>, issue: Issue, instruction: &Instruction) -> Result<(), Stop> {
    let warp = &block.warps[issue.warp];
    if warp.nans.is_empty() {
        return Ok(());
    }
    let (mut lanes, mut first) = (0u32, None);
    effects::stored(instruction, &mut |register, bytes| {
        let width = if bytes > 4 { Width::Double } else { Width::Single };
        for lane in lanes_of(issue.active) {
            let Some((format, birth)) = warp.nans.get(register, lane) else { continue };
            if format.has_nan(warp.rows.get_wide(register, width, lane), bytes) {
                lanes |= 1 << lane;
                first.get_or_insert(birth);
            }
        }
    });
    let Some(birth) = first else { return Ok(()) };
    block.found(FaultKind::NanMade, issue.lanes(lanes), |mut fault| {
        let place = Issue { pc: birth.pc, ..issue }.lanes(1 << birth.lane);
        fault.related.push(block.related(place, birth.note()));
        fault
    })
}

/// The NaNs in an instruction's sources: the first of each lane.
struct Known {
    lanes: Vec<Option<Made>>,
    /// True if lanes read each other's.
    shared: bool,
}

impl Known {
    fn of(block: &Block<'_, '_>, issue: Issue, instruction: &Instruction) -> Self {
        let shared = matches!(instruction.op, Op::Matrix(_) | Op::Collective { .. });
        let nans = &block.warps[issue.warp].nans;
        if nans.is_empty() {
            return Known { lanes: Vec::new(), shared };
        }
        let mut lanes = vec![None; LANES];
        effects::reads(instruction, &mut |register| {
            for (lane, known) in lanes.iter_mut().enumerate() {
                if known.is_none() {
                    *known = nans.get(register, lane).cloned();
                }
            }
        });
        Known { lanes, shared }
    }

    fn at(&self, lane: usize) -> Option<Made> {
        let others = self.lanes.iter().flatten().filter(|_| self.shared);
        self.lanes.get(lane).and_then(Option::as_ref).or_else(|| others.clone().next()).cloned()
    }
}

/// Sources of arithmetic, read before it runs because its result may overwrite one.
struct Operands<'a> {
    info: &'a PureInfo,
    values: [[u64; 4]; LANES],
}

impl<'a> Operands<'a> {
    fn of(block: &Block<'_, '_>, issue: Issue, info: &'a PureInfo, sources: [Register; 4]) -> Self {
        let rows = &block.warps[issue.warp].rows;
        let mut values = [[0; 4]; LANES];
        for lane in lanes_of(issue.active) {
            for (index, value) in values[lane].iter_mut().enumerate() {
                if info.formats[index + 1].is_some() {
                    *value = rows.get_wide(sources[index], info.sources[index], lane);
                }
            }
        }
        Operands { info, values }
    }

    fn of_number(&self, lane: usize, index: usize) -> Vec<f64> {
        let sources = self.values[lane].iter().zip(&self.info.formats[1..]).zip(&self.info.sizes[1..]);
        let number = |((value, format), size): ((&u64, &Option<FloatFormat>), &u32)| {
            let numbers: Vec<f64> = (*format)?.numbers(*value, *size).collect();
            numbers.get(index).or(numbers.first()).copied()
        };
        sources.filter_map(number).collect()
    }
}

/// Records the NaNs that arithmetic has computed or propagated.
fn arithmetic(
    block: &mut Block<'_, '_>,
    issue: Issue,
    (out, format): (Register, FloatFormat),
    operands: &Operands<'_>,
    known: &Known,
) {
    let warp = &mut block.warps[issue.warp];
    for lane in lanes_of(issue.active) {
        let result = warp.rows.get_wide(out, operands.info.out, lane);
        let numbers = format.numbers(result, operands.info.sizes[0]).enumerate();
        let mut made = None;
        for (index, _) in numbers.filter(|(_, number)| number.is_nan()) {
            let operands = operands.of_number(lane, index);
            if !operands.iter().any(|number| number.is_nan()) {
                made = Some((format, Birth { pc: issue.pc, lane, operands }));
                break;
            }
            made = known.at(lane).map(|(_, birth)| (format, birth));
        }
        warp.nans.set(out, lane, made);
    }
}

/// Records NaNs that were moved, alone or with other values.
fn moved(block: &mut Block<'_, '_>, issue: Issue, instruction: &Instruction, known: &Known) {
    let warp = &mut block.warps[issue.warp];
    if warp.nans.is_empty() {
        return;
    }
    effects::writes(instruction, &mut |register, width| {
        let bytes = match &instruction.op {
            Op::Pure { info, .. } => info.sizes[0],
            _ if width == Width::Double => 8,
            _ => 4,
        };
        for lane in lanes_of(issue.active) {
            let bits = warp.rows.get_wide(register, width, lane);
            let made = known.at(lane).filter(|(format, _)| format.has_nan(bits, bytes));
            warp.nans.set(register, lane, made);
        }
    });
}
