//! Copies, fills, and advice about the location of managed memory.

mod advice;
mod array_row;
mod batch;
mod copy;
mod fill;
mod linear;
mod managed;
mod shaped;
mod words;

use crate::driver::call::Builder;

pub(crate) use copy::Copy;
pub(crate) use fill::{Element, Fill};
pub(crate) use shaped::from_3d;

pub(crate) fn install(builder: &mut Builder) {
    array_row::install(builder);
    batch::install(builder);
    fill::install(builder);
    linear::install(builder);
    managed::install(builder);
    shaped::install(builder);
}
