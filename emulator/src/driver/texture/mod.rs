//! Arrays, and the texture and surface objects by which kernels access them.

mod array;
mod format;
mod install;
mod mipmap;
mod object;
mod resource;
mod sampler;
mod tensor;

pub(crate) use array::{Array, Made};
pub(crate) use install::install;
pub(crate) use mipmap::{Levels, create_in as create_mipmap_in};
pub(crate) use object::find;
