//! The types of variables: numbers that stay in floating-point registers.

use super::support;
use crate::program::instruction::{Constant, Instruction, Op};
use crate::program::{Kernel, RowKind, effects};
use crate::semantics::lower::{Elementary, Float, Lower, LowerTest};
use crate::semantics::{PureInfo, Register};
use std::collections::HashMap;

/// Type of the variable of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    Word,
    Wide,
    Single,
    /// A single-precision number whose NaNs are not canonical yet. Reading it makes them so.
    Raw,
    Double,
}

/// True if machine code computes the result, or an operand, in floating-point registers.
fn is_float(info: &PureInfo, operand: usize) -> bool {
    info.formats[operand].is_some() && info.sizes[operand] >= 4 && info.lower != Lower::Call
}

/// True if the result is a number in single precision whose NaN is always the canonical one.
pub(super) fn makes_canonical(info: &PureInfo) -> bool {
    let is_raw = match info.lower {
        Lower::Float(_, limits) if limits.saturate => false,
        Lower::Float(operation, limits) => match operation {
            Float::Add | Float::Sub | Float::Mul | Float::Fma | Float::Div | Float::Rcp => !limits.flush,
            Float::Sqrt | Float::Rsqrt => true,
            _ => false,
        },
        Lower::Elementary(function, flush) => match function {
            Elementary::Exp2 => !flush,
            Elementary::Sine => false,
            Elementary::Log2 | Elementary::Cosine | Elementary::Tanh => true,
        },
        _ => false,
    };
    is_raw && info.sizes[0] == 4
}

/// Passes over a kernel after which all numbers are made canonical at once.
const MOST_PASSES: usize = 16;

/// Returns the types of all registers.
pub(super) fn find(kernel: &Kernel, constants: &HashMap<u32, Constant>) -> Vec<Holds> {
    let mut votes = vec![0i32; kernel.rows as usize];
    for instruction in &kernel.code {
        vote(kernel, instruction, &mut |register, float| {
            votes[register.0 as usize] += if float { 1 } else { -1 };
        });
    }
    let mut holds: Vec<Holds> = (0..kernel.rows as usize)
        .map(|row| match (kernel.row_kinds[row] == RowKind::Lower, votes[row] > 0) {
            (false, true) => Holds::Raw,
            (false, false) => Holds::Word,
            (true, true) => Holds::Double,
            (true, false) => Holds::Wide,
        })
        .collect();
    // Calls write any bits to parameters.
    for param in kernel.functions.iter().flat_map(|function| &function.params) {
        let holds = &mut holds[param.0 as usize];
        *holds = if *holds == Holds::Raw { Holds::Single } else { *holds };
    }
    for pass in 0.. {
        let mut changed = false;
        for instruction in &kernel.code {
            effects::writes(instruction, &mut |register, _| {
                let row = register.0 as usize;
                let late = pass > MOST_PASSES;
                if holds[row] == Holds::Raw && (late || !keeps_raw(kernel, instruction, &holds, constants)) {
                    holds[row] = Holds::Single;
                    changed = true;
                }
            });
        }
        if !changed {
            break;
        }
    }
    holds
}

fn vote(kernel: &Kernel, instruction: &Instruction, cast: &mut dyn FnMut(Register, bool)) {
    match &instruction.op {
        Op::Load(_) | Op::Store(_) | Op::Select { .. } => {}
        Op::Pure { info, .. } if info.lower == Lower::Move => {}
        Op::Pure { info, out, sources } => {
            cast(*out, is_float(info, 0));
            for (index, source) in sources.iter().enumerate() {
                if info.sizes[index + 1] != 0 {
                    cast(*source, is_float(info, index + 1));
                }
            }
        }
        Op::Test { info, sources, .. } => {
            let float = matches!(info.lower, LowerTest::Float { .. });
            cast(sources[0], float);
            if !info.unary {
                cast(sources[1], float);
            }
        }
        _ if support::is_stop(kernel, instruction) => {}
        _ => {
            effects::reads(instruction, &mut |register| cast(register, false));
            effects::writes(instruction, &mut |register, _| cast(register, false));
        }
    }
}

/// True if the result of an instruction is a number whose NaN may be canonical later.
fn keeps_raw(
    kernel: &Kernel,
    instruction: &Instruction,
    holds: &[Holds],
    constants: &HashMap<u32, Constant>,
) -> bool {
    let is_raw = |register: &Register| match constants.get(&register.0) {
        Some(Constant::Bits(bits)) => !f32::from_bits(*bits as u32).is_nan(),
        Some(_) => false,
        None => holds[register.0 as usize] == Holds::Raw,
    };
    match &instruction.op {
        _ if support::is_stop(kernel, instruction) => false,
        Op::Pure { info, sources, .. } if info.lower == Lower::Move => is_raw(&sources[0]),
        Op::Pure { info, .. } => makes_canonical(info),
        Op::Select { a, b, .. } => is_raw(a) && is_raw(b),
        _ => false,
    }
}
