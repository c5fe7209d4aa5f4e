//! The compiled mode: kernels as machine code, thread by thread.
//!
//! It runs on the same state as the other modes. Registers stay in the rows of a warp, and lanes in
//! its divergent paths. An instruction without machine code is a *stop*, which the plain mode runs. A
//! function of machine code runs the lanes of a divergent path one after the other,
//! each from an *entry* to its next stop. It loads the registers that are live at the entry, and
//! stores those that are live at the stop and were written since. Entries follow stops, and are at
//! the heads of loops, where a lane that used up its share of instructions stops too.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | stops, entries, and the registers that each needs |
//! | `backend` | all that depends on the code generator |
//! | `code` | a kernel as machine code |
//! | `registers` | registers as variables of the code generator |
//! | `types` | numbers that stay in floating-point registers |
//! | `lower`, `float`, `integer`, `memory` | instructions as machine code |
//! | `roots` | the regions that accesses should hit |
//! | `context` | the state that machine code uses, and the functions that it calls |
//! | `run` | runs divergent paths |

mod backend;
mod code;
mod context;
mod float;
mod integer;
mod lower;
mod memory;
mod plan;
mod registers;
mod roots;
mod run;
mod types;

pub(in crate::exec) use code::Code;
pub(in crate::exec) use run::run_warp;

use super::block::Block;
use super::interface::{ExecOptions, Hooks};
use crate::program::Kernel;

/// Maximum number of instructions of a kernel. Larger ones would take long to compile.
const MOST_INSTRUCTIONS: usize = 20_000;

/// Returns the number of stops of the machine code with which a launch runs; `None` if it runs in
/// another mode.
pub(in crate::exec) fn stops(kernel: &Kernel, options: &ExecOptions, hooks: &dyn Hooks) -> Option<usize> {
    let allowed = options.allow_machine_code() && hooks.touched().is_none();
    if allowed { code(kernel).map(Code::stops) } else { None }
}

/// Returns the machine code of a kernel, created at its first launch in this mode; `None` for
/// kernels that it does not support.
pub(in crate::exec) fn code(kernel: &Kernel) -> Option<&Code> {
    kernel.machine_code.get_or_make(|| Code::of(kernel)).and_then(Option::as_ref)
}

/// Prepares the state that machine code uses, for a launch in this mode.
pub(in crate::exec) fn prepare(block: &mut Block<'_, '_>) {
    let kernel = block.launch.args.kernel;
    let Some(code) = block.launch.machine_stops.and_then(|_| code(kernel)) else { return };
    block.machine.reset(kernel.caches, code.stops());
    code.roots.fill(block);
}
