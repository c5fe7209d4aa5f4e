//! The types that programs keep in device memory.

use std::fmt::Debug;

use cuprum::memory::Fill;

/// An element whose values say which step wrote them.
pub(crate) trait Element: Fill + PartialEq + Debug {
    /// More bytes than a driver copies from the host without waiting for the copy (64 KiB).
    const MANY: usize;
    /// Value that element `index` gets from step `step`. Different for neighboring elements and for
    /// near steps.
    fn written(step: usize, index: usize) -> Self;
    /// All bytes the same.
    fn of_byte(byte: u8) -> Self;
}

impl Element for u8 {
    const MANY: usize = 70_000;

    fn written(step: usize, index: usize) -> Self {
        (step * 37 + index) as u8
    }

    fn of_byte(byte: u8) -> Self {
        byte
    }
}

impl Element for u16 {
    const MANY: usize = 35_000;

    fn written(step: usize, index: usize) -> Self {
        ((step << 7) | (index & 0x7F)) as u16
    }

    fn of_byte(byte: u8) -> Self {
        Self::from_ne_bytes([byte; 2])
    }
}

impl Element for u32 {
    const MANY: usize = 17_500;

    fn written(step: usize, index: usize) -> Self {
        ((step << 16) | (index & 0xFFFF)) as u32
    }

    fn of_byte(byte: u8) -> Self {
        Self::from_ne_bytes([byte; 4])
    }
}

/// The byte that a step which sets bytes writes.
pub(crate) fn byte_of(step: usize) -> u8 {
    (step * 41 + 3) as u8
}

/// Values that `len` elements get from a copy of step `step`.
pub(crate) fn uploaded<T: Element>(step: usize, len: usize) -> Vec<T> {
    (0..len).map(|index| T::written(step, index)).collect()
}
