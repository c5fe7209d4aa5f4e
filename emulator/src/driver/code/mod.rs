//! Code: images, modules, libraries, kernels and functions, the linker, and launches.

mod attributes;
mod cluster;
mod cluster_calls;
mod compile;
pub(crate) mod condition;
mod device_runtime;
mod fatbin;
pub(crate) mod fault;
mod function;
mod hooks;
mod image;
mod jit;
mod joined;
mod kernel_calls;
mod launch;
mod legacy_launch;
mod library;
mod library_calls;
mod link;
mod module;
mod module_calls;
mod named;
mod occupancy;
mod origin;
mod placement;
mod refused;

use crate::driver::call::Builder;

pub(crate) use cluster::asked as cluster_asked;
pub(crate) use condition::GraphCondition;
pub(crate) use function::{Function, function_of};
pub(crate) use launch::{Launch, LaunchShape, pack_params};
pub(crate) use library::KERNELS;

/// Enters the functions of this room.
pub(crate) fn install(builder: &mut Builder) {
    cluster_calls::install(builder);
    function::install(builder);
    kernel_calls::install(builder);
    launch::install(builder);
    legacy_launch::install(builder);
    library_calls::install(builder);
    link::install(builder);
    module_calls::install(builder);
    occupancy::install(builder);
}
