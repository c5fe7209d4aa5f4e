//! The format of calls in files.
//!
//! Each thread writes into segments of its own, each of which is a file that it has mapped into its
//! memory: its records are there however the process ends. All is in words of 8 bytes, in the order
//! of the machine.
//!
//! A segment has a [`Header`], and then records until one has no length. A record has its length in
//! words and its kind in the first word, which is written last. A call's record is written when it
//! begins, and completed when it returns.

/// First word of each segment: "CUPRUM" and the version of this format.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"CUPRUM\x01\0");

/// Words of a [`Header`].
pub(crate) const HEADER_WORDS: usize = 8;

/// Begin of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// Number of functions in the list, which identifies builds that number them differently.
    pub(crate) functions: u64,
    pub(crate) process: u32,
    /// The thread's number in the system; 0 for a segment about the process.
    pub(crate) thread: u32,
    /// When the segment was made.
    pub(crate) time: u64,
    /// The thread's name, up to the first NUL.
    pub(crate) name: [u8; 16],
}

impl Header {
    /// The header in the first words; `None` if they are none.
    pub(crate) fn read(words: &[u64]) -> Option<Self> {
        let &[MAGIC, functions, who, time, first, last, ..] = words else { return None };
        let mut name = [0; 16];
        name[..8].copy_from_slice(&first.to_ne_bytes());
        name[8..].copy_from_slice(&last.to_ne_bytes());
        Some(Self { functions, process: who as u32, thread: (who >> 32) as u32, time, name })
    }
}

/// Kinds of records.
pub(crate) mod kind {
    /// A call; see [`super::call`].
    pub(crate) const CALL: u32 = 1;
    /// The name of a kernel: its handle, the number of bytes, and the bytes.
    pub(crate) const KERNEL: u32 = 2;
    /// The process: its parent, the driver's version, and its command line as a number of bytes and
    /// the bytes.
    pub(crate) const PROCESS: u32 = 3;
    /// A counter of the calls that were not recorded for lack of room.
    pub(crate) const LOST: u32 = 4;
    /// Time of the device's work for a call: the call's thread and beginning, and begin and end of
    /// the work.
    pub(crate) const WORK: u32 = 5;
}

/// The kind of a record and its length in words.
pub(crate) fn kind_and_words(first: u64) -> (u32, usize) {
    ((first >> 32) as u32, first as u32 as usize)
}

/// Places in the record of a call, after which its arguments follow, one word each, and then its
/// [extras](super::extra).
pub(crate) mod call {
    /// Function, `<< 16` mode, `<< 24` flags, `<< 32` result.
    pub(crate) const WHAT: usize = 1;
    /// When it began, and when it returned.
    pub(crate) const START: usize = 2;
    pub(crate) const END: usize = 3;
    /// The value that the call returned through its first parameter.
    pub(crate) const GAVE: usize = 4;
    pub(crate) const ARGUMENTS: usize = 5;

    /// Mode of the twins with per-thread default streams.
    pub(crate) const PER_THREAD: u64 = 1 << 16;
    pub(crate) const RETURNED: u64 = 1 << 24;
    pub(crate) const HAS_GIVEN: u64 = 1 << 25;
}

/// Data of a call in addition to the words of its arguments. The first word of an extra has its
/// tag, `<< 8` the number of the argument that it is about, and `<< 32` the number of bytes that
/// follow.
pub(crate) mod extra {
    /// An argument's C string.
    pub(crate) const TEXT: u64 = 1;
    /// The context that was current, where the call depends on it.
    pub(crate) const CONTEXT: u64 = 2;
    /// Blocks and threads along x, y and z, bytes of shared memory, and the stream, of a structure.
    pub(crate) const LAUNCH: u64 = 3;
    /// The source and destination kinds of memory in a copy structure, and the number of bytes.
    pub(crate) const COPY: u64 = 4;
}
