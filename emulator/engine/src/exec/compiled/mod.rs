//! The compiled modes: kernels as machine code, thread by thread or four threads at a time.
//!
//! They run on the same state as the other modes. Registers stay in the rows of a warp, and lanes
//! in its divergent paths. An instruction without machine code is a *stop*, which the plain mode
//! runs. A function of machine code runs the lanes of a divergent path one after the other, each
//! from an *entry* to its next stop. It loads the registers that are live at the entry, and stores
//! those that are live at the stop and were written since. Entries follow stops, and are at the
//! heads of loops, where a lane that used up its share of instructions stops too.
//!
//! | file | contents |
//! |---|---|
//! | `support` | the instructions that have machine code |
//! | `plan` | stops, entries, and the blocks of machine code |
//! | `backend`, `vectors`, `machine` | all that depends on the code generator |
//! | `writer` | the state of the code that is written |
//! | `code`, `entries` | a kernel as machine code; its entries and the end of its stops |
//! | `loops` | the number of loops around each place |
//! | `live` | the registers that are live at each position |
//! | `subnormal` | registers without subnormal numbers |
//! | `dataflow` | facts about registers at all blocks, for `live` and `subnormal` |
//! | `values` | the values of registers, and where blocks join |
//! | `registers` | registers in their types |
//! | `types` | numbers that stay in floating-point registers |
//! | `lower`, `float`, `directed`, `elementary`, `conversion`, `integer`, `memory`, `atomic` | instructions as machine code |
//! | `sums` | long sums that are computed where they are written |
//! | [`quads`] | the same for four or eight lanes at a time |
//! | `callees`, `called` | the functions that machine code calls, and operations as calls of theirs |
//! | `groups`, `grouped` | accesses that one check covers, and their code |
//! | `calls`, `frames` | calls as jumps, and the frames of lanes that stop in functions |
//! | `initialized` | the record of written bytes, for a check |
//! | `roots` | the regions that accesses should hit |
//! | `choice` | which kernels it runs without a request |
//! | `translation` | the machine code of each kernel, and the launches that run it |
//! | `partings` | the partings of lanes that run together, which decide about their form too |
//! | `context` | the state that machine code uses, and the functions that it calls |
//! | `order` | random orders of lanes |
//! | `runner` | the state of machine code from one run to the next |
//! | `run` | runs divergent paths |
//! | `phases` | runs all warps of a block from barrier to barrier |

mod atomic;
mod backend;
mod called;
mod callees;
mod calls;
mod choice;
mod code;
mod context;
mod conversion;
mod dataflow;
mod directed;
mod elementary;
mod entries;
mod float;
mod frames;
mod grouped;
mod groups;
mod initialized;
mod integer;
mod live;
mod loops;
mod lower;
mod machine;
mod memory;
mod order;
mod partings;
mod phases;
mod plan;
mod quads;
mod registers;
mod roots;
mod run;
mod runner;
mod subnormal;
mod sums;
mod support;
mod translation;
mod types;
mod values;
mod vectors;
mod writer;

pub(in crate::exec) use code::Code;
pub(in crate::exec) use phases::run_phases;
pub(in crate::exec) use run::run_warp;
pub(in crate::exec) use translation::{
    changed, count, form, is_worth_compiling, may_change, note, of_launch, prepare, runs,
};
