//! The emulator, as tests use it.

use std::sync::OnceLock;

use cuprum::Library;
use cuprum::sys::StreamMode;

/// The emulator, with two devices so that one can be the other's peer, and otherwise as the
/// environment says.
pub fn emulator(mode: StreamMode) -> Library {
    static SET: OnceLock<()> = OnceLock::new();
    SET.get_or_init(|| {
        let settings = cuprum_emulator::Settings::from_env().expect("settings that make sense");
        settings.devices(2).install().expect("the first use");
    });
    cuprum_emulator::library_in(mode)
}
