//! The calls, their order, and the handling of failed calls: over drivers that record their calls, through
//! hooks in the table of functions (`tests/support/tracer`).
//!
//! Each test has the log of its own thread. The tests run concurrently in one process, and drops swallow
//! errors here all the time; tests that count these are in `tests/swallowed.rs`. A test that sets up the
//! process, or may end it, runs in a child.

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
mod attached;
mod calls;
mod captures;
mod drops;
mod empty_scope;
mod first_cause;
mod graph;
mod host_call;
mod injection;
mod managed_memory;
mod old_drivers;
mod one_driver;
mod open;
mod parameters;
mod pool;
mod provenance;
mod regions;
mod self_test;
mod stack;
mod tokens;
mod tools;
mod two_drivers;
mod waits;
