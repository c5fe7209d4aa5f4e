//! Fat binaries: containers of PTX and machine code for several architectures.
//!
//! A header (magic, version, size of itself, size of the entries) is followed by entries. Each has
//! a header and a payload, which may be compressed. The reader trusts none of it: the stated
//! decompressed size of an entry serves as a limit, which is at most [`MOST_TEXT`].

mod container;
mod lz4;
mod output;
#[cfg(test)]
mod reference;
mod zstd;

pub(super) use self::container::{HEADER, MOST_TEXT, every_ptx, ptx, total_len};
