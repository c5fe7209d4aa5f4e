//! The instructions that have machine code.

use crate::program::effects::{self, Course};
use crate::program::instruction::{Call, Callee, Instruction, Op};
use crate::program::memory::{Access, Atomic, AtomicOperation};
use crate::program::types::Type;
use crate::program::{Function, Kernel, RowKind};
use crate::ptx::Space;
use crate::semantics::lower::{Lower, LowerTest};
use crate::semantics::{Register, Width};

/// Maximum number of calls times the functions that each may reach. Each pair is a piece of code.
pub(super) const MOST_WAYS: usize = 4096;
/// Memory that an access may reach, as far as its bounds are checked here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Area {
    Shared,
    Local,
    /// The region that the access found last.
    Region,
}

impl Area {
    pub(super) fn of(space: Option<Space>) -> Area {
        match space {
            Some(Space::Shared | Space::SharedCluster) => Area::Shared,
            Some(Space::Local) => Area::Local,
            _ => Area::Region,
        }
    }
}

pub(super) fn course_goes_on(op: &Op) -> bool {
    !matches!(effects::course(op), Course::End)
}

/// True if each operation names whole registers, and no operation relies on lanes in lockstep.
pub(super) fn is_supported(kernel: &Kernel) -> bool {
    let known = |register: Register| {
        kernel.row_kinds.get(register.0 as usize).is_some_and(|kind| *kind != RowKind::Upper)
    };
    kernel.code.iter().all(|instruction| {
        let mut good = match &instruction.op {
            Op::WarpGroup(_) => false,
            Op::Load(access) | Op::Store(access) => !relies_on_lockstep(access),
            _ => true,
        };
        effects::reads(instruction, &mut |register| good &= known(register));
        // A write changes all of a register and no other. `before` and `after` rely on it.
        effects::writes(instruction, &mut |register, width| {
            let wide = kernel.row_kinds.get(register.0 as usize) == Some(&RowKind::Lower);
            good &= known(register) && wide == (width == Width::Double);
        });
        good
    })
}

/// True for volatile accesses to shared memory, which older programs use in place of barriers.
fn relies_on_lockstep(access: &Access) -> bool {
    access.order.is_strong() && matches!(access.space, Some(Space::Shared | Space::SharedCluster))
}

/// True if the processor has the operation.
pub(super) fn is_native(atomic: &Atomic) -> bool {
    let exclusive = Area::of(atomic.space) == Area::Shared;
    let wraps = matches!(atomic.operation, AtomicOperation::Increment | AtomicOperation::Decrement);
    matches!(atomic.ty.bytes(), 4 | 8)
        && (!atomic.ty.is_float() || atomic.operation == AtomicOperation::Exchange)
        && (exclusive || !wraps)
}

/// True if machine code adds a number of single or double precision in place.
pub(super) fn adds_number(atomic: &Atomic) -> bool {
    matches!(atomic.ty, Type::F32 | Type::F64) && atomic.operation == AtomicOperation::Add
}

/// True if machine code finds the place of an operation. Others differ between shared and global
/// memory, so a generic address needs a search.
pub(super) fn is_placed(atomic: &Atomic) -> bool {
    is_native(atomic) || atomic.space.is_some()
}

/// True for a load by addresses that lead each lane to its own local memory, even if they are the
/// same.
pub(super) fn reads_own_memory(access: &Access) -> bool {
    access.space.is_none()
}

