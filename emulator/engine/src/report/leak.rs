//! Leaks: objects that were never freed or destroyed.

use core::fmt;

use cuprum_sys::FnId;

use super::misuse::{Frame, write_frames};
use crate::memory::RegionKind;

/// A kind of object that a client creates and must free.
///
/// ```
/// use cuprum_engine::report::{Leak, LeakKind};
///
/// /// Number of streams that a test has not destroyed.
/// fn streams(leaks: &[Leak]) -> usize {
///     leaks.iter().filter(|leak| leak.kind == LeakKind::Stream).count()
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeakKind {
    /// Memory, allocated or registered.
    Memory(RegionKind),
    /// A stream.
    Stream,
    /// An event.
    Event,
    /// A module.
    Module,
    /// A context other than the primary ones.
    Context,
    /// A library.
    Library,
    /// A graph.
    Graph,
    /// An executable graph.
    GraphExec,
    /// A memory pool.
    Pool,
    /// Physical memory.
    Physical,
    /// A linker in progress.
    Link,
    /// Imported memory of another API.
    ExternalMemory,
    /// An imported semaphore of another API.
    ExternalSemaphore,
    /// A registered buffer or image of OpenGL.
    Graphics,
}

impl LeakKind {
    /// Returns the names of the object, and of the call that should have ended it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Memory(RegionKind::Registered) => ("allocation", "unregistered"),
            Self::Memory(RegionKind::Opened) => ("allocation", "closed"),
            Self::Memory(RegionKind::Mapped | RegionKind::MappedHost) => ("allocation", "unmapped"),
            Self::Memory(_) => ("allocation", "freed"),
            Self::Stream => ("stream", "destroyed"),
            Self::Event => ("event", "destroyed"),
            Self::Module => ("module", "unloaded"),
            Self::Context => ("context", "destroyed"),
            Self::Library => ("library", "unloaded"),
            Self::Graph => ("graph", "destroyed"),
            Self::GraphExec => ("executable graph", "destroyed"),
            Self::Pool => ("memory pool", "destroyed"),
            Self::Physical => ("physical memory", "released"),
            Self::ExternalMemory => ("external memory", "destroyed"),
            Self::ExternalSemaphore => ("external semaphore", "destroyed"),
            Self::Graphics => ("resource of OpenGL", "unregistered"),
            Self::Link => ("linker", "destroyed"),
        }
    }
}

/// An object that was alive when its context ended, or that is still alive.
///
/// # Example
/// ```
/// # use cuprum_engine as cuprum_emulator;
/// use cuprum_emulator::report::{Leak, LeakKind};
///
/// /// Bytes that were never freed; `cuprum_emulator::leaks()` returns the leaks of a test when its contexts have ended.
/// fn bytes(leaks: &[Leak]) -> u64 {
///     let memory = leaks.iter().filter(|leak| matches!(leak.kind, LeakKind::Memory(_)));
///     memory.filter_map(|leak| leak.bytes).sum()
/// }
/// assert_eq!(bytes(&[]), 0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leak {
    /// Kind of object.
    pub kind: LeakKind,
    /// Number among the objects of its kind, counted from 1 in the order of creation, which is the
    /// same in every run of a deterministic program. Memory of all kinds is numbered together, as
    /// in a [`Fault`](super::Fault).
    pub number: u64,
    /// Its size, for memory.
    pub bytes: Option<u64>,
    /// The driver call that created it.
    pub call: Option<FnId>,
    /// Its context, counted from 1; 0 for an object without a context.
    pub context: u64,
    /// The client's lines that created it, the innermost first; empty without the leak check.
    pub frames: Vec<Frame>,
}

impl Leak {
    /// Used by the driver.
    #[doc(hidden)]
    pub fn new(kind: LeakKind, number: u64, bytes: Option<u64>, call: Option<FnId>, context: u64) -> Self {
        Self { kind, number, bytes, call, context, frames: Vec::new() }
    }

    /// Adds the call site of its creation.
    #[doc(hidden)]
    #[must_use]
    pub fn made_at(mut self, frames: Vec<Frame>) -> Self {
        self.frames = frames;
        self
    }
}

impl fmt::Display for Leak {
    /// For example `allocation #12 (4000 bytes of device memory, from cuMemAlloc), never freed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, done) = self.kind.words();
        write!(f, "{what} #{}", self.number)?;
        let size = match (self.bytes, self.kind) {
            (Some(bytes), LeakKind::Memory(kind)) => Some(format!("{bytes} bytes of {kind}")),
            (Some(bytes), _) => Some(format!("{bytes} bytes")),
            _ => None,
        };
        let call = self.call.map(|call| format!("from {}", call.symbol().base));
        let known: Vec<String> = size.into_iter().chain(call).collect();
        if !known.is_empty() {
            write!(f, " ({})", known.join(", "))?;
        }
        write!(f, ", never {done}")?;
        write_frames(f, "    ", &self.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_reads_as_a_person_needs_it() {
        let memory = Leak {
            kind: LeakKind::Memory(RegionKind::Device),
            number: 12,
            bytes: Some(4000),
            call: Some(FnId::cuMemAlloc_v2),
            context: 1,
            frames: Vec::new(),
        };
        assert_eq!(
            memory.to_string(),
            "allocation #12 (4000 bytes of device memory, from cuMemAlloc), never freed"
        );
        let stream = Leak {
            kind: LeakKind::Stream,
            number: 2,
            bytes: None,
            call: None,
            context: 1,
            frames: Vec::new(),
        };
        assert_eq!(stream.to_string(), "stream #2, never destroyed");
    }
}
