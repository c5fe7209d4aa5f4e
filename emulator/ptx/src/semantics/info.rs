//! The entry of each operation in a table, with the functions that run it.

use super::each::{Each, TestEach};
use super::format::FloatFormat;
use super::lane::Lane;
use super::lower::{Lower, LowerTest};
use super::operation::{Comparison, Pure, Test};
use super::register::{Register, Width, row};
use super::rows::{Extension, PureRows, TestRows, pure_rows, test_rows};

/// Runs an operation for the lanes of `mask`: rows, destination, sources, mask.
pub(crate) type PureFn = unsafe fn(*mut u32, Register, [Register; 4], u32);

/// Runs a comparison for the lanes of `mask` and returns one bit per lane; other lanes' bits are
/// clear.
pub(crate) type TestFn = unsafe fn(*const u32, [Register; 2], u32) -> u32;

/// Form of an operation or a comparison that runs lane by lane.
#[derive(Clone, Copy, Debug)]
enum Lanes<F, E> {
    /// In a separate loop.
    Loop(F),
    /// In the loop of rare operations.
    Each(E),
}

/// The table entry of an operation, used by the decoder and all execution modes.
#[derive(Debug)]
pub struct PureInfo {
    lanes: Lanes<PureFn, Each>,
    /// Over whole rows, for each vector extension, if `Pure::IN_ROWS`.
    pub rows: Option<[PureRows; Extension::COUNT]>,
    pub out: Width,
    pub sources: [Width; 4],
    /// Number of significant bytes of the result and of the sources.
    pub sizes: [u32; 5],
    /// See `Pure::FORMATS`.
    pub formats: [Option<FloatFormat>; 5],
    /// Its meaning for a code generator.
    pub lower: Lower,
    /// True for the result and the sources that are signed integers.
    pub signed: [bool; 5],
}

/// The table entry of a comparison, used by the decoder and all execution modes.
#[derive(Debug)]
pub struct TestInfo {
    lanes: Lanes<TestFn, TestEach>,
    /// Inverts the result of the functions in each lane if all bits are set.
    pub flip: u32,
    /// True if the operands of the functions are exchanged.
    exchanged: bool,
    /// Over whole rows, for each vector extension, if `Test::IN_ROWS`.
    pub rows: Option<[TestRows; Extension::COUNT]>,
    pub width: Width,
    /// Meaning of its function for a code generator.
    pub lower: LowerTest,
    /// Number of significant bytes of the operands.
    pub size: u32,
    /// True if the operands are signed integers.
    pub signed: bool,
    /// True if it uses only its first operand.
    pub unary: bool,
}

impl PureInfo {
    /// Runs the operation for the lanes of `mask`.
    ///
    /// # Safety
    /// `rows` contains every named register, in the widths of the operation.
    #[inline(always)]
    pub unsafe fn run(&self, rows: *mut u32, out: Register, sources: [Register; 4], mask: u32) {
        match self.lanes {
            // SAFETY: guaranteed by the caller.
            Lanes::Loop(run) => unsafe { run(rows, out, sources, mask) },
            // SAFETY: as above, with the widths of this operation.
            Lanes::Each(each) => unsafe { each.run((self.out, self.sources), rows, out, sources, mask) },
        }
    }

    /// True if both are the same operation, and not a rare one. Functions with the same address are
    /// equivalent, so a match is certain; a miss would only reduce speed.
    pub(super) fn is(&self, other: &PureInfo) -> bool {
        match (self.lanes, other.lanes) {
            (Lanes::Loop(a), Lanes::Loop(b)) => a as usize == b as usize,
            _ => false,
        }
    }
}

impl TestInfo {
    /// Runs the comparison for the lanes of `mask`. Returns a bit per lane; others are clear.
    ///
    /// # Safety
    /// `rows` contains both registers, in the widths of the comparison.
    #[inline(always)]
    pub unsafe fn run(&self, rows: *const u32, sources: [Register; 2], mask: u32) -> u32 {
        let sources = self.in_order(sources);
        let bits = match self.lanes {
            // SAFETY: guaranteed by the caller.
            Lanes::Loop(run) => unsafe { run(rows, sources, mask) },
            // SAFETY: as above; the width is this comparison's.
            Lanes::Each(each) => unsafe { each.run(self.width, rows, sources, mask) },
        };
        bits ^ self.flip & mask
    }

    /// Returns the operands in the order of the functions' parameters.
    #[inline(always)]
    pub fn in_order<T>(&self, [a, b]: [T; 2]) -> [T; 2] {
        if self.exchanged { [b, a] } else { [a, b] }
    }

