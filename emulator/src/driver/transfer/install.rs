//! The functions of this room.

use super::{array_row, batch, fill, linear, managed, shaped};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    array_row::install(builder);
    batch::install(builder);
    fill::install(builder);
    linear::install(builder);
    managed::install(builder);
    shaped::install(builder);
}
