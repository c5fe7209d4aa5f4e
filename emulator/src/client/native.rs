//! The stack of a thread that runs no Python.

use std::backtrace::Backtrace;

use crate::report::Frame;

/// A stack whose names have not been looked up yet.
#[derive(Debug)]
pub(super) struct Stack(Backtrace);

/// Frames below the client: the driver's, up to the function called, and Rust's own.
const DRIVER: &[&str] = &["cuprum_emulator", "cuprum_libcuda", "<cuprum_emulator"];
const SYSTEM: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "test::",
    "__libc_",
    "_start",
    "__rust_",
    "start_thread",
    "clone",
    "unknown>",
];

impl Stack {
    pub(super) fn capture() -> Self {
        Self(Backtrace::force_capture())
    }

    /// Returns the client's functions with their lines, the innermost first.
    pub(super) fn frames(&self, most: usize) -> Vec<Frame> {
        of_client(&self.0.to_string(), most)
    }
}

/// Returns the client's part of a stack in Rust's format: a line `3: function` for each frame,
/// followed by `at file:line:column` if it is known.
fn of_client(text: &str, most: usize) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("at ") {
            Some(place) => {
                if let Some(frame) = frames.last_mut() {
                    let (file, line) = place_of(place);
                    (frame.file, frame.line) = (Some(file.to_owned()), line);
                }
            }
            None => {
                let function = line.split_once(": ").map_or(line, |(_, function)| function);
                frames.push(Frame::new(function));
            }
        }
    }
    let is_driver = |frame: &Frame| {
        let name = frame.function.as_str();
        DRIVER.iter().any(|start| name.starts_with(start)) || is_entry(name)
    };
    let first = frames.iter().rposition(is_driver).map_or(0, |last| last + 1);
    let of_client = frames.drain(first..);
    of_client.filter(|frame| !is_of_system(frame)).take(most).collect()
}

/// True for code of Rust's libraries and of the system.
fn is_of_system(frame: &Frame) -> bool {
    let name = frame.function.trim_start_matches('<');
    let in_rust = frame.file.as_deref().is_some_and(|file| file.starts_with("/rustc/"));
    in_rust
        || name.contains(" as core::ops::function::")
        || SYSTEM.iter().any(|start| name.starts_with(start))
}

/// True for an exported function of the driver, such as `cuMemFree_v2`.
fn is_entry(name: &str) -> bool {
    let rest = name.strip_prefix("cu").unwrap_or_default();
    rest.starts_with(|first: char| first.is_ascii_uppercase()) && !rest.contains("::")
}

/// Splits `file:line:column`.
fn place_of(place: &str) -> (&str, u32) {
    let mut parts = place.rsplitn(3, ':');
    match (parts.next(), parts.next().and_then(|line| line.parse().ok()), parts.next()) {
        (Some(_), Some(line), Some(file)) => (file, line),
        _ => (place, 0),
    }
}

/// Maximum number of addresses that distinguish call sites.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
const MOST_RETURNS: usize = 32;

/// Returns the return addresses of the functions on the stack.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
pub(super) fn returns() -> Option<Vec<usize>> {
    use core::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn backtrace(addresses: *mut *mut c_void, count: c_int) -> c_int;
    }
    let mut addresses = [core::ptr::null_mut(); MOST_RETURNS];
    // SAFETY: the array has room for that many addresses.
    let count = unsafe { backtrace(addresses.as_mut_ptr(), MOST_RETURNS as c_int) };
    let count = usize::try_from(count).unwrap_or(0).min(MOST_RETURNS);
    Some(addresses[..count].iter().map(|address| address.addr()).collect())
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
pub(super) fn returns() -> Option<Vec<usize>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_part_begins_after_the_function_that_it_called() {
        let text = "   0: <cuprum_emulator::x as Y>::run\n   1: cuMemFree_v2\n             at /e/src/call/mod.rs:9:1\n   \
                    2: free_twice\n             at ./program.c:12:5\n   3: cuda_helper::run\n   4: <unknown>\n   \
                    5: main\n   6: __libc_start_main\n   7: core::ops::function::FnOnce::call_once\n";
        let frames = of_client(text, 9);
        let shown: Vec<String> = frames.iter().map(Frame::to_string).collect();
        assert_eq!(shown, ["./program.c:12 in free_twice", "cuda_helper::run", "main"]);
        assert_eq!(of_client(text, 1).len(), 1);
    }
}
