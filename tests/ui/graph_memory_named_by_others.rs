// Code outside of the crate cannot name the traits of graph memory: it neither implements them nor
// calls their methods.
use cuprum::graph::{LendToGraph, NodeFill, NodeKernel, NodeTarget};

// Code outside of the crate cannot name the traits of graph memory: it neither implements them nor
// calls their methods.
fn main() {}
