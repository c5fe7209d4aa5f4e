//! The compiled mode: kernels as machine code, thread by thread.
//!
//! It runs on the same state as the other modes. Registers stay in the rows of a warp, and lanes in
//! its divergent paths. An instruction without machine code is a *stop*, which the plain mode runs.
//! A function of machine code runs the lanes of a divergent path one after the other, each from an
//! *entry* to its next stop. It loads the registers that are live at the entry, and stores those
//! that are live at the stop and were written since. Entries follow stops, and are at the heads of
//! loops, where a lane that used up its share of instructions stops too.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | stops, entries, and the blocks of machine code |
//! | `backend`, `machine` | all that depends on the code generator |
//! | `code` | a kernel as machine code |
//! | `live` | the registers that are live at each position |
//! | `values` | the values of registers, and where blocks join |
//! | `registers` | registers in their types |
//! | `types` | numbers that stay in floating-point registers |
//! | `lower`, `float`, `integer`, `memory` | instructions as machine code |
//! | `calls`, `frames` | calls as jumps, and the frames of lanes that stop in functions |
//! | `initialized` | the record of written bytes, for a check |
//! | `roots` | the regions that accesses should hit |
//! | `choice` | which kernels it runs without a request |
//! | `translation` | the machine code of each kernel, and the launches that run it |
//! | `context` | the state that machine code uses, and the functions that it calls |
//! | `order` | random orders of lanes |
//! | `run` | runs divergent paths |

mod backend;
mod calls;
mod choice;
mod code;
mod context;
mod float;
mod frames;
mod initialized;
mod integer;
mod live;
mod lower;
mod machine;
mod memory;
mod order;
mod plan;
mod registers;
mod roots;
mod run;
mod translation;
mod types;
mod values;

pub(in crate::exec) use run::run_warp;
pub(in crate::exec) use translation::{changed, may_change, of_launch, prepare, runs, stops};
