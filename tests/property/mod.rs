//! Random programs over the safe API, a model of the expected result of each read, a runner, and a shortener.
//!
//! A program is a list of steps, each of one thread, in one order. A step happens after all effects of the
//! steps before it, so the model is a plain list of elements for each buffer. A step that makes no sense in
//! its place is left out. Therefore every part of a program is a program, and a failing one is shortened by
//! leaving out steps.

pub(crate) mod element;
pub(crate) mod generate;
pub(crate) mod model;
pub(crate) mod random;
pub(crate) mod run;
pub(crate) mod scoped;
pub(crate) mod shrink;
pub(crate) mod step;
pub(crate) mod work;
pub(crate) mod worker;
