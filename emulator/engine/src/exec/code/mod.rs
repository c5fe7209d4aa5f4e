//! Translates kernels for the vector mode, once each.

pub(in crate::exec) mod access;
mod accesses;
pub(in crate::exec) mod affine;
mod arms;
pub(in crate::exec) mod blend;
mod early;
pub(in crate::exec) mod few;
pub(in crate::exec) mod growth;
mod indexed;
pub(in crate::exec) mod liveness;
mod regular;
pub(in crate::exec) mod step;
pub(in crate::exec) mod transfer;
mod translate;
mod uses;

pub(in crate::exec) use growth::HALF;
pub(in crate::exec) use step::{MOST_WARPS, Steps};
pub(in crate::exec) use translate::steps;
