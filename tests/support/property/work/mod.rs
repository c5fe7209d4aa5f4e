//! Programs at random over requests and graphs: what outlives the function that made it, or is replayed.
//!
//! A program is a list of steps on a few slots. Steps that make no sense where they stand do nothing, so that every part
//! of a program is a program. Each slot knows what its memory must hold. While a driver call fails, what its step works
//! on is in doubt from then on, and everything else must go on as if nothing had happened.

mod act;
mod graphs;
mod requests;
mod run;
mod set;

pub(crate) use act::{Act, program};
pub(crate) use run::{run, shorten};

/// Elements of each piece of memory.
const LEN: usize = 4;

/// What memory must hold, all of it one value; `None` where that is in doubt.
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
    /// A method answered with an error.
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
