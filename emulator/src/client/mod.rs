//! Call sites: the lines of the client that call the driver.
//!
//! A thread that runs Python has frames of Python. Any other thread has the frames of its stack for
//! which the program has names and lines. Linux only: elsewhere no call site is known.

mod native;
mod python;
mod sites;

pub(crate) use self::sites::{frames, here};
