//! Operations of nodes: the kinds of nodes and the functions that create, describe and change them.
//!
//! The C interface has a structure for each kind of node, in up to two revisions, and one for all
//! kinds. [`NodeParams`](params::NodeParams) converts between structures and nodes. `typed`
//! contains the functions for one kind each, and `any` the functions for every kind. `kernel`,
//! `memory` and `child` contain the parts that only these kinds have.

mod add;
mod allocated;
mod any;
mod captured;
mod child;
mod install;
mod kernel;
mod kernel_node;
mod kind;
mod memory;
mod params;
mod typed;

use self::add::{add, current_context, params_of};
pub(crate) use self::install::install;
pub(crate) use self::kind::{CopyNode, NodeKind};
