//! Arrays, and the texture and surface objects by which kernels access them.

mod array;
mod format;
mod mipmap;
mod object;
mod resource;
mod sampler;
mod tensor;

use crate::driver::call::Builder;

pub(crate) use array::{Array, Made};
pub(crate) use mipmap::{Levels, create_in as create_mipmap_in};
pub(crate) use object::find;

pub(crate) fn install(builder: &mut Builder) {
    array::install(builder);
    mipmap::install(builder);
    object::install(builder);
    tensor::install(builder);
}
