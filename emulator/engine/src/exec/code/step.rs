//! Steps: the code of the vector mode. Vector registers are called rows.

use super::access;
use super::access::{LocateFn, MOST_ELEMENTS};
use super::affine::{Affine, TestKind};
use super::blend::BlendRows;
use super::growth::{self, Operand};
use super::liveness::Liveness;
use super::transfer::TransferFn;
use crate::program::instruction::{Collective, Condition, Constant, Logic};
use crate::program::memory;
use crate::program::types::Type;
use crate::ptx::Space;
use crate::semantics::rows::{PureRows, TestRows};
use crate::semantics::shuffle::{Shuffle, ShuffleRows};
use crate::semantics::{Predicate, PureInfo, Register, Width};

/// Maximum number of warps that run together: a step's cost is negligible, registers fit the cache.
pub(in crate::exec) const MOST_WARPS: usize = 8;

#[derive(Debug)]
pub(in crate::exec) struct Steps {
    /// For warps whose registers are all in rows.
    pub(in crate::exec) rows: Code,
    /// For warps with scalars.
    pub(in crate::exec) scalars: Option<Code>,
    pub(in crate::exec) affine: Option<Affine>,
    /// Shape of the address, and size, of each access with its address in a scalar.
    pub(in crate::exec) accesses: Vec<(u32, u32)>,
    /// Constant registers that the plain mode reads.
    pub(in crate::exec) constants: Vec<(Register, Width, Constant)>,
    /// Blends of single and double rows, for masks.
    pub(in crate::exec) blends: [BlendRows; 2],
    /// Finds the offsets of accesses.
    pub(in crate::exec) locate: LocateFn,
    /// Finds the offsets of accesses to local memory.
    pub(in crate::exec) locate_local: LocateFn,
    /// `None` if it is not known. Values of lanes on other paths are then preserved.
    pub(in crate::exec) liveness: Option<Liveness>,
}

#[derive(Debug)]
pub(in crate::exec) struct Code {
    pub(in crate::exec) steps: Vec<Step>,
    /// The step of each instruction, or else of the next one with a step.
    pub(in crate::exec) of_pc: Vec<u32>,
}

/// A predicate or its opposite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Guard(u32);

impl Guard {
    pub(in crate::exec) const ALWAYS: Guard = Guard(0);

    pub(in crate::exec) fn of(condition: Condition) -> Self {
        Guard(condition.predicate.0 << 1 | u32::from(condition.negated))
    }

    pub(in crate::exec) fn opposite(self) -> Self {
        Guard(self.0 ^ 1)
    }

    /// Returns the number of its predicate.
    pub(in crate::exec) fn predicate(self) -> u32 {
        self.0 >> 1
    }

    /// Returns the lanes for which it holds.
    ///
    /// # Safety
    /// `predicates` contains all predicates of the kernel.
    #[inline(always)]
    pub(in crate::exec) unsafe fn lanes(self, predicates: *const u32) -> u32 {
        // SAFETY: guaranteed by the caller.
        let bits = unsafe { *predicates.wrapping_add((self.0 >> 1) as usize) };
        bits ^ 0u32.wrapping_sub(self.0 & 1)
    }
}

