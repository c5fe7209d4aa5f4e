//! What is called, in which order, and what happens when a call fails: over drivers that write down what they are asked,
//! through hooks in the table of functions (`tests/support/tracer`).
//!
//! Each test has the log of its own thread. They run beside each other in one process, and drops swallow errors here all
//! the time: what counts them is in `tests/swallowed.rs`. What sets up the process, or may end it, runs in a child.

#[path = "../support/amount.rs"]
mod amount;
#[path = "../support/child.rs"]
mod child;
#[path = "../support/program/mod.rs"]
mod program;
#[path = "../support/source/mod.rs"]
mod source;
#[path = "../support/sweep/mod.rs"]
mod sweep;
#[path = "../support/tracer/mod.rs"]
mod tracer;

mod answers;
mod calls;
mod empty_scope;
mod graph;
mod host_call;
mod injection;
mod managed_memory;
mod old_drivers;
mod open;
mod parameters;
mod pool;
mod provenance;
mod self_test;
mod stack;
mod tokens;
mod tools;
mod two_drivers;
