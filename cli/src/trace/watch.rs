//! Detects whether a program opens another `libcuda.so` than the recording library.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Intervals between checks in milliseconds; the last repeats.
const STEPS: [u64; 6] = [10, 20, 50, 100, 200, 500];

/// A driver library that a process opened besides ours.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Other {
    pub(crate) process: u32,
    pub(crate) library: String,
}

#[derive(Default)]
pub(crate) struct Watch {
    seen: Arc<Mutex<BTreeSet<Other>>>,
    end: Mutex<Option<mpsc::Sender<()>>>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn begin(&self, process: u32) {
        let (end, ended) = mpsc::channel();
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
        let seen = Arc::clone(&self.seen);
        thread::spawn(move || {
            for step in STEPS.iter().copied().chain(std::iter::repeat(STEPS[5])) {
                let wait = ended.recv_timeout(Duration::from_millis(step));
                if let Some(library) = driver_without_ours(process) {
                    let other = Other { process, library: library.to_string_lossy().into_owned() };
                    seen.lock().unwrap_or_else(PoisonError::into_inner).insert(other);
                }
                if wait != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
    }

    pub(crate) fn end(self) -> Vec<Other> {
        drop(self.end.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// The driver library of a process that has one, but not ours.
fn driver_without_ours(process: u32) -> Option<PathBuf> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    if maps.lines().any(|line| line.ends_with(super::command::LIBRARY)) {
        return None;
    }
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])));
    let is_driver = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libcuda.so"))
    };
    paths.into_iter().find(is_driver)
}
