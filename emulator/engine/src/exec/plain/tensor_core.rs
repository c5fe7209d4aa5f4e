//! Sums of products as the tensor cores of compute capability 9.0 round them.
//!
//! A tensor core adds all products and the summand at once. It shifts each to the exponent of the
//! greatest, cuts it off after some binary places, toward zero, adds these numbers exactly, and
//! cuts the sum off to the precision of the result, toward zero as well. Halves are rounded to the
//! nearest instead. The exponent of a product is the sum of the exponents of its factors; subnormal
//! numbers have the exponent of the least normal one. So does an H200, bit for bit in 7 million
//! results: `tests/data/goldens/tensor_core.txt`.

use super::element::{number, rounded};
use crate::exec::block::rows::Rows;
use crate::program::matrix::Element;
use crate::program::sparse::Sparse;
use crate::program::warp_group::ROWS;
use crate::semantics::rows::{Extension, for_each_level};

/// Number of columns whose sums are computed together. All matrices have a multiple of it.
pub(super) const COLUMNS: usize = 8;

/// Binary places after the leading one of the greatest summand, and of a result in single
/// precision.
#[derive(Clone, Copy)]
struct Precision {
    summands: i32,
    result: u32,
}

const WHOLE: Precision = Precision { summands: 25, result: 23 };
/// Products of bytes by warp groups.
const SHORT: Precision = Precision { summands: 13, result: 13 };

/// An exponent below all others, for zeros; the scale for it is still finite.
const LEAST: i32 = -600;

/// Factors and their exponents.
pub(super) struct Factors {
    values: Vec<f64>,
    exponents: Vec<i32>,
    are_finite: bool,
}

impl Factors {
    pub(super) fn new(values: Vec<f64>, ty: Element, adder: Option<Adder>) -> Factors {
        let least =
            least_exponent(if adder.is_some_and(|adder| adder.in_halves) { Element::F16 } else { ty });
        let exponents = values.iter().map(|value| exponent(*value, least)).collect();
        let are_finite = values.iter().all(|value| value.is_finite());
        Factors { values, exponents, are_finite }
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }
}

/// Returns the position in its row of each stored element of a sparse left factor.
pub(super) fn positions(rows: &Rows, sparse: &Sparse) -> Vec<usize> {
    let position = |row, element| {
        let [lane, shift] = sparse.known_by(row, element);
        sparse.place(element, rows.get(sparse.places, lane as usize) >> shift) as usize
    };
    (0..ROWS).flat_map(|row| (0..sparse.stored).map(move |element| position(row, element))).collect()
}

/// Adds rows to a sparse product's right factor, which has so many rows and columns, for invalid
/// positions of elements of 32 bits. Hardware combines the halves of its numbers that they select.
pub(super) fn add_mixed_rows(b: &mut Vec<f64>, words: &[u32], places: &[usize], [k, n]: [usize; 2]) {
    b.resize((k + 16 * (k / 2)) * n, 0.0);
    for place in places.iter().filter(|place| **place >= k) {
        let (first, halves) = ((place - k) / 16 * 2, (place - k) % 16);
        for column in 0..n {
            let half = |at: usize| words[(first + at / 2) * n + column] >> (at % 2 * 16) & 0xffff;
            let bits = half(halves & 3) | half(halves >> 2) << 16;
            b[place * n + column] = number(Element::Tf32, bits.into());
        }
    }
}

/// The rounding of the sums of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Adder {
    precision: Precision,
    /// The type of sums.
    ty: Element,
    /// True for products of bytes by a warp. They become halves, of which each register of a lane
    /// contains two first and two last ones. The sum of all products with first ones is the summand
    /// of the products with last ones. The summand of the instruction is added in the end.
    in_halves: bool,
}

/// Sums, the left factor and the row of the right factor for each of its elements, and the right
/// factor and its columns.
type AddFn = unsafe fn(Adder, &mut [f64], (&Factors, &[usize]), (&Factors, usize));

for_each_level! {
    levels: AddFn = add_rows(adder: Adder, sums: &mut [f64], left: (&Factors, &[usize]), right: (&Factors, usize))
}

impl Adder {
    /// Returns the adder for these types of factors and sums; `None` if it adds numbers exactly.
    pub(super) fn of_warp(factors: Element, ty: Element) -> Option<Adder> {
        let in_halves = matches!(factors, Element::E4m3 | Element::E5m2);
        let rounds = in_halves || matches!(factors, Element::F16 | Element::Bf16 | Element::Tf32);
        rounds.then_some(Adder { precision: WHOLE, ty, in_halves })
    }

    /// The same for a warp group.
    pub(super) fn of_group(factors: Element, ty: Element) -> Option<Adder> {
        let adder = Adder::of_warp(factors, ty)?;
        let precision = if adder.in_halves { SHORT } else { WHOLE };
        Some(Adder { precision, in_halves: false, ..adder })
    }

    /// Adds the product of two matrices to `sums`. `places` contains the row of the right factor
    /// for each element of the left one, whose rows have the same length. The right factor has
    /// `columns` columns, a multiple of [`COLUMNS`].
    pub(super) fn add(
        self,
        sums: &mut [f64],
        (left, places): (&Factors, &[usize]),
        (right, columns): (&Factors, usize),
    ) {
        const LEVELS: [AddFn; Extension::COUNT] = levels();
        let add = Extension::detect().map_or(add_rows as AddFn, |level| LEVELS[level as usize]);
        // SAFETY: the processor has the extension of this function, if it needs one.
        unsafe { add(self, sums, (left, places), (right, columns)) };
    }

