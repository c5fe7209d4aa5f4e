//! Settings and memory of the process, which the first use creates.

use std::sync::OnceLock;

use crate::memory::Memory;
use crate::settings::{Mode, Settings};

struct State {
    settings: Settings,
    memory: Memory,
}

/// Returns the state. Created on first use.
fn state() -> &'static State {
    static STATE: OnceLock<State> = OnceLock::new();
    STATE.get_or_init(|| {
        let settings = Settings::in_force().clone().unwrap_or_default();
        let memory = Memory::new(settings.devices, settings.memory_bytes, settings.check_init);
        State { memory: memory.with_guards(guards_host(&settings)), settings }
    })
}

/// Returns true if page-locked memory is guarded from the host (`order::guard`).
fn guards_host(settings: &Settings) -> bool {
    let is_known = cfg!(all(target_os = "linux", target_arch = "x86_64", not(miri)));
    is_known && settings.check_order && settings.reports && settings.mode == Mode::Eager
}

pub(crate) fn settings() -> &'static Settings {
    &state().settings
}

/// Returns the memory of all devices, and the host memory known to the driver.
pub(crate) fn memory() -> &'static Memory {
    &state().memory
}
