//! A progress line on the terminal for work that takes more than two seconds.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time until the line appears.
const QUIET: Duration = Duration::from_secs(2);
/// Interval of updates.
const STEP: Duration = Duration::from_millis(500);

/// Shows the work in progress until it is dropped: after two seconds, a line on standard error with
/// the elapsed time. Shows nothing if standard error is not a terminal.
#[derive(Debug)]
pub(crate) struct Progress(Option<(mpsc::Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Begins, with the name of the work, as in "starting the driver".
    pub(crate) fn new(what: impl Into<String>) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let (end, ended) = mpsc::channel();
        let what = what.into();
        Self(Some((end, thread::spawn(move || show(&what, &ended)))))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            // The thread cannot have panicked, and has cleared its line.
            let _ = thread.join();
        }
    }
}

fn show(what: &str, ended: &mpsc::Receiver<()>) {
    let start = Instant::now();
    let (mut wait, mut shown) = (QUIET, false);
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
        // Ignores a closed terminal.
        let _ = write!(std::io::stderr(), "\r{what}: {} s\x1b[K", start.elapsed().as_secs());
        (wait, shown) = (STEP, true);
    }
    if shown {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}
