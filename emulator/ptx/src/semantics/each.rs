//! The loop of rare operations.
//!
//! There are a thousand of them. Separate loops would take an eighth of the software device's
//! compile time; a function of one lane takes a fraction of it, and a call per lane costs little.

use super::lane::Lane;
use super::operation::{Pure, Test};
use super::register::{LANES, Register, Width, lanes_of, row};

/// A rare operation, for its loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Each {
    /// Computes the bits of the result from the bits of the operands.
    eval: fn(u64, u64, u64, u64) -> u64,
    /// Bits per half of a lane, if the operation runs on each half; otherwise 0.
    half: u32,
}

impl Each {
    /// Creates an operation on whole lanes.
    pub(super) const fn whole<O: Pure>() -> Each {
        Each { eval: eval::<O>, half: 0 }
    }

    /// Creates an operation on both halves of each lane, with this many bits each.
    pub(super) const fn halves<O: Pure>(bits: u32) -> Each {
        Each { eval: eval::<O>, half: bits }
    }

    fn result(self, [a, b, c, d]: [u64; 4]) -> u64 {
        let low = (self.eval)(a, b, c, d);
        if self.half == 0 {
            return low;
        }
        let high = (self.eval)(a >> self.half, b >> self.half, c >> self.half, d >> self.half);
        high << self.half | low & ((1 << self.half) - 1)
    }

    /// Runs the operation for the lanes of `mask`, given the widths of its result and of its
    /// sources.
    ///
    /// # Safety
    /// `rows` contains every named register, in the widths of the operation.
    #[inline(never)]
    pub(super) unsafe fn run(
        self,
        (width, widths): (Width, [Width; 4]),
        rows: *mut u32,
        out: Register,
        sources: [Register; 4],
        mask: u32,
    ) {
        for lane in lanes_of(mask) {
            let mut values = [0; 4];
            for (index, value) in values.iter_mut().enumerate() {
                // SAFETY: the caller guarantees the rows; `lane` is below 32.
                *value = unsafe { read(row(rows, sources[index]), widths[index], lane) };
            }
            let result = self.result(values);
            let out = row(rows, out).cast_mut();
            match width {
                // SAFETY: as above.
                Width::Double => unsafe { result.write(out, lane) },
                // SAFETY: as above.
                _ => unsafe { (result as u32).write(out, lane) },
            }
        }
    }
}

/// A rare comparison, for its loop: a function of the bits of two lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestEach(fn(u64, u64) -> bool);

impl TestEach {
    pub(super) const fn of<O: Test>() -> TestEach {
        TestEach(test::<O>)
    }

    /// Runs the comparison for the lanes of `mask`. Returns a bit per lane; others are clear.
    ///
    /// # Safety
    /// `rows` contains both registers, in this width.
    #[inline(never)]
    pub(super) unsafe fn run(self, width: Width, rows: *const u32, [a, b]: [Register; 2], mask: u32) -> u32 {
        let mut bits = 0;
        for lane in lanes_of(mask) {
            // SAFETY: the caller guarantees the rows; `lane` is below 32.
            let a = unsafe { read(row(rows, a), width, lane) };
            // SAFETY: as above.
            let b = unsafe { read(row(rows, b), width, lane) };
            bits |= u32::from((self.0)(a, b)) << lane;
        }
        bits
    }
}

/// Returns the bits of a lane.
///
/// # Safety
/// `row` points to as many rows as `width` states, and `lane` is below 32.
#[inline(always)]
unsafe fn read(row: *const u32, width: Width, lane: usize) -> u64 {
    debug_assert!(lane < LANES);
    match width {
        Width::None => 0,
        // SAFETY: guaranteed by the caller.
        Width::Single => unsafe { u32::read(row, lane) }.into(),
        // SAFETY: guaranteed by the caller.
        Width::Double => unsafe { u64::read(row, lane) },
    }
}

fn eval<O: Pure>(a: u64, b: u64, c: u64, d: u64) -> u64 {
    O::eval(O::A::from_lane(a), O::B::from_lane(b), O::C::from_lane(c), O::D::from_lane(d)).to_lane()
}

fn test<O: Test>(a: u64, b: u64) -> bool {
    O::eval(O::A::from_lane(a), O::B::from_lane(b))
}
