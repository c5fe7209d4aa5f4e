//! The loop of rare operations.
//!
//! There are a thousand of them. A loop of its own for each would be an eighth of what the compiler has to do for the
//! software device; a function of one lane is a fraction of that, and a call per lane costs them little.

use super::{LANES, Lane, Pure, PureInfo, Register, Test, Width, lanes_of, row};

/// A rare operation, as its loop runs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Each {
    /// From the bits of lanes to those of the result.
    eval: fn(u64, u64, u64, u64) -> u64,
    /// Bits of the half of a lane, if the operation runs on each half by itself; otherwise 0.
    half: u32,
}

impl Each {
    /// An operation on whole lanes.
    pub(super) const fn whole<O: Pure>() -> Each {
        Each { eval: eval::<O>, half: 0 }
    }

    /// An operation on both halves of each lane, of so many bits.
    pub(super) const fn halves<O: Pure>(bits: u32) -> Each {
        Each { eval: eval::<O>, half: bits }
    }

    /// The result of one lane.
    fn result(self, [a, b, c, d]: [u64; 4]) -> u64 {
        let low = (self.eval)(a, b, c, d);
        if self.half == 0 {
            return low;
        }
        let high = (self.eval)(a >> self.half, b >> self.half, c >> self.half, d >> self.half);
        high << self.half | low & ((1 << self.half) - 1)
    }

    /// Runs the operation that `info` describes for the lanes of `mask`.
    ///
    /// # Safety
    /// `rows` holds every register named, in the widths of the operation.
    #[inline(never)]
    pub(super) unsafe fn run(
        self,
        info: &PureInfo,
        rows: *mut u32,
        out: Register,
        sources: [Register; 4],
        mask: u32,
    ) {
        for lane in lanes_of(mask) {
            let mut values = [0; 4];
            for (index, value) in values.iter_mut().enumerate() {
                // SAFETY: the caller vouches for the rows; `lane` is below 32.
                *value = unsafe { read(row(rows, sources[index]), info.sources[index], lane) };
            }
            let result = self.result(values);
            let out = row(rows, out).cast_mut();
            match info.out {
                // SAFETY: as above.
                Width::Double => unsafe { result.write(out, lane) },
                // SAFETY: as above.
                _ => unsafe { (result as u32).write(out, lane) },
            }
        }
    }
}

/// A rare comparison, as its loop runs it: a function of the bits of two lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestEach(fn(u64, u64) -> bool);

impl TestEach {
    pub(super) const fn of<O: Test>() -> TestEach {
        TestEach(test::<O>)
    }

    /// Runs the comparison for the lanes of `mask`: one bit per lane; other lanes' bits are clear.
    ///
    /// # Safety
    /// `rows` holds both registers, in this width.
    #[inline(never)]
    pub(super) unsafe fn run(self, width: Width, rows: *const u32, [a, b]: [Register; 2], mask: u32) -> u32 {
        let mut bits = 0;
        for lane in lanes_of(mask) {
            // SAFETY: the caller vouches for the rows; `lane` is below 32.
            let a = unsafe { read(row(rows, a), width, lane) };
            // SAFETY: as above.
            let b = unsafe { read(row(rows, b), width, lane) };
            bits |= u32::from((self.0)(a, b)) << lane;
        }
        bits
    }
}

/// The bits of a lane.
///
/// # Safety
/// `row` points at as many rows as `width` says, `lane` is below 32.
#[inline(always)]
unsafe fn read(row: *const u32, width: Width, lane: usize) -> u64 {
    debug_assert!(lane < LANES);
    match width {
        Width::None => 0,
        // SAFETY: as the caller says.
        Width::Single => unsafe { u32::read(row, lane) }.into(),
        // SAFETY: as the caller says.
        Width::Double => unsafe { u64::read(row, lane) },
    }
}

fn eval<O: Pure>(a: u64, b: u64, c: u64, d: u64) -> u64 {
    O::eval(O::A::from_lane(a), O::B::from_lane(b), O::C::from_lane(c), O::D::from_lane(d)).to_lane()
}

fn test<O: Test>(a: u64, b: u64) -> bool {
    O::eval(O::A::from_lane(a), O::B::from_lane(b))
}
