//! The vector mode: whole vector registers and several warps at a time.
//!
//! A kernel is translated once into [`code::Steps`](super::code::Steps), which contain functions
//! for this processor ([`crate::semantics::rows`], [`super::code::access`]). Warps of a block at
//! the same instruction form a group ([`gang`]) and run each step together, so that the cost of
//! dispatch is paid once. When lanes diverge, the group continues with those that come first, each
//! warp under a mask; the others wait for the next group. Under a mask, a whole register is still
//! written if no other lane needs the old values ([`super::code::liveness`]). Registers whose lanes
//! differ regularly are not computed lane by lane ([`super::code::affine`], [`scalar`]). Rare
//! instructions are delegated to the plain mode, on the same registers.

mod access;
mod atomic;
mod branch;
mod compute;
mod gang;
mod group;
mod initialized;
mod phases;
mod races;
mod regular;
mod run;
pub(in crate::exec) mod scalar;
mod watch;

pub(in crate::exec) use group::run_group;
pub(in crate::exec) use phases::run_groups;
use run::{Go, Run};
