//! Decoder of Zstandard frames (RFC 8878), without dictionaries. Checksums are not compared.
//!
//! No block may exceed the format's size, so the input bounds memory and time, as the limit does.

mod bits;
mod codes;
mod decoder;
mod fse;
mod huffman;

pub(super) use self::decoder::decompress;
