//! Graphs: operations with dependencies, built node by node or captured from streams.

mod build;
mod capture;
mod conditional;
mod exec;
mod install;
mod node;
mod nodes;
mod object;
mod parts;
mod topology;
mod user_object;

pub(crate) use install::install;