/// Action of a step. Rows are offsets in cells.
#[derive(Debug)]
pub(in crate::exec) enum Action {
    Pure {
        run: PureRows,
        out: u32,
        sources: [u32; 4],
        double: bool,
    },
    /// An operation without a function for whole rows.
    PureLanes {
        info: &'static PureInfo,
        out: Register,
        sources: [Register; 4],
    },
    Test {
        test: RowsTest,
        out: u32,
    },
    /// A comparison with more than one result, or combined with a predicate.
    TestAnd(Box<CombinedTest>),
    Logic {
        logic: Logic,
        out: u32,
        a: Guard,
        b: Guard,
    },
    Select {
        out: u32,
        a: u32,
        b: u32,
        condition: Guard,
        double: bool,
    },
    Load(Box<AccessStep>),
    Store(Box<AccessStep>),
    Atomic(Box<AtomicStep>),
    /// Cooperation of lanes, which name the members in a row.
    Collective(CollectiveStep),
    /// The lanes that run it.
    ActiveMask(Register),
    /// A fence of memory.
    Fence(memory::Scope),
    /// An operation on the first lanes only.
    Scalar(Box<ScalarStep>),
    /// A selection for the first lanes, if all lanes of each warp agree.
    ScalarSelect(Box<ScalarSelect>),
    /// A comparison of registers whose lanes are regular.
    ScalarTest(Box<ScalarTest>),
    /// A load or store at a regular address.
    ScalarLoad(Box<ScalarAccess>),
    ScalarStore(Box<ScalarAccess>),
    /// A load at an address that is the same in all lanes.
    UniformLoad(Box<UniformLoad>),
    Shuffle(Box<ShuffleStep>),
    Branch(u32),
    /// Branch to a step, over a few steps that the remaining lanes run while the others wait.
    Skip(u32),
    /// The same if the steps have guards. Their own weights are zero, and `weight` is their sum.
    Arm {
        target: u32,
        weight: u32,
    },
    /// A barrier of the whole block; contains the row of its number.
    Barrier(u32),
    Exit,
    /// Delegates to the plain mode. `parts` is true if lanes may diverge or wait afterwards.
    Plain {
        parts: bool,
    },
}

#[derive(Debug)]
pub(in crate::exec) struct RowsTest {
    pub(in crate::exec) run: TestRows,
    pub(in crate::exec) sources: [u32; 4],
    /// Inverts the result if all bits are set.
    pub(in crate::exec) flip: u32,
}

impl RowsTest {
    /// Returns the result in one register file.
    ///
    /// # Safety
    /// It contains all rows of the kernel.
    #[inline(always)]
    pub(in crate::exec) unsafe fn run_one(&self, file: *mut u32) -> u32 {
        let mut bits = 0;
        // SAFETY: guaranteed by the caller; there is one file, so one word.
        unsafe { (self.run)(&[file], &self.sources, &mut bits) };
        bits ^ self.flip
    }
}

