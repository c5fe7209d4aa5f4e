//! The host's time: totals per function.

use std::collections::HashMap;
use std::fmt;

use cuprum_sys::{CUresult, FnId};

use super::text;
use super::timeline::Timeline;
use crate::read::Recording;
use crate::roles;

/// The maximum number of functions in the output.
const MOST: usize = 8;

/// All calls of a function.
pub(crate) struct Total {
    pub(crate) function: FnId,
    pub(crate) calls: usize,
    pub(crate) failed: usize,
    /// Nanoseconds of all calls, and of the longest.
    pub(crate) time: u64,
    pub(crate) longest: u64,
    pub(crate) blocks: bool,
}

/// Totals per function, the longest first.
pub(crate) fn totals(recording: &Recording) -> Vec<Total> {
    let mut totals: HashMap<FnId, Total> = HashMap::new();
    for call in &recording.calls {
        let function = call.function;
        let blocks = roles::blocks(function);
        let total = totals.entry(function).or_insert(Total {
            function,
            calls: 0,
            failed: 0,
            time: 0,
            longest: 0,
            blocks,
        });
        total.calls += 1;
        total.failed += usize::from(roles::is_answer_no(call));
        total.time += call.time();
        total.longest = total.longest.max(call.time());
    }
    let mut totals: Vec<Total> = totals.into_values().collect();
    totals.sort_by_key(|total| (std::cmp::Reverse(total.time), total.function));
    totals
}

impl Timeline<'_> {
    /// A few lines for a terminal: the number of calls, and the longest waits of the host.
    pub fn summary(&self) -> impl fmt::Display + '_ {
        Summary(self)
    }
}

/// A few lines.
pub(crate) struct Summary<'a>(pub(crate) &'a Timeline<'a>);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recording = self.0.recording;
        let totals = totals(recording);
        let time = totals.iter().map(|total| total.time).sum();
        let blocked = totals.iter().filter(|total| total.blocks).map(|total| total.time).sum();
        let (calls, threads, streams) =
            (recording.calls.len(), recording.threads.len(), self.0.used_streams());
        write!(
            f,
            "{} of {} took {}, {} of it waiting for {}",
            text::count(calls, "call"),
            text::count(threads, "thread"),
            text::time(time),
            text::time(blocked),
            text::count(streams, "stream")
        )?;
        for total in totals.iter().take(MOST) {
            let (time, longest) = (text::time(total.time), text::time(total.longest));
            let waits = if total.blocks { "  waits for the device" } else { "" };
            write!(
                f,
                "\n  {time:>10} in {:>7} of {:<28} longest {longest:>10}{waits}",
                total.calls,
                total.function.to_string()
            )?;
        }
        let failed: usize = totals.iter().map(|total| total.failed).sum();
        if failed > 0 {
            write!(f, "\n{} answered with an error", text::count(failed, "call"))?;
            failures(recording, f)?;
        }
        Ok(())
    }
}

/// Failed calls, with the code of each, the first one first: later ones may fail because of it.
fn failures(recording: &Recording, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut failed: Vec<_> = recording.calls.iter().filter(|call| roles::is_answer_no(call)).collect();
    failed.sort_by_key(|call| call.start);
    let mut kinds: Vec<((FnId, CUresult), usize)> = Vec::new();
    for call in failed {
        let kind = (call.function, call.result.unwrap_or(CUresult::CUDA_SUCCESS));
        match kinds.iter_mut().find(|known| known.0 == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    for ((function, code), count) in kinds.iter().take(MOST) {
        write!(f, "\n  {function}: {} ({})", code.name().unwrap_or("a code that is not known"), code.0)?;
        if *count > 1 {
            write!(f, ", {count} times")?;
        }
    }
    match kinds.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more kinds"),
    }
}
