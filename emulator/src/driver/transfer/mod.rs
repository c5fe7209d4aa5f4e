//! Copies, fills, and advice about the location of managed memory.

mod advice;
mod array_row;
mod batch;
mod copy;
mod fill;
mod install;
mod linear;
mod managed;
mod shaped;
mod words;

pub(crate) use copy::Copy;
pub(crate) use fill::{Element, Fill};
pub(crate) use install::install;
pub(crate) use shaped::from_3d;
