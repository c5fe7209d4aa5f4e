//! The functions of this room.

use super::{build, capture, conditional, exec, node, user_object};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    build::install(builder);
    capture::install(builder);
    conditional::install(builder);
    exec::install(builder);
    node::install(builder);
    user_object::install(builder);
}
