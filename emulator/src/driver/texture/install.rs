//! The functions of this room.

use super::{array, mipmap, object, tensor};

use crate::driver::call::Builder;

/// Enters the functions and objects of each file.
pub(crate) fn install(builder: &mut Builder) {
    array::install(builder);
    mipmap::install(builder);
    object::install(builder);
    tensor::install(builder);
}
