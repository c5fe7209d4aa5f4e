//! Reads input as bytes and bits, from the front and from the back.

pub(super) struct Forward<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Forward<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// Reads a number of up to eight bytes.
    pub(super) fn little_endian(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes)?;
        Some(taken.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }
}

/// Bits from the front, lowest first.
pub(super) struct ForwardBits<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl ForwardBits<'_> {
    pub(super) fn read(&mut self, count: u32) -> Option<u32> {
        let mut value = 0;
        for bit in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value |= u32::from(byte >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        Some(value)
    }
}

/// Reads bits from the back. The highest bit set in the last byte marks the end. Reads past the
/// front return zeros, and [`Backward::overrun`] detects them.
pub(super) struct Backward<'a> {
    bytes: &'a [u8],
    left: i64,
}

impl<'a> Backward<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let top = bytes.last()?.checked_ilog2()?;
        let left = (bytes.len() as i64 - 1) * 8 + i64::from(top);
        Some(Self { bytes, left })
    }

    pub(super) fn read(&mut self, count: u32) -> usize {
        let value = self.peek(count);
        self.skip(count);
        value
    }

    pub(super) fn peek(&self, count: u32) -> usize {
        (1..=i64::from(count)).fold(0, |value, back| value << 1 | self.bit(self.left - back))
    }

    pub(super) fn skip(&mut self, count: u32) {
        self.left -= i64::from(count);
    }

    pub(super) fn bit(&self, index: i64) -> usize {
        let byte = usize::try_from(index / 8).ok().filter(|_| index >= 0);
        let byte = byte.and_then(|byte| self.bytes.get(byte)).copied().unwrap_or(0);
        usize::from(byte >> (index & 7) & 1)
    }

    pub(super) fn overrun(&self) -> bool {
        self.left < 0
    }
}
