//! Operations that access the same bytes without an order.

use core::fmt;
use core::ops::Range;

use cuprum_sys::FnId;

use crate::memory::{Neighbor, RegionKind};

/// A line of a kernel.
///
/// ```
/// use cuprum_engine::report::Line;
///
/// /// The line in the source, or else in the PTX.
/// fn number(line: &Line) -> u32 {
///     line.source.as_ref().map_or(line.ptx, |(_file, number)| *number)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Line {
    /// The line in the PTX, counted from 1; 0 if not known.
    pub ptx: u32,
    /// The file and line in the source, when the PTX was compiled with line information.
    pub source: Option<(String, u32)>,
}

impl Line {
    /// Used by the driver.
    #[doc(hidden)]
    pub fn new(ptx: u32, source: Option<(String, u32)>) -> Self {
        Self { ptx, source }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some((file, line)) => write!(f, "{file}:{line} (PTX line {})", self.ptx),
            None => write!(f, "PTX line {}", self.ptx),
        }
    }
}

/// The use of memory by an operation.
///
/// ```
/// use cuprum_engine::report::{Unordered, Use};
///
/// /// True if memory was freed before its last use.
/// fn is_early_free(report: &Unordered) -> bool {
///     report.first.does == Use::Frees || report.second.does == Use::Frees
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Use {
    /// It reads the bytes.
    Reads,
    /// It writes the bytes.
    Writes,
    /// It allocates the memory, in the order of its stream.
    Allocates,
    /// It frees the memory.
    Frees,
}

/// An operation that takes part in a report.
///
/// ```
/// use cuprum_engine::report::Unordered;
///
/// /// The two streams that lack an order.
/// fn streams(report: &Unordered) -> [&str; 2] {
///     [&report.first, &report.second].map(|work| work.stream.as_str())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// Number of the operation, counted from 1 in the order of the calls that queued them. 0 for
    /// the host.
    pub number: u64,
    /// The call that queued it.
    pub call: Option<FnId>,
    /// The kernel, for a launch.
    pub kernel: Option<String>,
    /// The stream, such as `stream #2` or `the default stream`; `the host` for an access of
    /// the call itself, or of the program where `call` is `None`.
    pub stream: String,
    /// Its use of the memory.
    pub does: Use,
    /// The lines of the kernel that use the allocation in this way.
    pub lines: Vec<Line>,
}

impl Work {
    /// Used by the driver.
    #[doc(hidden)]
    pub fn new(number: u64, call: Option<FnId>, kernel: Option<String>, stream: String) -> Self {
        Self { number, call, kernel, stream, does: Use::Reads, lines: Vec::new() }
    }

    fn is_copy(&self) -> bool {
        self.kernel.is_none() && matches!(self.does, Use::Reads | Use::Writes)
    }
}

const MOST_LINES: usize = 4;

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kernel) = &self.kernel {
            write!(f, "kernel `{kernel}` of ")?;
        }
        match self.call {
            None if self.number == 0 => write!(f, "{} ", self.stream)?,
            call => {
                f.write_str(call.map_or("an operation", |call| call.symbol().base))?;
                if self.number != 0 {
                    write!(f, " (operation {})", self.number)?;
                }
                write!(f, " in {} ", self.stream)?;
            }
        }
        f.write_str(match self.does {
            Use::Reads => "reads",
            Use::Writes => "writes",
            Use::Allocates => "allocates",
            Use::Frees => "frees",
        })?;
        for (index, line) in self.lines.iter().take(MOST_LINES).enumerate() {
            write!(f, "{}{line}", if index == 0 { " at " } else { ", " })?;
        }
        if self.lines.len() > MOST_LINES {
            write!(f, " and {} more lines", self.lines.len() - MOST_LINES)?;
        }
        Ok(())
    }
}

/// Two operations that access the same bytes without an order by a stream, an event or a wait of
/// the host. At least one of them writes, allocates or frees the bytes.
///
/// # Example
/// ```
/// # use cuprum_engine as cuprum_emulator;
/// use cuprum_emulator::report::{Line, Unordered, Use, Work};
///
/// /// Returns the streams that lack an order, and the lines of the second kernel.
/// fn place(report: &Unordered) -> (&str, &str, Vec<u32>) {
///     let Work { does, lines, .. } = &report.second;
///     assert_ne!(*does, Use::Allocates);
///     (&report.first.stream, &report.second.stream, lines.iter().map(|line: &Line| line.ptx).collect())
/// }
/// # let _ = place;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unordered {
    /// The operation that was queued first.
    pub first: Work,
    /// The operation that was queued second.
    pub second: Work,
    /// The allocation; `None` for pageable host memory.
    pub memory: Option<Neighbor>,
    /// The first bytes that both access: offsets in the allocation, or addresses of the host.
    pub bytes: Range<u64>,
    /// True if both are nodes of one launch of a graph.
    pub in_one_graph: bool,
}

impl Unordered {
    /// Used by the driver.
    #[doc(hidden)]
    pub fn new(first: Work, second: Work, memory: Option<Neighbor>, bytes: Range<u64>) -> Self {
        Self { first, second, memory, bytes, in_one_graph: false }
    }

    fn headline(&self) -> &'static str {
        let kind = self.memory.as_ref().map(|memory| memory.kind);
        let is_locked = matches!(kind, Some(RegionKind::Pinned | RegionKind::Registered));
        match (self.first.does, self.second.does) {
            (_, Use::Frees) => "memory is freed while an operation may still use it",
            (Use::Allocates, _) => "pool memory is used in another stream before its allocation",
            _ if is_locked && self.first.is_copy() => {
                "page-locked memory goes to its next use while a copy may still be running on it"
            }
            _ => "two operations touch the same bytes, and nothing orders them",
        }
    }

    fn advice(&self) -> String {
        let (first, second) = (&self.first.stream, &self.second.stream);
        if self.in_one_graph {
            return "make the second node depend on the first (cuGraphAddDependencies), or capture an event between \
                    them"
                .into();
        }
        let host =
            format!("let the host wait for {first} in between (cuStreamSynchronize, cuEventSynchronize)");
        if self.second.number == 0 {
            return host;
        }
        format!(
            "record an event in {first} after the first (cuEventRecord) and make {second} wait for it before the second \
             (cuStreamWaitEvent), or {host}"
        )
    }
}

impl fmt::Display for Unordered {
    /// Writes several lines: the error, both operations, the bytes, and a solution.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.bytes;
        writeln!(f, "{}", self.headline())?;
        writeln!(f, "  first: {}", self.first)?;
        writeln!(f, "  second: {}", self.second)?;
        match &self.memory {
            Some(memory) => {
                write!(f, "  bytes {start} to {} of allocation #{} ", end - 1, memory.id)?;
                if let Some(label) = &memory.label {
                    write!(f, "`{label}` ")?;
                }
                write!(f, "({} bytes of {}", memory.len, memory.kind)?;
                if let Some(call) = memory.call {
                    write!(f, ", from {}", call.symbol().base)?;
                }
                writeln!(f, ")")?;
            }
            None => writeln!(f, "  {} bytes of pageable host memory at {start:#x}", end - start)?,
        }
        write!(f, "  to order them: {}", self.advice())
    }
}