#[derive(Debug)]
pub(in crate::exec) struct ShuffleStep {
    pub(in crate::exec) run: ShuffleRows,
    pub(in crate::exec) shuffle: Shuffle,
    /// The predicate of the lanes that read from their own segment.
    pub(in crate::exec) inside: Option<Predicate>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct CollectiveStep {
    pub(in crate::exec) operation: Collective,
    /// The register that names the members.
    pub(in crate::exec) members: Register,
    /// True if lanes may name different members.
    pub(in crate::exec) varies: bool,
}

#[derive(Debug)]
pub(in crate::exec) struct CombinedTest {
    pub(in crate::exec) test: RowsTest,
    pub(in crate::exec) out: Predicate,
    pub(in crate::exec) inverse: Option<Predicate>,
    pub(in crate::exec) combine: Option<(Logic, Guard)>,
}

#[derive(Debug)]
pub(in crate::exec) struct ScalarStep {
    /// `Err` if the operation has no function for whole rows.
    pub(in crate::exec) run: Result<PureRows, &'static PureInfo>,
    pub(in crate::exec) out: Operand,
    pub(in crate::exec) sources: [u32; 4],
    pub(in crate::exec) condition: Option<growth::Condition>,
    /// True if the result is also needed as a row.
    pub(in crate::exec) expand: bool,
}

#[derive(Debug)]
pub(in crate::exec) struct ScalarSelect {
    pub(in crate::exec) out: Operand,
    /// The rows of the result where the condition holds, and elsewhere.
    pub(in crate::exec) sources: [u32; 2],
    pub(in crate::exec) condition: Guard,
    /// True if the result is also needed as a row.
    pub(in crate::exec) expand: bool,
}

#[derive(Debug)]
pub(in crate::exec) struct ScalarTest {
    pub(in crate::exec) test: RowsTest,
    pub(in crate::exec) kind: TestKind,
    pub(in crate::exec) operands: [Operand; 2],
    pub(in crate::exec) out: u32,
}

#[derive(Debug)]
pub(in crate::exec) struct ScalarAccess {
    pub(in crate::exec) address: Operand,
    pub(in crate::exec) pattern: u32,
    /// The same access with the address in a row.
    pub(in crate::exec) by_row: Box<AccessStep>,
}

#[derive(Debug)]
pub(in crate::exec) struct UniformLoad {
    pub(in crate::exec) access: ScalarAccess,
    /// True if its address has no space, so it may be one in local memory.
    pub(in crate::exec) is_generic: bool,
    /// The loaded registers that are also stored for the first lane.
    pub(in crate::exec) scalars: Vec<Operand>,
}

#[derive(Debug)]
pub(in crate::exec) struct AccessStep {
    pub(in crate::exec) run: TransferFn,
    pub(in crate::exec) access: access::Access,
    pub(in crate::exec) space: AccessSpace,
    pub(in crate::exec) cache: u32,
    /// True if it is volatile or has a memory order.
    pub(in crate::exec) strong: bool,
    /// True if each lane accesses memory atomically, in order: a strong access to global memory.
    pub(in crate::exec) atomic: bool,
    /// Removed instructions that compute the address. The plain mode must run them first.
    pub(in crate::exec) prepare: [Option<u32>; 2],
}

/// An atomic operation of 4 or 8 bytes.
#[derive(Debug)]
pub(in crate::exec) struct AtomicStep {
    pub(in crate::exec) operation: memory::AtomicOperation,
    pub(in crate::exec) ty: Type,
    pub(in crate::exec) order: memory::Order,
    pub(in crate::exec) access: access::Access,
    pub(in crate::exec) space: AccessSpace,
    pub(in crate::exec) cache: u32,
    pub(in crate::exec) out: Option<u32>,
    pub(in crate::exec) operands: [u32; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum AccessSpace {
    Global,
    Shared,
    Local,
    Param,
}

impl AccessSpace {
    /// Returns the space of a load or store that has its own step. The plain mode runs all others,
    /// and finds their addresses through the registers.
    pub(in crate::exec) fn of(access: &memory::Access) -> Option<AccessSpace> {
        let space = AccessSpace::named(access.space)?;
        let common = access::is_common(access.bytes, access.width == Width::Double);
        (common && access.registers.len() <= MOST_ELEMENTS).then_some(space)
    }

    /// Returns the space of addresses of this kind. An address without a space mostly is one in
    /// global memory; each access by another one finds its window first. The plain mode handles
    /// addresses in other blocks.
    pub(in crate::exec) fn named(space: Option<Space>) -> Option<AccessSpace> {
        match space {
            Some(Space::Global | Space::Const) | None => Some(AccessSpace::Global),
            Some(Space::Shared | Space::SharedCluster) => Some(AccessSpace::Shared),
            Some(Space::Local) => Some(AccessSpace::Local),
            Some(Space::Param) => Some(AccessSpace::Param),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(in crate::exec) struct Step {
    pub(in crate::exec) action: Action,
    pub(in crate::exec) guard: Guard,
    /// The condition under which lanes reach it, if it is in an arm.
    pub(in crate::exec) within: Guard,
    pub(in crate::exec) pc: u32,
    /// The first of the instructions that it replaces: the position at which lanes reconverge.
    pub(in crate::exec) entry: u32,
    /// Reverse post-order number of its block.
    pub(in crate::exec) rank: u32,
    /// Number of instructions that it replaces: its own, and removed ones before it.
    pub(in crate::exec) weight: u32,
    /// True if the next step belongs to another block.
    pub(in crate::exec) ends_block: bool,
}

impl Step {
    /// Returns the predicates that it sets lane by lane.
    pub(in crate::exec) fn tested_on_rows(&self) -> Vec<u32> {
        match &self.action {
            Action::Test { out, .. } | Action::Logic { out, .. } => vec![*out],
            Action::TestAnd(test) => test.inverse.iter().chain([&test.out]).map(|out| out.0).collect(),
            _ => Vec::new(),
        }
    }
}
