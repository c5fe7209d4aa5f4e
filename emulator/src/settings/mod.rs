//! Settings: the emulated device and its checks.

mod environment;
mod options;

pub use self::options::{AlreadyInUse, ApiCheck, Mode, Settings};
pub use environment::SettingsError;

use self::options::{MAX_DEVICES, MAX_MULTIPROCESSORS};
