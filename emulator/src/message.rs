//! Messages of the emulator, and the function that receives them.

use core::fmt::{self, Write as _};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use cuprum_sys::CUresult;

use crate::report::{Fault, Leak, Misuse, Unordered};
use crate::settings::{Settings, SettingsError};

/// An event that a result code does not describe.
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
    /// A kernel caused a fault.
    Fault(&'a Fault),
    /// A module was refused.
    ModuleRefused {
        /// Result of the call.
        code: CUresult,
        /// Text of the JIT error log.
        log: &'a str,
    },
    /// An input of a link was refused.
    InputRefused {
        /// The client's name for the input; for a file, its path.
        name: &'a str,
        /// Result of the call.
        code: CUresult,
        /// Text of the JIT error log.
        log: &'a str,
    },
    /// A launch by a running kernel was refused, which the kernel sees only if it asks for errors.
    /// Reported once per kernel and error.
    LaunchRefused {
        /// The kernel that launches.
        kernel: &'a str,
        /// The error that it receives, with its reason.
        error: &'a str,
    },
    /// A kernel in a graph launched work for its end, which hardware may run after the graph.
    /// Reported once per kernel.
    WorkNotAwaited {
        /// The kernel that launches.
        kernel: &'a str,
    },
    /// A `WHILE` node of a graph was stopped by a limit of the settings.
    EndlessLoop {
        /// Number of runs of its body.
        runs: u64,
    },
    /// A function returns `CUDA_ERROR_NOT_SUPPORTED`. Reported once per function and reason.
    NotSupported {
        /// The exported name of the function.
        function: &'a str,
        /// Reason, and an alternative if there is one.
        reason: &'a str,
    },
    /// A context has ended with objects that were not freed. Only if the settings enable it.
    Leaks(&'a [Leak]),
    /// The process ends with these objects not freed. Usually they are caches, which programs do
    /// not empty at exit. Only if the settings enable it.
    Held(&'a [Leak]),
    /// Two operations access the same bytes without an order. Only if the settings enable it.
    Unordered(&'a Unordered),
    /// A call that no correct program makes.
    Misuse(&'a Misuse),
    /// The process ends, and this many reports were omitted because there were too many.
    LeftOut(u64),
    /// The settings in the environment are invalid, so `cuInit` fails.
    Settings(&'a SettingsError),
    /// The software device was built without optimization. Reported once, by `cuInit`.
    Unoptimized,
}

/// Writes lines for people. Control characters, as in names in PTX, become `\u{1b}` and the like.
impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = Shown(f);
        match self {
            Self::Fault(fault) => write!(f, "{fault}"),
            Self::ModuleRefused { code, log } => {
                write!(f, "module refused with {code:?}: {}", log.trim_end())
            }
            Self::InputRefused { name, code, log } => {
                write!(f, "input `{name}` of a link refused with {code:?}: {}", log.trim_end())
            }
            Self::LaunchRefused { kernel, error } => {
                write!(f, "a launch by the kernel `{kernel}` was refused: {error}")
            }
            Self::WorkNotAwaited { kernel } => {
                write!(
                    f,
                    "the kernel `{kernel}` in a graph launched work for its end (cudaStreamTailLaunch): an H200 \
                     (driver 580) waits for it in the graph's first run only"
                )
            }
            Self::EndlessLoop { runs } => {
                write!(
                    f,
                    "a WHILE node of a graph ran its body {runs} times, and its condition is still not zero \
                     (endless loop?): stopped by the limit of instructions or time"
                )
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
            Self::Held(held) => {
                write!(
                    f,
                    "held until the process ended (caches, or leaks of contexts that it never ended): {}",
                    held.len()
                )?;
                held.iter().try_for_each(|leak| write!(f, "\n  {leak}"))
            }
            Self::Unordered(report) => write!(f, "{report}"),
            Self::Misuse(misuse) => write!(f, "{misuse}"),
            Self::LeftOut(count) => {
                write!(f, "{count} more findings of checks were not reported: the first {MOST_FINDINGS} were")
            }
            Self::Settings(error) => write!(f, "{error}"),
            Self::Unoptimized => f.write_str(
                "built without optimization, so kernels run many times slower; in the program's Cargo.toml:\n  \
                 [profile.dev.package.\"*\"]\n  opt-level = 2",
            ),
        }
    }
}

/// Passes lines of text on, without characters that control a terminal.
struct Shown<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Shown<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| match character {
            '\n' | '\t' => self.0.write_char(character),
            _ if character.is_control() => write!(self.0, "{}", character.escape_unicode()),
            _ => self.0.write_char(character),
        })
    }
}

static HOOK: RwLock<Option<fn(&Message<'_>)>> = RwLock::new(None);

/// Sets the function that receives messages beyond result codes. It replaces the one of
/// [`library`](crate::library), which prints them.
///
/// The hook is called on the thread of the event, within the driver call.
pub fn set_message_hook(hook: fn(&Message<'_>)) {
    *HOOK.write().unwrap_or_else(PoisonError::into_inner) = Some(hook);
}

/// Makes messages go to standard error, if the program has set no other hook.
pub(crate) fn print_by_default() {
    HOOK.write().unwrap_or_else(PoisonError::into_inner).get_or_insert(print);
}

/// Prints a message. Nothing else in this crate prints.
fn print(message: &Message<'_>) {
    // If standard error is closed, the message is dropped.
    let _ = writeln!(std::io::stderr(), "software CUDA device: {message}");
}

static KEEPER: OnceLock<fn(&Message<'_>)> = OnceLock::new();

/// Sets the function that keeps all messages, whatever the settings. Only the first call counts.
pub(crate) fn keep(keeper: fn(&Message<'_>)) {
    KEEPER.get_or_init(|| keeper);
}

/// Maximum number of reported findings of checks.
const MOST_FINDINGS: usize = 1000;

/// The keys of the reported findings, and the number of omitted findings.
static FINDINGS: Mutex<(BTreeSet<String>, u64)> = Mutex::new((BTreeSet::new(), 0));

/// Reports the finding of a check, unless one with this key was reported or there were too many.
pub(crate) fn tell_once(key: String, message: &Message<'_>) {
    {
        let mut findings = FINDINGS.lock().unwrap_or_else(PoisonError::into_inner);
        let (told, left_out) = &mut *findings;
        if told.contains(&key) {
            return;
        }
        if told.len() >= MOST_FINDINGS {
            *left_out += 1;
            return;
        }
        told.insert(key);
    }
    tell(message);
}

/// Reports the number of omitted findings at the end of the process.
pub(crate) fn tell_left_out() {
    let left_out = FINDINGS.lock().unwrap_or_else(PoisonError::into_inner).1;
    if left_out > 0 {
        tell(&Message::LeftOut(left_out));
    }
}

/// Passes a message to the keeper, and to the hook if there is one and the settings allow it.
pub(crate) fn tell(message: &Message<'_>) {
    if let Some(keep) = KEEPER.get() {
        keep(message);
    }
    let asked_for = matches!(
        message,
        Message::Settings(_) | Message::Leaks(_) | Message::Held(_) | Message::Unordered(_)
    );
    let silent = Settings::in_force().as_ref().is_ok_and(|settings| !settings.reports);
    if silent && !asked_for {
        return;
    }
    let hook = *HOOK.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(hook) = hook {
        hook(message);
    }
}
