//! The vector mode: whole rows at a time, several warps at a time.
//!
//! A kernel is translated once into [`code::Steps`], which hold ready functions for the processor at hand
//! ([`crate::semantics::rows`], [`code::access`]). Warps of a block that stand at the same instruction form a
//! [`run::gang`] and run each step together, so that the cost of dispatch is paid once. Where lanes diverge, the gang
//! goes on with those that come first, each warp under a mask; the others wait to be gathered into the next gang. Under
//! a mask a whole row is still written where nobody elsewhere needs the old values ([`code::liveness`]). Registers whose
//! lanes differ in a regular way are not computed lane by lane at all ([`code::affine`], [`run::scalar`]). Rare
//! instructions are left to the plain mode, one by one, on the same registers.

pub(in crate::exec) mod code;
pub(in crate::exec) mod run;
