//! Size classes: sixteen per power of two.

/// Bits of a size after the leading one that determine its class.
const MANTISSA_BITS: u32 = 4;
const STEPS: usize = 1 << MANTISSA_BITS;
/// The smallest class, in bytes: the smallest allocation of drivers.
const LEAST_BITS: u32 = 9;

/// Sizes that one kind of block serves: up to `(16 + m) << e` bytes, and larger than the class
/// below. So less than a sixteenth is wasted, except in blocks of less than 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SizeClass(u32);

impl SizeClass {
    /// Returns the class of `bytes` bytes, or `None` if its blocks would exceed the address space.
    #[inline]
    pub(crate) fn of(bytes: usize) -> Option<Self> {
        if bytes > 1 << (isize::BITS - 2) {
            return None;
        }
        let bytes = bytes.max(1 << LEAST_BITS);
        let shift = bytes.ilog2() - MANTISSA_BITS;
        // Sixteen to thirty-two units. The sum below makes thirty-two sixteen of the next power.
        let units = bytes.div_ceil(1 << shift);
        let number = ((shift + MANTISSA_BITS - LEAST_BITS) as usize) * STEPS + units - STEPS;
        Some(Self(number as u32))
    }

    /// Number of the class; larger numbers have larger blocks.
    #[inline]
    pub(crate) const fn number(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn from_number(number: usize) -> Self {
        Self(number as u32)
    }

    #[inline]
    pub(crate) const fn bytes(self) -> usize {
        let (power, step) = (self.number() / STEPS, self.number() % STEPS);
        (STEPS + step) << (power + (LEAST_BITS - MANTISSA_BITS) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::{STEPS, SizeClass};

    #[test]
    fn each_size_has_the_smallest_class_that_holds_it() {
        let mut sizes: Vec<usize> = (0..70_000).collect();
        sizes.extend((16..60).flat_map(|bit| [-1, 0, 1].map(|by| (1usize << bit).saturating_add_signed(by))));
        for bytes in sizes {
            let class = SizeClass::of(bytes).unwrap();
            assert!(class.bytes() >= bytes, "{bytes}");
            if let Some(below) = class.number().checked_sub(1) {
                assert!(SizeClass::from_number(below).bytes() < bytes, "{bytes}");
            }
            assert_eq!(SizeClass::of(class.bytes()), Some(class), "{bytes}");
            if bytes >= 512 {
                assert!((class.bytes() - bytes) * STEPS < bytes, "{bytes}");
            }
        }
    }

    #[test]
    fn classes_grow_and_what_cannot_be_addressed_has_none() {
        let last = SizeClass::of(1 << (isize::BITS - 2)).unwrap();
        for number in 0..last.number() {
            assert!(SizeClass::from_number(number).bytes() < SizeClass::from_number(number + 1).bytes());
        }
        assert_eq!(SizeClass::of((1 << (isize::BITS - 2)) + 1), None);
        assert_eq!(SizeClass::of(usize::MAX), None);
    }
}
