//! Runs decoded kernels.
//!
//! A launch is split into blocks, which workers take from a queue. One worker runs the warps of a
//! block in turn. The lanes of a warp run together until they diverge. Each divergent path has its
//! own program counter; the path that is first in reverse post-order runs first, and paths that
//! reach the same instruction reconverge.
//!
//! Each room may use those below it:
//!
//! | room | contents |
//! |---|---|
//! | `launch` | the queue of blocks, workers, turns of warps |
//! | `vector` | several warps at a time, step by step |
//! | `compiled` | one warp, lane by lane as machine code (feature `compile`) |
//! | `plain` | one warp, instruction by instruction |
//! | `access` | loads, stores and atomics: address to bytes, with every access checked |
//! | `block` | the state of a block: its warps and their registers, its barriers, its faults |
//! | `interface` | arguments of a launch |
//! | `check`, `code`, [`texture`], `tensor` | state of the checks; kernels as steps; sampling of textures; tensor maps |
//! | [`touched`] | the bytes that a launch reads and writes |

mod access;
mod block;
mod check;
mod code;
#[cfg(feature = "compile")]
mod compiled;
mod interface;
mod launch;
mod plain;
#[doc(hidden)]
pub mod tensor;
pub mod texture;
pub mod touched;
mod vector;

pub use interface::{ExecOptions, Execution, Hooks, LaunchArgs, LaunchStats, NoHooks};
pub use launch::{has_machine_code, launch};
