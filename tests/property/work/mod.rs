//! Random programs over requests and graphs: objects that outlive the function that made them, or
//! are replayed.
//!
//! A program is a list of steps on a few slots. Steps that make no sense in their place do nothing,
//! so that every part of a program is a program. Each slot knows the expected contents of its
//! memory. After a failed driver call, the objects of its step are in doubt, and everything else
//! must go on as if nothing had happened.

mod act;
mod graphs;
mod requests;
mod run;
mod set;

pub(crate) use act::{Act, program};
pub(crate) use run::{run, shorten};

/// Elements of each piece of memory.
const LEN: usize = 4;

/// Expected contents of memory, all of it one value; `None` while in doubt.
type Cell = Option<u32>;

/// Fails if memory holds something else than it must.
fn compare(what: &str, read: &[u32], cell: Cell) -> Result<(), String> {
    match cell {
        Some(value) if read != [value; LEN] => Err(format!("{what} holds {read:?}, not {value}")),
        _ if read.len() != LEN => Err(format!("{what} has {} elements", read.len())),
        _ => Ok(()),
    }
}

/// Failure of a step.
enum Failed {
    /// A method returned an error.
    Said(String),
    /// Something that no failing call excuses.
    Wrong(String),
}

impl<E: std::fmt::Display> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Said(error.to_string())
    }
}

/// As `compare`.
fn holds(what: &str, read: &[u32], cell: Cell) -> Result<(), Failed> {
    compare(what, read, cell).map_err(Failed::Wrong)
}
