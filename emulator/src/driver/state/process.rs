//! State of the process, which the first use creates.

use super::capture::Captures;
use super::order;
use super::schedule::Scheduler;
use crate::memory::Memory;
use crate::settings::Settings;
use std::sync::OnceLock;

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
