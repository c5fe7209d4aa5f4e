//! Messages that the emulator would print, if it printed.

use core::fmt;
use std::sync::{OnceLock, PoisonError, RwLock};

use cuprum_sys::CUresult;

use crate::report::{Fault, Leak};
use crate::settings::{Settings, SettingsError};

/// An event that a result code alone does not tell.
///
/// # Example
/// ```
/// use cuprum_emulator::Message;
///
/// // A program whose `main` returns an error then shows the thread and the line as well.
/// cuprum_emulator::set_message_hook(|message| match message {
///     Message::Fault(fault) => eprintln!("{fault}"),
///     other => eprintln!("{other}"),
/// });
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Message<'a> {
    /// A kernel went wrong.
    Fault(&'a Fault),
    /// A module was refused.
    ModuleRefused {
        /// Answer of the call.
        code: CUresult,
        /// Text of the JIT error log.
        log: &'a str,
    },
    /// An input of a link was refused.
    InputRefused {
        /// The client's name for the input; for a file, its path.
        name: &'a str,
        /// Answer of the call.
        code: CUresult,
        /// Text of the JIT error log.
        log: &'a str,
    },
    /// A function answers `CUDA_ERROR_NOT_SUPPORTED`. Told once per function and reason.
    NotSupported {
        /// The exported name of the function.
        function: &'a str,
        /// Reason, and the way out, if there is one.
        reason: &'a str,
    },
    /// A context has ended, or the process ends, and something was never given back. Only if the settings ask for it.
    Leaks(&'a [Leak]),
    /// The settings in the environment make no sense, so `cuInit` fails.
    Settings(&'a SettingsError),
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => write!(f, "{fault}"),
            Self::ModuleRefused { code, log } => {
                write!(f, "module refused with {code:?}: {}", log.trim_end())
            }
            Self::InputRefused { name, code, log } => {
                write!(f, "input `{name}` of a link refused with {code:?}: {}", log.trim_end())
            }
            Self::NotSupported { function, reason } => {
                write!(f, "{function} answers CUDA_ERROR_NOT_SUPPORTED: {reason}")
            }
            Self::Leaks(leaks) => {
                match leaks.len() {
                    1 => f.write_str("1 leak")?,
                    count => write!(f, "{count} leaks")?,
                }
                leaks.iter().try_for_each(|leak| write!(f, "\n  {leak}"))
            }
            Self::Settings(error) => write!(f, "{error}"),
        }
    }
}

static HOOK: RwLock<Option<fn(&Message<'_>)>> = RwLock::new(None);

/// Sets the function that receives messages beyond result codes. The library itself prints nothing, but for
/// [`open_driver_or_emulator`](crate::open_driver_or_emulator), whose hook this one replaces.
///
/// The hook is called on the thread of the event, inside of the driver call.
pub fn set_message_hook(hook: fn(&Message<'_>)) {
    *HOOK.write().unwrap_or_else(PoisonError::into_inner) = Some(hook);
}

/// Sets the hook unless there is one.
pub(crate) fn set_default_hook(hook: fn(&Message<'_>)) {
    HOOK.write().unwrap_or_else(PoisonError::into_inner).get_or_insert(hook);
}

static KEEPER: OnceLock<fn(&Message<'_>)> = OnceLock::new();

/// Sets the function that keeps all messages, whatever the settings say. There is one; the first stays.
pub(crate) fn keep(keeper: fn(&Message<'_>)) {
    KEEPER.get_or_init(|| keeper);
}

/// Tells the keeper, and the hook, if there is one and the settings allow it.
pub(crate) fn tell(message: &Message<'_>) {
    if let Some(keep) = KEEPER.get() {
        keep(message);
    }
    let asked_for = matches!(message, Message::Settings(_) | Message::Leaks(_));
    let silent = Settings::in_force().as_ref().is_ok_and(|settings| !settings.reports);
    if silent && !asked_for {
        return;
    }
    let hook = *HOOK.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(hook) = hook {
        hook(message);
    }
}
