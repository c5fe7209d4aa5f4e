//! A trace of every call that reaches the driver: arguments, answer, thread and time, as text and as a timeline.
//!
//! [`Trace::of`] takes any library and gives one whose calls are written down ([`Trace::library`]). The library itself is
//! as before, and so are all who use it: no call looks whether there is a trace. The feature `trace` makes this module, and
//! has no dependency.
//!
//! A traced call takes about a microsecond more, most of it for its text, which is not in the times that are told.
//!
//! ```
//! use cuprum::trace::Trace;
//! use cuprum::{Buffer, ContextStack, Driver, PrimaryContext};
//!
//! let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
//! let trace = Trace::of(library)?;
//! let context = PrimaryContext::retain(Driver::init(trace.library())?.device(0)?)?;
//! let mut stack = ContextStack::take()?;
//! let cx = stack.push(&context)?;
//!
//! trace.take();
//! let buffer = Buffer::from_slice(&cx, &[1u8, 2, 3])?;
//! drop(buffer);
//! let entries = trace.take();
//! let names: Vec<_> = entries.iter().map(|entry| entry.function().to_string()).collect();
//! assert_eq!(names, ["cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuMemFree_v2"]);
//!
//! // One call per line.
//! print!("{entries}");
//! // For the viewers of Chromium and Perfetto.
//! std::fs::write(std::env::temp_dir().join("cuprum_trace.json"), entries.timeline().to_string())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entry;
mod slot;
mod timeline;
mod value;

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use cuprum_sys::{Library, LoadError};

pub use self::entry::{Entries, Entry};
use self::slot::State;
pub use self::timeline::Timeline;

/// The most libraries of one process that can be traced.
pub const MOST_TRACED: usize = slot::COUNT;

/// A library whose calls are written down.
///
/// It is `Copy` and stays until the process ends, as drivers do. All who trace one library share one trace. Calls of any
/// thread are in it, those that the driver makes room for in callbacks too, each when it has returned; so a call that never
/// returns is not in it. It grows until it is [taken](Trace::take).
///
/// Example: that of the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    state: &'static State,
    traced: Library,
}

/// Why a library cannot be traced.
///
/// Example: that of the [module](self), `of`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// There are [`MOST_TRACED`] others already.
    #[error("{MOST_TRACED} other drivers are traced in this process already, and there is room for no more")]
    TooMany,
    /// The library does not answer when it is asked for its version.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl Trace {
    /// Has the calls of a library written down, of those who use [`library`](Trace::library) in its place.
    ///
    /// The same library gives the same trace, and so does the traced one. The driver is asked for its version, which is not
    /// written down.
    ///
    /// # Errors
    /// [`TraceError`].
    #[inline]
    pub fn of(library: Library) -> Result<Self, TraceError> {
        let (state, traced) = slot::take(library)?;
        Ok(Self { state, traced })
    }

    /// The library whose calls are written down. A [`Driver`](crate::Driver) made of it, and all that comes of that driver,
    /// is traced.
    ///
    /// It is another driver to the methods that compare: what was made through it and what was made beside it do not mix.
    #[must_use]
    pub const fn library(self) -> Library {
        self.traced
    }

    /// True if calls are written down: from the start, until it is [told otherwise](Trace::set_on).
    #[must_use]
    #[inline]
    pub fn is_on(self) -> bool {
        self.state.is_on.load(Ordering::Relaxed)
    }

    /// Begins or ends to write down calls. Of calls that other threads are in, the answer counts that their end meets.
    #[inline]
    pub fn set_on(self, on: bool) {
        self.state.is_on.store(on, Ordering::Relaxed);
    }

    /// Takes out all that was written down, in the order in which the calls returned.
    #[inline]
    pub fn take(self) -> Entries {
        let mut log = self.state.log.lock().unwrap_or_else(PoisonError::into_inner);
        Entries::new(std::mem::take(&mut log.entries), log.threads.clone())
    }
}
