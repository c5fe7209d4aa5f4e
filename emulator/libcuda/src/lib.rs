//! The software CUDA driver as `libcuda.so.1`, for programs in any language.
//!
//! ```text
//! cargo build --release -p cuprum-libcuda
//! mkdir -p target/libcuda && ln -sf ../release/libcuprum_libcuda.so target/libcuda/libcuda.so.1
//! LD_LIBRARY_PATH=target/libcuda python program.py
//! ```
//!
//! Never install it in a system folder: programs should only load it on request.
//!
//! It exports every function of `cuprum-sys`, generated from the list there. A function that the
//! emulator does not implement returns `CUDA_ERROR_NOT_SUPPORTED`. Faults of kernels, and reasons
//! for refusing a module, are printed to standard error, unless `CUPRUM_EMULATOR_REPORTS=0`. Leaks
//! are printed if `CUPRUM_EMULATOR_LEAKCHECK=1`.
//!
//! `CUPRUM_REPORT_FILE` names a file to which the same is appended, for `cuprum run`: a line with
//! `use` when a process first calls the driver, and for each message a line with its kind (`fault`,
//! `unordered`, `misuse`, `leftout`, `refused`, `late`, `unsupported`, `leaks`, `held`, `settings`)
//! and its text, each line indented by a tab.

use core::ffi::c_void;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::OnceLock;

use cuprum_emulator::{Message, Settings};
use cuprum_sys::{CUresult, FnId, Fns, StreamMode, environment};

mod exported {
    cuprum_sys::export_functions!(crate::functions, crate::answer);
}

/// Returns the emulator's functions. The first use configures it as a library: the addresses to
/// return, the destination of messages, and that `CUDA_VISIBLE_DEVICES` applies.
fn functions(mode: StreamMode) -> &'static Fns {
    static LEGACY: OnceLock<&Fns> = OnceLock::new();
    static PER_THREAD: OnceLock<&Fns> = OnceLock::new();
    let table = match mode {
        StreamMode::Legacy => &LEGACY,
        StreamMode::PerThread => &PER_THREAD,
    };
    table.get_or_init(|| {
        cuprum_emulator::set_message_hook(print);
        write_down("use\n");
        // SAFETY: the exported function of this name and mode, with the signature in the list.
        unsafe { cuprum_emulator::set_publisher(published) };
        // Invalid settings are not installed, so that `cuInit` reports them.
        if let (Ok(settings), Ok(list)) = (Settings::from_env(), std::env::var("CUDA_VISIBLE_DEVICES")) {
            // Refused if another thread was first, which read the same environment.
            let _ = settings.visible_devices(&list).install();
        }
        cuprum_emulator::library_in(mode).fns()
    })
}

/// Returns the address of an exported function.
fn published(id: FnId, mode: StreamMode) -> *const c_void {
    exported::ADDRESSES[id as usize][usize::from(mode == StreamMode::PerThread)]
}

/// Converts the result of a function that is newer than the emulated driver version.
fn answer(result: CUresult) -> CUresult {
    match result {
        CUresult::UNRESOLVED => CUresult::CUDA_ERROR_NOT_SUPPORTED,
        result => result,
    }
}

/// Marks this as a software driver, for `Library::is_software_device`.
#[unsafe(export_name = "cuprum_software_device")]
pub(crate) static SOFTWARE_DEVICE: u8 = 1;

/// Prints a message. A C program has no other way to receive more than a code.
fn print(message: &Message<'_>) {
    // A closed or full standard error must not end the program.
    let _ = writeln!(std::io::stderr(), "software CUDA device: {message}");
    let kind = match message {
        Message::Fault(_) | Message::EndlessLoop { .. } => "fault",
        Message::ModuleRefused { .. } | Message::InputRefused { .. } | Message::LaunchRefused { .. } => {
            "refused"
        }
        Message::WorkNotAwaited { .. } => "late",
        Message::Leaks(_) => "leaks",
        Message::Held(_) => "held",
        Message::Unordered(_) => "unordered",
        Message::Misuse(_) => "misuse",
        Message::LeftOut(_) => "leftout",
        Message::Settings(_) => "settings",
        // No finding about the program.
        Message::Unoptimized => return,
        _ => "unsupported",
    };
    let text: String = message.to_string().lines().map(|line| format!("\t{line}\n")).collect();
    write_down(&format!("{kind}\n{text}"));
}

/// Appends to the file in `CUPRUM_REPORT_FILE`, if set, in one write: other processes may write.
fn write_down(text: &str) {
    let Some(path) = environment::variable("CUPRUM_REPORT_FILE") else { return };
    let file = OpenOptions::new().append(true).create(true).open(path);
    // If this fails, the program continues and the file is missing.
    let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
}
