//! Code: images, modules, libraries, kernels and functions, the linker, and launches.

mod attributes;
mod cluster;
mod cluster_calls;
mod compile;
pub(crate) mod condition;
mod device_runtime;
mod fatbin;
mod fault;
mod function;
mod hooks;
mod image;
mod install;
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

pub(crate) use cluster::asked as cluster_asked;
pub(crate) use condition::GraphCondition;
pub(crate) use fault::last as last_fault;
pub(crate) use function::{Function, function_of};
pub(crate) use install::install;
pub(crate) use launch::{Launch, LaunchShape, pack_params};
pub(crate) use library::KERNELS;
