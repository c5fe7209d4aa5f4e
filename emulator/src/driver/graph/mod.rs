//! Graphs: operations with dependencies, built node by node or captured from streams.

mod build;
mod capture;
mod conditional;
mod exec;
mod node;
mod object;
mod parts;
mod topology;
mod user_object;

use crate::driver::call::Builder;

pub(crate) fn install(builder: &mut Builder) {
    build::install(builder);
    capture::install(builder);
    conditional::install(builder);
    exec::install(builder);
    node::install(builder);
    user_object::install(builder);
}
