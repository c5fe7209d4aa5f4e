//! Random programs over the safe API, a model of the expected result of each read, a runner, and a
//! shortener.
//!
//! A program is a list of steps, each of one thread, in one order. A step happens after all effects
//! of the steps before it, so the model is a plain list of elements for each buffer. A step that
//! makes no sense in its place is left out. Therefore every part of a program is a program, and a
//! failing one is shortened by leaving out steps.
//!
//! ```text
//! step      a step: an action of a thread on buffers and streams
//! generate  a program at random, of such steps
//! element   the types of the elements
//! model     the contents of each buffer after each step
//! run       runs a program on threads, and compares its reads with the model
//!   worker  such a thread
//!   scoped  the scopes that a thread has open
//! shrink    shortens a program that fails, and prints it
//! work      programs of another kind, over requests and graphs:
//!   act       a step, and programs at random
//!   run       runs a program, in which a driver call may fail
//!   requests  a request, and the expected contents of its memory
//!   graphs    a graph, and the expected contents of its memory
//!     build   nodes that several calls add to a graph
//!   set       the memory of a graph, and nodes that work on it
//! ```
//!
//! This program, with a fill that no scope waits for, was shortened from 80 steps and printed:
//!
//! ```text
//! seed 7, shortened:
//!     0  thread 0: MakeStream(0, New(NonBlocking))
//!     1  thread 0: Make { slot: 4, len: 40, how: Zeroed }
//!     2  thread 0: Mistake(buffer 4 [8..40], 0)
//! at the end, buffer 4: element 8 is 0, by the program's order it is d0d0
//! ```

pub(crate) mod element;
pub(crate) mod generate;
pub(crate) mod model;
pub(crate) mod run;
pub(crate) mod scoped;
pub(crate) mod shrink;
pub(crate) mod step;
pub(crate) mod work;
pub(crate) mod worker;
