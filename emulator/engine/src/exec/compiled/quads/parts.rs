//! The vectors in which an operation is computed.

use super::focus::Focus;
use crate::exec::compiled::writer::Writer;
use crate::program::instruction::{Instruction, Op};
use crate::semantics::lower::{Lower, LowerTest};
use crate::semantics::{PureInfo, Register, TestInfo, Width};

/// A division of the lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// The four lanes of a quad at once.
    Whole,
    /// Two lanes with wide numbers at a time.
    Halves,
    /// One lane after the other.
    Lanes,
}

/// Returns the parts of the lanes for which an instruction is written, one after the other.
pub(super) fn focuses(w: &Writer<'_, '_>, instruction: &Instruction, guarded: bool) -> Vec<Focus> {
    let parts = match &instruction.op {
        Op::Pure { info, sources, .. } => match of_operation(w, info, *sources) {
            // The halves of a narrow result are joined later, so they cannot be merged with old
            // values.
            Parts::Halves if guarded && info.out == Width::Single => Parts::Lanes,
            parts => parts,
        },
        Op::Test { info, .. } => of_test(info),
        Op::Logic { .. } => Parts::Whole,
        Op::Select { width, .. } | Op::LocalAddress { width, .. } => of_width(*width),
        _ => Parts::Lanes,
    };
    match parts {
        Parts::Whole => w.wholes(),
        Parts::Halves => w.halves(),
        Parts::Lanes => w.lanes_alone(),
    }
}

fn of_width(width: Width) -> Parts {
    if width == Width::Double { Parts::Halves } else { Parts::Whole }
}

fn of_test(info: &TestInfo) -> Parts {
    match info.lower {
        LowerTest::Call => Parts::Lanes,
        _ if info.size == 8 => Parts::Halves,
        _ => Parts::Whole,
    }
}

fn of_operation(w: &Writer<'_, '_>, info: &PureInfo, sources: [Register; 4]) -> Parts {
    let same = |index: usize| w.is_uniform(sources[index].0);
    let known = |index: usize| w.known(sources[index]);
    let of_result = of_width(info.out);
    let [out, first, ..] = info.sizes;
    // Operands as wide as the result.
    let alike = of_width(info.sources[0]) == of_result && (first == 8) == (out == 8);
    match info.lower {
        Lower::Move | Lower::And | Lower::Or | Lower::Xor | Lower::Not if alike => of_result,
        Lower::Add | Lower::Sub | Lower::MulLow | Lower::MadLow | Lower::Neg | Lower::Abs if alike => {
            of_result
        }
        Lower::Min | Lower::Max if alike && out <= 4 => Parts::Whole,
        Lower::MulWide | Lower::MadWide if out == 4 => Parts::Whole,
        Lower::MulWide | Lower::MadWide if out == 8 && first == 4 => Parts::Halves,
        Lower::MulHigh if out == 4 => Parts::Halves,
        Lower::ShiftLeft | Lower::ShiftRight | Lower::ShiftDown if alike && same(1) => of_result,
        Lower::Logic3 if known(3).is_some() => Parts::Whole,
        Lower::Funnel { .. } if same(2) => {
            if sources[0] == sources[1] {
                Parts::Whole
            } else {
                Parts::Halves
            }
        }
        Lower::Extract { .. } if known(1).is_some() && known(2).is_some() && out == 4 => Parts::Whole,
        Lower::Insert if known(2).is_some() && known(3).is_some() && out == 4 => Parts::Whole,
        Lower::Permute if known(2).is_some_and(|bytes| bytes & 0xffff != 0x0123) => Parts::Whole,
        Lower::Low | Lower::High | Lower::Pack => Parts::Halves,
        Lower::Pack16 | Lower::BrainToSingle | Lower::Dot { .. } => Parts::Whole,
        Lower::Wrap if alike => of_result,
        Lower::Wrap if out == 4 || out == 8 => Parts::Halves,
        Lower::IntToFloat | Lower::FloatToInt(..) | Lower::FloatToFloat(_) if out == 4 && first <= 4 => {
            Parts::Whole
        }
        Lower::Float(..) | Lower::FloatToWhole(..) | Lower::Directed(..) | Lower::Elementary(..) => of_result,
        _ => Parts::Lanes,
    }
}
