//! The functions of this room.

use super::{atomic, attributes};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    atomic::install(builder);
    attributes::install(builder);
}
