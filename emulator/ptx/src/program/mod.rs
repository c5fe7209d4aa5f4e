//! Translates a syntax tree to a runnable program.
//!
//! Each kernel becomes one flat list of instructions, including the device functions that it may
//! call, with its own numbering of rows (vector registers). The opcode and the modifiers alone
//! determine an instruction. An unknown opcode or modifier is refused with its line, never ignored.
//!
//! | module | contents |
//! |---|---|
//! | `kernel` | a loaded module |
//! | `instruction`, `condition`, `types`, `memory`, `bulk`, `matrix`, `warp_group`, `sparse`, `texture` | operations of instructions, for the execution modes |
//! | `effects` | registers and predicates that each instruction reads and writes, and its control flow |
//! | `flow`, `blocks`, `unwritten`, `polls`, `reuse`, `rename` | analysis of a whole kernel, and its rows |
//! | `symbols`, `variables`, `functions`, `names`, `initial`, `declare`, `exports` | declarations of modules |
//! | `decode` | from opcode to instruction |
//! | `module`, `header`, `newer`, `error` | loading of modules, and its errors |
//! | `slot` | the data that a runner derives from a kernel |

#[doc(hidden)]
pub mod blocks;
#[doc(hidden)]
pub mod bulk;
#[doc(hidden)]
pub mod condition;
mod declare;
mod decode;
#[doc(hidden)]
pub mod effects;
mod error;
mod exports;
#[doc(hidden)]
pub mod flow;
mod functions;
mod header;
mod initial;
#[doc(hidden)]
pub mod instruction;
mod kernel;
#[doc(hidden)]
pub mod matrix;
#[doc(hidden)]
pub mod memory;
mod module;
mod names;
mod newer;
mod polls;
mod rename;
mod reuse;
mod slot;
#[doc(hidden)]
pub mod sparse;
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
pub use exports::Exports;
#[doc(hidden)]
pub use instruction::RowKind;
pub use kernel::{
    ClusterBounds, FUNCTION_STRIDE, Global, GlobalSpace, Kernel, LoadOptions, NEWEST_PTX, Param, Program,
    Relocation, RelocationTarget,
};
pub use kernel::{Function, MOST_LOCAL, Origin, sort_constants};
