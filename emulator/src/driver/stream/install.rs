//! The functions of this room.

use super::{allocation, attributes, calls, event, host, order, value};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    allocation::install(builder);
    attributes::install(builder);
    calls::install(builder);
    event::install(builder);
    host::install(builder);
    order::install(builder);
    value::install(builder);
}
