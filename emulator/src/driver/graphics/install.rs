//! The functions of this room.

use super::{mapping, resource};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    mapping::install(builder);
    resource::install(builder);
}
