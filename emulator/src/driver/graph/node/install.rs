//! The functions of this room.

use super::{any, child, kernel, memory, typed};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    any::install(builder);
    child::install(builder);
    kernel::install(builder);
    memory::install(builder);
    typed::install(builder);
}
