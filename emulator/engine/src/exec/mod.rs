//! Runs decoded kernels.
//!
//! A launch is split into blocks, which workers take from a queue. A block's warps run in turn on one worker. A
//! warp's lanes run together as long as they agree on where to go; where they diverge, each part becomes a fragment
//! with its own program counter, the fragment in the earliest block runs first, and fragments that meet become one
//! again.
//!
//! Its rooms, each of which may use those below it:
//!
//! | room | what |
//! |---|---|
//! | `launch` | the queue of blocks, workers, turns of warps |
//! | `vector` | several warps at a time, step by step |
//! | `plain` | one warp, instruction by instruction |
//! | `access` | loads, stores and atomics: address to bytes, with every access checked |
//! | `block` | the state of a block: its warps and their registers, its barriers, its faults |
//! | `check` | memory of the checks, `code` kernels as steps, [`texture`] sampling of textures |
//! | [`touched`] | the bytes that a launch reads and writes |
//! | `interface` | arguments of a launch |

mod access;
mod block;
mod check;
mod code;
mod interface;
mod launch;
mod plain;
#[doc(hidden)]
pub mod tensor;
pub mod texture;
pub mod touched;
mod vector;

pub use interface::{ExecOptions, Execution, Hooks, LaunchArgs, LaunchStats, NoHooks};

use crate::memory::Map;
use crate::report::Fault;

/// Runs a kernel to its end on the memory of `map`.
///
/// The caller vouches for launch limits; only conditions that would break the execution are checked here.
///
/// # Errors
/// The first fault, after which the other blocks stop.
pub fn launch(
    args: &LaunchArgs<'_>,
    map: &Map,
    options: &ExecOptions,
    hooks: &dyn Hooks,
) -> Result<LaunchStats, Box<Fault>> {
    launch::run(args, map, options, hooks)
}
