//! The global state of the process: settings, memory, the queue of operations, captures.
//!
//! This room knows no kind of object. A context is a [`Health`], a stream a [`StreamKey`], work an
//! [`Operation`], and the graph of a capture a [`Target`].

mod capture;
mod dice;
mod fences;
mod health;
mod in_time;
mod lanes;
mod operation;
mod order;
mod outlive;
mod process;
mod queue;
mod schedule;
mod stream_key;
mod tail;

pub(crate) use self::process::{memory, settings};
pub(crate) use capture::{CapturedPoint, Taken, Target, captures, exchange_mode};
pub(crate) use health::Health;
pub(crate) use operation::{Operation, Turn};
pub(crate) use order::{Act, Body, Number, Part, at_node, is_gathering, note, note_host_access};
pub(crate) use outlive::rest_before;
pub(crate) use schedule::scheduler;
pub(crate) use stream_key::{StreamKey, Ticket};
