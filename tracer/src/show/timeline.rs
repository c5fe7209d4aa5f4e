//! A recording as it is shown.

use crate::read::Recording;
use crate::work::Work;
use std::collections::HashSet;

/// A recording as it is shown: lanes of threads with their calls, and lanes of streams with their
/// work.
///
/// ```
/// use cuprum_tracer::{Recording, Timeline};
///
/// # let folder = std::env::temp_dir();
/// let recording = Recording::read(&folder)?; // the folder of `cuprum trace`
/// println!("{}", Timeline::of(&recording).summary());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Timeline<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) work: Work,
}

impl<'a> Timeline<'a> {
    /// Assigns work to streams, and waits to work.
    #[must_use]
    pub fn of(recording: &'a Recording) -> Self {
        Self { recording, work: Work::of(recording) }
    }

    /// Number of streams that had work.
    pub(crate) fn used_streams(&self) -> usize {
        self.work.pieces.iter().map(|piece| piece.stream).collect::<HashSet<_>>().len()
    }
}
