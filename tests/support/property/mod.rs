//! Programs at random over the safe API, a model of what each read must show, and what runs them and makes them short.
//!
//! A program is a list of steps, each of one thread, in one order: what a step does happens after all that the steps
//! before it did, so that the model is a plain list of elements for each buffer. A step that makes no sense where it stands
//! is left out; so every part of a program is a program, and one that fails is shortened by leaving out steps.

#![allow(dead_code, reason = "each test crate uses its own part of this shared module")]

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
