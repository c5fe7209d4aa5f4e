//! The calls, their order, and the handling of failed calls: over drivers that record their calls,
//! through hooks in the table of functions (`testing/src/tracer`).
//!
//! Each test has the log of its own thread. The tests run concurrently in one process, and drops
//! swallow errors here all the time; tests that count these are in `tests/swallowed.rs`. A test
//! that sets up the process, or may end it, runs in a child.

mod program;
mod sweep;

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

use cuprum_testing::{amount, child, source, tracer};