    /// Returns sums of some products, and a summand for each.
    #[inline(always)]
    fn sum(self, lines: &[Line<'_>], summands: [f64; COLUMNS], are_finite: bool) -> [f64; COLUMNS] {
        let least = least_exponent(self.ty);
        let mut greatest = summands.map(|summand| exponent(summand, least));
        for line in lines {
            for (greatest, exponent) in greatest.iter_mut().zip(line.exponents) {
                *greatest = (*greatest).max(line.exponent + exponent);
            }
        }
        let places = self.precision.summands;
        let greatest = greatest.map(|exponent| exponent.max(LEAST));
        let scales = greatest.map(|exponent| power_of_two(places - exponent));
        let mut totals = summands;
        totals.iter_mut().zip(&scales).for_each(|(total, scale)| *total = (*total * scale).trunc());
        for Line { value, values, .. } in lines {
            for ((total, scale), other) in totals.iter_mut().zip(&scales).zip(*values) {
                *total += (value * other * scale).trunc();
            }
        }
        let sums = std::array::from_fn(|column| {
            let total = totals[column] * power_of_two(greatest[column] - places);
            if self.ty == Element::F32 { self.precision.cut(total) } else { self.rounded(total) }
        });
        if are_finite && summands.iter().all(|summand| summand.is_finite()) {
            return sums;
        }
        let mut exact = summands;
        for Line { value, values, .. } in lines {
            exact.iter_mut().zip(*values).for_each(|(sum, other)| *sum += value * other);
        }
        // Infinities and NaNs, which no cut changes.
        std::array::from_fn(|column| if exact[column].is_finite() { sums[column] } else { exact[column] })
    }

    /// Returns the number of the type next to a sum. Zeros are positive.
    fn rounded(self, sum: f64) -> f64 {
        number(self.ty, rounded(self.ty, sum, false)) + 0.0
    }
}

/// One element of a row, and the elements of columns that it is multiplied with.
struct Line<'a> {
    value: f64,
    exponent: i32,
    values: &'a [f64; COLUMNS],
    exponents: &'a [i32; COLUMNS],
}

/// See [`Adder::add`].
///
/// # Safety
/// Safe on every processor. Unsafe for the sake of its other levels.
#[inline(always)]
unsafe fn add_rows(
    adder: Adder,
    sums: &mut [f64],
    (left, places): (&Factors, &[usize]),
    (right, columns): (&Factors, usize),
) {
    let are_finite = left.are_finite && right.are_finite;
    let rows = sums.len() / columns;
    let length = places.len() / rows;
    // First ones before last ones, of each four neighbors.
    let mut order: Vec<usize> = (0..length).collect();
    if adder.in_halves {
        order.sort_by_key(|element| element % 4 >= 2);
    }
    let part = if adder.in_halves { length.div_ceil(2) } else { length };
    let mut lines = Vec::with_capacity(length);
    for (row, sums) in sums.chunks_exact_mut(columns).enumerate() {
        for (group, sums) in sums.chunks_exact_mut(COLUMNS).enumerate() {
            let line = |element: usize| {
                let at = row * length + element;
                let start = places[at] * columns + group * COLUMNS;
                Some(Line {
                    value: left.values[at],
                    exponent: left.exponents[at],
                    values: right.values.get(start..)?.first_chunk()?,
                    exponents: right.exponents.get(start..)?.first_chunk()?,
                })
            };
            let summands: [f64; COLUMNS] = std::array::from_fn(|column| sums[column]);
            let mut totals = if adder.in_halves { [0.0; COLUMNS] } else { summands };
            lines.clear();
            lines.extend(order.iter().filter_map(|element| line(*element)));
            for part in lines.chunks(part.max(1)) {
                totals = adder.sum(part, totals, are_finite);
            }
            if adder.in_halves {
                totals = std::array::from_fn(|column| adder.rounded(totals[column] + summands[column]));
            }
            sums.copy_from_slice(&totals);
        }
    }
}

impl Precision {
    /// Cuts a sum off to the places of a result. Zeros are positive.
    fn cut(self, sum: f64) -> f64 {
        let cut = f64::from_bits(sum.to_bits() & u64::MAX << (f64::MANTISSA_DIGITS - 1 - self.result));
        if cut.abs() >= f64::from(f32::MIN_POSITIVE) {
            return cut;
        }
        // Subnormal numbers are multiples of the least one.
        let least = f64::from(f32::from_bits(1));
        f64::from((cut / least) as i32) * least
    }
}

/// Returns the exponent of the least normal number of a type.
fn least_exponent(ty: Element) -> i32 {
    match ty {
        Element::F16 | Element::E5m2 => -14,
        Element::E4m3 => -6,
        _ => -126,
    }
}

/// Returns the exponent of a number, at least the least one of its type. Zeros have one below all
/// sums of two others.
#[inline(always)]
fn exponent(number: f64, least: i32) -> i32 {
    let exponent = (number.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    if number == 0.0 { 2 * LEAST } else { exponent.max(least) }
}

/// Returns a power of two; `exponent` is one of a normal number.
#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
