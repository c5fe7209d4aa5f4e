//! The software CUDA driver as `libcuda.so.1`, for programs that know nothing of Rust.
//!
//! ```text
//! cargo build --release -p cuprum-libcuda
//! mkdir -p target/libcuda && ln -sf ../release/libcuprum_libcuda.so target/libcuda/libcuda.so.1
//! LD_LIBRARY_PATH=target/libcuda python program.py
//! ```
//!
//! Never install it into a system folder: it is not NVIDIA's driver, and programs should meet it
//! only where somebody asked for it.
//!
//! It exports every function of `cuprum-sys`, made from the one list there. A
//! function that the emulator does not implement answers `CUDA_ERROR_NOT_SUPPORTED`. What went wrong
//! in a kernel, and why a module was refused, is printed to standard error, unless
//! `CUPRUM_EMULATOR_REPORTS=0`; leaks are, if `CUPRUM_EMULATOR_LEAKCHECK=1`. `CUPRUM_REPORT_FILE` names a file to which
//! the same is added, for `cuprum run`: a line with `use`, when a process first calls the driver, and for each message a
//! line with its kind (`fault`, `unordered`, `misuse`, `leftout`, `refused`, `unsupported`, `leaks`, `held`, `settings`) and its text, each line of it behind a tab.

use core::ffi::c_void;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::OnceLock;

use cuprum_emulator::{Message, Settings};
use cuprum_sys::{CUresult, FnId, Fns, StreamMode, environment};

/// The exported functions.
mod exported {
    cuprum_sys::export_functions!(crate::functions, crate::answer);
}

/// The emulator's functions. Its first use tells it what a library is to a process, and a crate is not: whose
/// addresses to give out, where messages go, and that `CUDA_VISIBLE_DEVICES` counts.
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
        // SAFETY: the exported function of that name and mode, with the signature of the list it was made from.
        unsafe { cuprum_emulator::set_publisher(published) };
        // Settings that make no sense are not installed, so that `cuInit` finds them and says so.
        if let (Ok(settings), Ok(list)) = (Settings::from_env(), std::env::var("CUDA_VISIBLE_DEVICES")) {
            // Refused if another thread was first, which read the same environment.
            let _ = settings.visible_devices(&list).install();
        }
        cuprum_emulator::library_in(mode).fns()
    })
}

/// The address of an exported function.
fn published(id: FnId, mode: StreamMode) -> *const c_void {
    exported::ADDRESSES[id as usize][usize::from(mode == StreamMode::PerThread)]
}

/// A function that came after the version that the emulator poses as is not there.
fn answer(result: CUresult) -> CUresult {
    match result {
        CUresult::UNRESOLVED => CUresult::CUDA_ERROR_NOT_SUPPORTED,
        result => result,
    }
}

/// Says that this is no hardware's driver: what `Library::is_software_device` looks for.
#[unsafe(export_name = "cuprum_software_device")]
pub(crate) static SOFTWARE_DEVICE: u8 = 1;

/// This library has no other way to tell a C program more than a number.
fn print(message: &Message<'_>) {
    // A closed or full standard error must not end the program.
    let _ = writeln!(std::io::stderr(), "software CUDA device: {message}");
    let kind = match message {
        Message::Fault(_) => "fault",
        Message::ModuleRefused { .. } | Message::InputRefused { .. } => "refused",
        Message::Leaks(_) => "leaks",
        Message::Held(_) => "held",
        Message::Unordered(_) => "unordered",
        Message::Misuse(_) => "misuse",
        Message::LeftOut(_) => "leftout",
        Message::Settings(_) => "settings",
        _ => "unsupported",
    };
    let text: String = message.to_string().lines().map(|line| format!("\t{line}\n")).collect();
    write_down(&format!("{kind}\n{text}"));
}

/// Adds to the file of `CUPRUM_REPORT_FILE`, if it is set: in one piece, as other processes may write as well.
fn write_down(text: &str) {
    let Some(path) = environment::variable("CUPRUM_REPORT_FILE") else { return };
    let file = OpenOptions::new().append(true).create(true).open(path);
    // Who asked for the file finds it missing; the program goes on as it would without it.
    let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
}
