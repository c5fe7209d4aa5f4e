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
mod queue;
mod schedule;
mod stream_key;
mod tail;

use std::sync::OnceLock;

use crate::memory::Memory;
use crate::settings::Settings;

pub(crate) use capture::{CapturedPoint, Captures, Taken, Target, exchange_mode};
pub(crate) use health::Health;
pub(crate) use operation::{Operation, Turn};
#[allow(
    unused_imports,
    reason = "for the handler of `driver::memory::host_access`, which not every system has"
)]
pub(crate) use order::note_host_access;
pub(crate) use order::{Act, Body, Number, Part, at_node, is_gathering, note};
pub(crate) use outlive::rest_before;
pub(crate) use schedule::Scheduler;
pub(crate) use stream_key::{StreamKey, Ticket};

struct State {
    settings: Settings,
    memory: Memory,
    scheduler: Scheduler,
}

/// Returns the state. Created on first use.
fn state() -> &'static State {
    static STATE: OnceLock<State> = OnceLock::new();
    STATE.get_or_init(|| {
        let settings = Settings::in_force().clone().unwrap_or_default();
        State {
            memory: Memory::new(settings.devices, settings.memory_bytes, settings.check_init)
                .with_guards(order::guards_host(&settings)),
            scheduler: Scheduler::new(settings.mode, settings.check_order),
            settings,
        }
    })
}

pub(crate) fn settings() -> &'static Settings {
    &state().settings
}

/// Returns the memory of all devices, and the host memory known to the driver.
pub(crate) fn memory() -> &'static Memory {
    &state().memory
}

pub(crate) fn scheduler() -> &'static Scheduler {
    &state().scheduler
}

pub(crate) fn captures() -> &'static Captures {
    static CAPTURES: Captures = Captures::new();
    &CAPTURES
}
