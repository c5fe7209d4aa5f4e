//! Syntax tree to runnable program.
//!
//! Each kernel becomes one flat list of instructions, the device functions that it may call included, with its own
//! numbering of rows. The meaning of an instruction follows from its opcode and modifiers alone. An unknown opcode or
//! modifier is refused here, with its line: nothing is ever ignored and then computed wrongly.
//!
//! | module | what |
//! |---|---|
//! | `kernel` | a module ready to run |
//! | `instruction`, `memory`, `bulk`, `matrix`, `warp_group`, `texture` | operations of instructions, in the terms of the execution modes |
//! | `effects` | registers and predicates that each of them reads and writes, and the next places of its lanes |
//! | `flow`, `blocks`, `unwritten` | consequences for a kernel as a whole |
//! | `symbols`, `variables`, `initial` | declarations of a module |
//! | `decode` | from opcode to instruction |
//! | `module` | all of these together |

#[doc(hidden)]
pub mod blocks;
#[doc(hidden)]
pub mod bulk;
mod decode;
#[doc(hidden)]
pub mod effects;
mod error;
#[doc(hidden)]
pub mod flow;
mod initial;
#[doc(hidden)]
pub mod instruction;
mod kernel;
#[doc(hidden)]
pub mod matrix;
#[doc(hidden)]
pub mod memory;
mod module;
mod rename;
mod reuse;
mod slot;
mod symbols;
#[doc(hidden)]
pub mod texture;
#[doc(hidden)]
pub mod types;
#[doc(hidden)]
pub mod unwritten;
mod variables;
#[doc(hidden)]
pub mod warp_group;

pub use error::{PtxError, PtxErrorKind};
#[doc(hidden)]
pub use instruction::RowKind;
pub use kernel::{
    ClusterBounds, FUNCTION_STRIDE, Global, GlobalSpace, Kernel, LoadOptions, NEWEST_PTX, Param, Program,
    Relocation, RelocationTarget,
};
pub use kernel::{Function, MOST_LOCAL, Origin, sort_constants};

impl Program {
    /// Reads and decodes a module.
    ///
    /// # Errors
    /// The first thing that is not PTX, or that this device does not run, with its line.
    pub fn load(ptx: &str, options: &LoadOptions) -> Result<Program, PtxError> {
        module::load(ptx, options).map_err(|error| *error)
    }
}