    pub(super) fn is(&self, other: &TestInfo) -> bool {
        let same = match (self.lanes, other.lanes) {
            (Lanes::Loop(a), Lanes::Loop(b)) => a as usize == b as usize,
            _ => false,
        };
        same && (self.flip, self.exchanged) == (other.flip, other.exchanged)
    }
}

trait Describe: Pure {
    const INFO: PureInfo;
}

impl<O: Pure> Describe for O {
    const INFO: PureInfo = PureInfo {
        lanes: if O::RARE { Lanes::Each(O::EACH) } else { Lanes::Loop(plain::<O>) },
        rows: if O::IN_ROWS { Some(pure_rows::<O>()) } else { None },
        out: O::Out::WIDTH,
        sources: [O::A::WIDTH, O::B::WIDTH, O::C::WIDTH, O::D::WIDTH],
        sizes: [
            size_of::<O::Out>() as u32,
            size_of::<O::A>() as u32,
            size_of::<O::B>() as u32,
            size_of::<O::C>() as u32,
            size_of::<O::D>() as u32,
        ],
        formats: O::FORMATS,
        lower: O::LOWER,
        signed: [O::Out::SIGNED, O::A::SIGNED, O::B::SIGNED, O::C::SIGNED, O::D::SIGNED],
    };
}

trait DescribeTest: Comparison {
    const INFO: TestInfo;
}

impl<O: Comparison> DescribeTest for O {
    const INFO: TestInfo = TestInfo {
        lanes: if O::Core::RARE {
            Lanes::Each(TestEach::of::<O::Core>())
        } else {
            Lanes::Loop(plain_test::<O::Core>)
        },
        flip: if O::OPPOSITE { !0 } else { 0 },
        exchanged: O::EXCHANGED,
        rows: if O::Core::IN_ROWS { Some(test_rows::<O::Core>()) } else { None },
        width: <O::Core as Test>::A::WIDTH,
        lower: O::Core::LOWER,
        size: size_of::<<O::Core as Test>::A>() as u32,
        signed: <O::Core as Test>::A::SIGNED,
        unary: matches!(<O::Core as Test>::B::WIDTH, Width::None),
    };
}

/// Returns the table entry of an operation. Always inlined, because there are a thousand of them.
#[inline(always)]
pub(crate) fn pure<O: Pure>() -> &'static PureInfo {
    &<O as Describe>::INFO
}

#[inline(always)]
pub(crate) fn test<O: Comparison>() -> &'static TestInfo {
    &<O as DescribeTest>::INFO
}

/// Returns the rows of sources. `map` on an array would be compiled for each of 1700 operations.
#[inline(always)]
fn all_rows(rows: *const u32, [a, b, c, d]: [Register; 4]) -> [*const u32; 4] {
    [row(rows, a), row(rows, b), row(rows, c), row(rows, d)]
}

/// Takes the first lane of a nonempty mask. An iterator would be compiled again for each operation.
#[inline(always)]
fn next_lane(left: &mut u32) -> usize {
    let lane = left.trailing_zeros();
    *left &= *left - 1;
    lane as usize
}

/// # Safety
/// `rows` contains every named register, in the widths of the operation.
unsafe fn plain<O: Pure>(rows: *mut u32, out: Register, sources: [Register; 4], mask: u32) {
    let [a, b, c, d] = all_rows(rows, sources);
    let out = row(rows, out).cast_mut();
    let mut left = mask;
    while left != 0 {
        let lane = next_lane(&mut left);
        // SAFETY: the caller guarantees the rows; `lane` is below 32.
        let a = unsafe { O::A::read(a, lane) };
        // SAFETY: as above.
        let b = unsafe { O::B::read(b, lane) };
        // SAFETY: as above.
        let c = unsafe { O::C::read(c, lane) };
        // SAFETY: as above.
        let d = unsafe { O::D::read(d, lane) };
        // SAFETY: as above.
        unsafe { O::eval(a, b, c, d).write(out, lane) };
    }
}

/// # Safety
/// `rows` contains both registers, in the widths of the comparison.
unsafe fn plain_test<O: Test>(rows: *const u32, [a, b]: [Register; 2], mask: u32) -> u32 {
    let (a, b) = (row(rows, a), row(rows, b));
    let (mut bits, mut left) = (0, mask);
    while left != 0 {
        let lane = next_lane(&mut left);
        // SAFETY: the caller guarantees the rows; `lane` is below 32.
        let a = unsafe { O::A::read(a, lane) };
        // SAFETY: as above.
        let b = unsafe { O::B::read(b, lane) };
        bits |= u32::from(O::eval(a, b)) << lane;
    }
    bits
}
