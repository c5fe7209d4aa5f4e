//! Calls that were written down.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use cuprum_sys::{CUresult, FnId};

use super::Timeline;

/// One call that was made.
///
/// As text it is a line: `cuMemAlloc_v2(dptr: 0x7ffc…, bytesize: 4096) -> 0x7f20… in 1.3 µs`.
///
/// Example: that of the [module](super), `function`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub(super) function: FnId,
    pub(super) arguments: Vec<(&'static str, String)>,
    pub(super) kernel: Option<String>,
    pub(super) result: CUresult,
    pub(super) gave: Option<String>,
    pub(super) thread: u32,
    pub(super) start: Duration,
    pub(super) time: Duration,
}

impl Entry {
    /// The function that was called.
    #[must_use]
    pub const fn function(&self) -> FnId {
        self.function
    }

    /// The arguments by their names in C: numbers and constants by value, C strings quoted, handles and pointers as addresses.
    /// What else a pointer leads to is not looked at.
    #[must_use]
    #[inline]
    pub fn arguments(&self) -> &[(&'static str, String)] {
        &self.arguments
    }

    /// The name of the kernel that the call was about, if it was got by name while there was a trace.
    #[must_use]
    #[inline]
    pub fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// What the driver answered.
    pub const fn result(&self) -> CUresult {
        self.result
    }

    /// What a call that succeeded gave through its first argument: a handle, an address, a number.
    #[must_use]
    #[inline]
    pub fn gave(&self) -> Option<&str> {
        self.gave.as_deref()
    }

    /// The number of the thread that made the call, from 1 in the order of their first calls in this process.
    #[must_use]
    pub const fn thread(&self) -> u32 {
        self.thread
    }

    /// When the call began, since the library was first traced.
    #[must_use]
    pub const fn start(&self) -> Duration {
        self.start
    }

    /// How long the driver took.
    #[must_use]
    pub const fn time(&self) -> Duration {
        self.time
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.function)?;
        for (number, (name, value)) in self.arguments.iter().enumerate() {
            write!(f, "{}{name}: {value}", if number == 0 { "" } else { ", " })?;
        }
        f.write_str(")")?;
        if let Some(kernel) = &self.kernel {
            write!(f, " of `{kernel}`")?;
        }
        match (&self.gave, self.result) {
            (Some(gave), _) => write!(f, " -> {gave}")?,
            (None, CUresult::CUDA_SUCCESS) => {}
            (None, result) => match result.name() {
                Some(name) => write!(f, " -> {name}")?,
                None => write!(f, " -> {}", result.0)?,
            },
        }
        write!(f, " in {:?}", self.time)
    }
}

/// Calls in the order in which they returned. It dereferences to a slice; as text it is one line per call.
///
/// Example: that of the [module](super), `take`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries {
    list: Vec<Entry>,
    threads: BTreeMap<u32, String>,
}

impl Entries {
    pub(super) const fn new(list: Vec<Entry>, threads: BTreeMap<u32, String>) -> Self {
        Self { list, threads }
    }

    /// The name of a thread that made calls; empty for one that has none.
    #[must_use]
    #[inline]
    pub fn thread_name(&self, thread: u32) -> &str {
        self.threads.get(&thread).map_or("", String::as_str)
    }

    /// The threads that have made calls since the library was first traced, with their names.
    pub fn threads(&self) -> impl Iterator<Item = (u32, &str)> {
        self.threads.iter().map(|(&thread, name)| (thread, name.as_str()))
    }

    /// The same as a timeline for trace viewers.
    #[must_use]
    pub const fn timeline(&self) -> Timeline<'_> {
        Timeline::new(self)
    }
}

impl Deref for Entries {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.list
    }
}

impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.list {
            writeln!(f, "{:>12.3} µs, thread {}: {entry}", micros(entry.start), entry.thread)?;
        }
        Ok(())
    }
}

pub(super) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
