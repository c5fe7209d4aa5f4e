//! The functions of this room.

use super::{calls, peer, primary, settings};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    calls::install(builder);
    peer::install(builder);
    primary::install(builder);
    settings::install(builder);
}
