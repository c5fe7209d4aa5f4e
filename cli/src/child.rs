//! Runs this program again as a child, for work that may crash, hang, or leave a driver loaded.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use crate::signals;

/// The output of a child, and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its messages, as lines of a word, a tab and a text.
    pub(crate) lines: Vec<(String, String)>,
    /// Reason why it did not finish, with the last line on its standard error.
    pub(crate) failed: Option<String>,
}

impl Ended {
    /// The text of a word's first line.
    pub(crate) fn get(&self, word: &str) -> Option<&str> {
        self.lines.iter().find(|line| line.0 == word).map(|line| &*line.1)
    }

    /// The texts of all lines of a word.
    pub(crate) fn all<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter(move |line| line.0 == word).map(|line| &*line.1)
    }
}

pub(crate) fn tell(word: &str, text: impl std::fmt::Display) {
    let text = text.to_string().replace(['\n', '\r'], " ");
    // A parent that has ended no longer reads.
    let _ = writeln!(io::stdout().lock(), "{word}\t{text}");
}

/// Runs this program with other arguments, for at most `limit`.
pub(crate) fn run(arguments: &[&OsStr], variables: &[(&str, &OsStr)], limit: Duration) -> Ended {
    let start = || -> io::Result<(String, String, Option<ExitStatus>)> {
        let mut command = Command::new(env::current_exe()?);
        command.args(arguments).envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (out, error) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let end = Instant::now() + limit;
        let status = loop {
            match child.try_wait()? {
                Some(status) => break Some(status),
                None if Instant::now() > end => {
                    child.kill()?;
                    child.wait()?;
                    break None;
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let text = |thread: thread::JoinHandle<String>| thread.join().unwrap_or_default();
        Ok((text(out), text(error), status))
    };
    let (out, noise, failed) = match start() {
        Err(error) => (String::new(), String::new(), Some(format!("no child could be started: {error}"))),
        Ok((out, noise, None)) => (out, noise, Some(format!("it did not end within {} s", limit.as_secs()))),
        Ok((out, noise, Some(status))) => {
            (out, noise, (!status.success()).then(|| format!("it ended with {}", meaning(status))))
        }
    };
    let last = noise.lines().map(str::trim).rfind(|line| !line.is_empty());
    let failed = failed.map(|why| last.map_or_else(|| why.clone(), |last| format!("{why}; it said: {last}")));
    let pairs = out.lines().filter_map(|line| line.split_once('\t'));
    Ended { lines: pairs.map(|(word, text)| (word.to_owned(), text.to_owned())).collect(), failed }
}

/// Reads a pipe to its end on a separate thread, so that neither pipe blocks the child.
fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // Data read before an error is still useful.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn meaning(status: ExitStatus) -> String {
    match signals::of(status) {
        Some(signal) => format!("signal {signal}{}", if signal == 11 { ", a crash" } else { "" }),
        None => status.to_string(),
    }
}
