//! The functions of this room.

use super::{memory, semaphore};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    memory::install(builder);
    semaphore::install(builder);
}