/// True if an instruction has no machine code.
pub(super) fn is_stop(kernel: &Kernel, instruction: &Instruction) -> bool {
    let is = |register: Register, width: Width| {
        let wide = kernel.row_kinds[register.0 as usize] == RowKind::Lower;
        width == Width::None || wide == (width == Width::Double)
    };
    let all = |registers: &[Register], width| registers.iter().all(|register| is(*register, width));
    !match &instruction.op {
        Op::Pure { info, out, sources } => {
            is(*out, info.out) && sources.iter().zip(info.sources).all(|(source, width)| is(*source, width))
        }
        Op::Test { info, sources, .. } => {
            // The second operand of a test of one number is unused.
            is(sources[0], info.width) && (info.unary || is(sources[1], info.width))
        }
        Op::Logic { .. } | Op::Branch { .. } | Op::Fence(_) => true,
        Op::Select { width, out, a, b, .. } => all(&[*out, *a, *b], *width),
        Op::Carry(carry) => is(carry.out, carry.width) && all(&carry.sources, carry.width),
        // It ends the turn, so that others can run.
        Op::Load(access) if access.polls => false,
        Op::Load(access) | Op::Store(access) => {
            let bytes = access.bytes as usize * access.registers.len();
            is(access.address.base, access.address.width)
                && all(&access.registers, access.width)
                && access.bytes <= if access.width == Width::Double { 8 } else { 4 }
                && bytes.is_power_of_two()
                && bytes <= 64
        }
        Op::Atomic(atomic) => {
            let width = if atomic.ty.bytes() == 8 { Width::Double } else { Width::Single };
            atomic.ty != Type::B128
                && is(atomic.address.base, atomic.address.width)
                && is(atomic.operands[0], width)
                && (atomic.operation != AtomicOperation::CompareExchange || is(atomic.operands[1], width))
                && atomic.out.is_none_or(|out| is(out, width))
        }
        Op::Call(call) => is_jump(kernel, call),
        Op::LocalAddress { out, width, .. } => is(*out, *width),
        Op::BranchIndexed { index, .. } => is(*index, Width::Single),
        _ => false,
    }
}

/// True if an instruction can be run without its guard, and its result dropped.
pub(super) fn is_cheap(instruction: &Instruction) -> bool {
    match &instruction.op {
        Op::Pure { info, .. } => !matches!(
            info.lower,
            Lower::Call | Lower::Div | Lower::Rem | Lower::Directed(..) | Lower::Elementary(..)
        ),
        Op::Test { info, .. } => info.lower != LowerTest::Call,
        Op::Logic { .. } | Op::Select { .. } | Op::LocalAddress { .. } => true,
        _ => false,
    }
}

/// True if a call has machine code.
pub(super) fn is_jump(kernel: &Kernel, call: &Call) -> bool {
    let single = |register: &Register| kernel.row_kinds[register.0 as usize] == RowKind::Single;
    let words = call.arguments.iter().chain(&call.results).all(single);
    words
        && match call.callee {
            Callee::Direct(function) => fits(kernel, call, function),
            Callee::Indirect(row) => {
                kernel.row_kinds[row.0 as usize] == RowKind::Lower
                    && kernel.functions.len() * kernel.by_module_index.len() <= MOST_WAYS
            }
            Callee::System(_) => false,
        }
}

/// True if a function has the parameters and results of a call.
pub(super) fn fits(kernel: &Kernel, call: &Call, function: u32) -> bool {
    let Function { params, returns, .. } = &kernel.functions[function as usize];
    let single = |register: &Register| kernel.row_kinds[register.0 as usize] == RowKind::Single;
    (params.len(), returns.len()) == (call.arguments.len(), call.results.len())
        && params.iter().chain(returns).all(single)
}

/// True if machine code makes calls of this kernel.
pub(super) fn has_calls(kernel: &Kernel) -> bool {
    kernel.code.iter().any(|instruction| jumps(kernel, instruction))
}

/// True if an instruction is a call with machine code.
pub(super) fn jumps(kernel: &Kernel, instruction: &Instruction) -> bool {
    matches!(&instruction.op, Op::Call(call) if is_jump(kernel, call))
}

/// Returns the number of instructions of the kernel's own code, which comes before its functions.
pub(super) fn own_code(kernel: &Kernel) -> usize {
    let entries = kernel.functions.iter().map(|function| function.entry as usize);
    entries.min().unwrap_or(kernel.code.len())
}

/// Returns the function that contains an instruction; `None` in the kernel's own code, which comes
/// first.
pub(super) fn function_at(kernel: &Kernel, pc: u32) -> Option<&Function> {
    let before = kernel.functions.iter().filter(|function| function.entry <= pc);
    before.max_by_key(|function| function.entry)
}
