//! Products of matrices that the lanes of a warp contain together.

use super::element::{number, rounded};
use super::tensor_core::{Adder, COLUMNS, Factors, add_mixed_rows, positions};
use crate::exec::block::rows::Rows;
use crate::program::matrix::{Element, MatrixProduct, Part};
use crate::semantics::{LANES, Register, Width};

/// The shape of Volta's instructions, which newer hardware imitates by other ones. Their rounding
/// is not known.
const OLD: [u32; 3] = [8, 8, 4];

/// Computes the products of an instruction.
pub(super) fn multiply(rows: &mut Rows, product: &MatrixProduct) {
    let a = gather(rows, product, Part::A, &product.a);
    let b = gather(rows, product, Part::B, &product.b);
    let c = gather(rows, product, Part::C, &product.c);
    let [m, n, k] = product.shape.map(|extent| extent as usize);
    let sparse = product.sparse.map(|sparse| positions(rows, &sparse));
    // Halves of sums in single precision are rounded afterwards.
    let single = product.ty(Part::C) == Element::F32;
    let sums = if single { Element::F32 } else { product.ty(Part::D) };
    let adder = Adder::of_warp(product.ty(Part::A), sums).filter(|_| product.shape != OLD);
    let mut sums = c;
    match adder {
        Some(adder) => {
            let factors = |values, part| Factors::new(values, product.ty(part), Some(adder));
            let mut b = b;
            if let Some(places) = sparse.as_deref().filter(|places| places.iter().any(|place| *place >= k)) {
                add_mixed_rows(&mut b, &words_of_right(rows, product), places, [k, n]);
            }
            let (a, b) = (factors(a, Part::A), factors(b, Part::B));
            // An instruction may make several products at once.
            let products = sums.len() / (m * n);
            let of_row = |row: usize| (0..k).map(move |element| row / m * k + element);
            let places = sparse.unwrap_or_else(|| (0..products * m).flat_map(of_row).collect());
            adder.add(&mut sums, (&a, &places), (&b, n));
        }
        None => {
            let a = match sparse {
                Some(places) => spread(&a, &places, k),
                None => a,
            };
            let factors = a.chunks_exact(m * k).zip(b.chunks_exact(k * n));
            for ((a, b), sums) in factors.zip(sums.chunks_exact_mut(m * n)) {
                for (a, sums) in a.chunks_exact(k).zip(sums.chunks_exact_mut(n)) {
                    for (group, sums) in sums.chunks_exact_mut(COLUMNS).enumerate() {
                        let summands: [f64; COLUMNS] = std::array::from_fn(|column| sums[column]);
                        let totals = add_products(product, a, (b, n, group * COLUMNS), summands);
                        sums.copy_from_slice(&totals);
                    }
                }
            }
        }
    }
    scatter(rows, product, &sums);
}

/// Returns rows of `k` elements, with the stored ones at their positions.
fn spread(stored: &[f64], places: &[usize], k: usize) -> Vec<f64> {
    let mut whole = vec![0.0; 2 * stored.len()];
    for (index, (value, place)) in stored.iter().zip(places).enumerate() {
        // Of elements at one position, hardware adds the products.
        whole[index / (k / 2) * k + place] += value;
    }
    whole
}

/// Adds the products of a row with the columns from `first` on of a matrix with `n` columns.
fn add_products(
    product: &MatrixProduct,
    row: &[f64],
    columns: (&[f64], usize, usize),
    mut summands: [f64; COLUMNS],
) -> [f64; COLUMNS] {
    if product.ty(Part::D) == Element::F64 {
        return one_by_one(row, columns, summands, |total, x, y| x.mul_add(y, total));
    }
    let products = match product.differ {
        true => one_by_one(row, columns, [-0.0; COLUMNS], |total, x, y| total + f64::from(x != y)),
        false => one_by_one(row, columns, [-0.0; COLUMNS], |total, x, y| total + x * y),
    };
    summands.iter_mut().zip(products).for_each(|(summand, product)| *summand += product);
    summands
}

/// Takes the steps of each column in order.
#[inline(always)]
fn one_by_one(
    row: &[f64],
    (matrix, n, first): (&[f64], usize, usize),
    mut totals: [f64; COLUMNS],
    step: impl Fn(f64, f64, f64) -> f64,
) -> [f64; COLUMNS] {
    for (x, columns) in row.iter().zip(matrix.chunks_exact(n)) {
        for (total, y) in totals.iter_mut().zip(&columns[first..first + COLUMNS]) {
            *total = step(*total, *x, *y);
        }
    }
    totals
}

/// Collects the elements of 32 bits of the right factor from the lanes.
fn words_of_right(rows: &Rows, product: &MatrixProduct) -> Vec<u32> {
    let places = &product.places[Part::B as usize];
    let mut matrix = vec![0; places.len()];
    for (register, places) in product.b.iter().zip(places.chunks_exact(LANES)) {
        for (word, place) in rows.row(*register).iter().zip(places) {
            matrix[usize::from(*place)] = *word;
        }
    }
    matrix
}

/// Collects the elements of a part from the lanes.
fn gather(rows: &Rows, product: &MatrixProduct, part: Part, registers: &[Register]) -> Vec<f64> {
    let ty = product.ty(part);
    let places = &product.places[part as usize];
    let mut matrix = vec![0.0; places.len()];
    let elements = places.chunks_exact(LANES).enumerate();
    if ty == Element::F64 {
        for (element, places) in elements {
            for (lane, place) in places.iter().enumerate() {
                let bits = rows.get_wide(registers[element], Width::Double, lane);
                matrix[usize::from(*place)] = f64::from_bits(bits);
            }
        }
        return matrix;
    }
    // A loop for each type, so that it does not examine the type of each element.
    macro_rules! loops {
        ($($ty:ident)*) => {
            match ty {
                $(Element::$ty => for (element, places) in elements {
                    let (packed, bits) = (Element::$ty.packed() as usize, Element::$ty.bits());
                    let row = rows.row(registers[element / packed]);
                    let shift = bits * (element % packed) as u32;
                    for (word, place) in row.iter().zip(places) {
                        let bits = word >> shift & u32::MAX >> (32 - bits);
                        matrix[usize::from(*place)] = number(Element::$ty, bits.into());
                    }
                })*
            }
        };
    }
    loops! { F16 Bf16 Tf32 F32 F64 S32 U8 S8 U4 S4 B1 E4m3 E5m2 }
    matrix
}

/// Distributes the elements of the result to the lanes.
fn scatter(rows: &mut Rows, product: &MatrixProduct, matrix: &[f64]) {
    let ty = product.ty(Part::D);
    let places = &product.places[Part::D as usize];
    let elements = places.chunks_exact(LANES).enumerate();
    if ty == Element::F64 {
        for (element, places) in elements {
            for (lane, place) in places.iter().enumerate() {
                let bits = matrix[usize::from(*place)].to_bits();
                rows.set_wide(product.d[element], Width::Double, lane, bits);
            }
        }
        return;
    }
    let (packed, bits) = (ty.packed() as usize, ty.bits());
    for (element, places) in elements {
        let shift = bits * (element % packed) as u32;
        let mask = u32::MAX >> (32 - bits) << shift;
        for (word, place) in rows.row_mut(product.d[element / packed]).iter_mut().zip(places) {
            let bits = rounded(ty, matrix[usize::from(*place)], product.saturate) as u32;
            *word = *word & !mask | bits << shift;
        }
    }
}
