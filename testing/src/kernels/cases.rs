//! The list of cases. `tests/gpu/record.py` makes the same list; `Case::input_hash` shows that it
//! did.

use super::inputs::{ToBytes, bytes, floats, integers};
use super::reference::{self, Mandelbrot};
use super::{Argument, Case, Expected};

/// The committed PTX of a source, for both dialects or for compute_75 alone.
macro_rules! module {
    ($name:literal) => {
        (include_str!(concat!("../../../kernels/", $name, ".ptx")), None)
    };
    ($name:literal, both) => {
        (
            include_str!(concat!("../../../kernels/", $name, ".ptx")),
            Some(include_str!(concat!("../../../kernels/dialect_100/", $name, ".ptx"))),
        )
    };
}

type Module = (&'static str, Option<&'static str>);

fn value<T: ToBytes>(value: T) -> Argument {
    Argument::Value(value.to_bytes())
}

fn input<T>(values: &[T]) -> Argument
where
    [T]: ToBytes,
{
    Argument::Input(values.to_bytes())
}

fn exact<T>(before: &[T], after: &[T]) -> Argument
where
    [T]: ToBytes,
{
    Argument::Output { before: before.to_bytes(), after: Expected::Exact(after.to_bytes()) }
}

/// An output that starts as zeros.
fn from_zero(after: Expected) -> Argument {
    Argument::Output { before: vec![0; after.byte_len()], after }
}

fn exact_from_zero<T>(after: &[T]) -> Argument
where
    [T]: ToBytes,
{
    from_zero(Expected::Exact(after.to_bytes()))
}

/// A launch of the entry that has the case's name, in one dimension.
fn linear(name: &'static str, module: Module, grid: u32, block: u32, arguments: Vec<Argument>) -> Case {
    Case {
        name,
        ptx: module.0,
        ptx_dialect_100: module.1,
        kernel: name,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        shared_bytes: 0,
        globals: Vec::new(),
        arguments,
    }
}

/// Every case.
pub fn all() -> Vec<Case> {
    let mut cases = elementwise();
    cases.extend(fills());
    cases.extend(reductions());
    cases.extend(matrices());
    cases.extend(pictures_and_bodies());
    cases.extend(signatures());
    cases
}

fn elementwise() -> Vec<Case> {
    const LEN: usize = 1000;
    const COUNT: u32 = LEN as u32;
    let (x, y) = (floats(1, LEN), floats(2, LEN));
    let alpha = 0.7_f32;
    let sums = reference::saxpy(alpha, &x, &y);
    let coefficients = [0.5, -0.25, 0.125, 0.3, 1.7, 0.3, 0.125, -0.25, 0.5];
    let mut stencil = linear(
        "stencil",
        module!("stencil"),
        COUNT.div_ceil(128),
        128,
        vec![input(&x), exact_from_zero(&reference::stencil(&coefficients, &x)), value(COUNT)],
    );
    stencil.globals = vec![("stencil_coefficients", coefficients.to_bytes())];
    let saxpy = |name, grid, block| {
        let arguments = vec![value(COUNT), value(alpha), input(&x), exact(&y, &sums)];
        linear(name, module!("saxpy"), grid, block, arguments)
    };
    vec![
        linear(
            "vector_add",
            module!("vector_add"),
            COUNT.div_ceil(256),
            256,
            vec![input(&x), input(&y), exact_from_zero(&reference::vector_add(&x, &y)), value(COUNT)],
        ),
        saxpy("saxpy", COUNT.div_ceil(256), 256),
        saxpy("saxpy_grid_stride", 2, 64),
        stencil,
    ]
}

fn fills() -> Vec<Case> {
    fn fill<T: ToBytes + Copy>(name: &'static str, with: T) -> Case
    where
        [T]: ToBytes,
    {
        const LEN: usize = 100;
        let arguments = vec![exact_from_zero(&[with; LEN]), value(with), value(LEN as u64)];
        linear(name, module!("fill", both), 2, 32, arguments)
    }
    vec![
        fill("fill_u8", 0xa5_u8),
        fill("fill_u16", 0xbeef_u16),
        fill("fill_u32", 0xdead_beef_u32),
        fill("fill_u64", 0x0123_4567_89ab_cdef_u64),
        fill("fill_f32", f32::from_bits(0x7fc1_2345)),
        fill("fill_f64", f64::from_bits(0x7ff8_0000_dead_beef)),
    ]
}

fn reductions() -> Vec<Case> {
    const LEN: usize = 10_000;
    const COUNT: u32 = LEN as u32;
    let (real, whole) = (floats(3, LEN), integers(4, LEN));
    let of_floats = |name, module, grid: u32, block: u32| {
        let sums = Expected::Near(reference::block_sums_f32(&real, grid as usize, block as usize));
        linear(name, module, grid, block, vec![input(&real), from_zero(sums), value(COUNT)])
    };
    let of_integers = |name, module, grid: u32, block: u32| {
        let sums = reference::block_sums_u32(&whole, grid as usize, block as usize);
        linear(name, module, grid, block, vec![input(&whole), exact_from_zero(&sums), value(COUNT)])
    };
    let shared = module!("reduce_shared");
    let shuffle = module!("reduce_shuffle", both);
    let text = bytes(5, LEN);
    let bins = reference::histogram(&text);
    vec![
        of_floats("reduce_shared", shared, 4, 256),
        Case { shared_bytes: 4 * 128, ..of_integers("reduce_shared_dynamic", shared, 3, 128) },
        of_floats("reduce_shuffle", shuffle, 4, 256),
        of_integers("reduce_shuffle_u32", shuffle, 3, 96),
        linear(
            "histogram",
            module!("histogram", both),
            5,
            192,
            vec![input(&text), exact_from_zero(&bins), value(COUNT)],
        ),
    ]
}

fn matrices() -> Vec<Case> {
    const M: usize = 33;
    const N: usize = 45;
    const K: usize = 29;
    let (a, b) = (floats(6, M * K), floats(7, K * N));
    let product = reference::matmul(&a, &b, M, N, K);
    let matmul = |name, module, block: [u32; 3]| {
        let [m, n, k] = [M, N, K].map(|side| side as u32);
        let arguments = vec![input(&a), input(&b), exact_from_zero(&product), value(m), value(n), value(k)];
        let grid = [n.div_ceil(block[0]), m.div_ceil(block[1]), 1];
        Case { grid, block, ..linear(name, module, 1, 1, arguments) }
    };
    const ROWS: u32 = 45;
    const COLUMNS: u32 = 70;
    let matrix = floats(8, (ROWS * COLUMNS) as usize);
    let flipped = reference::transpose(&matrix, ROWS as usize, COLUMNS as usize);
    let arguments = vec![input(&matrix), exact_from_zero(&flipped), value(ROWS), value(COLUMNS)];
    vec![
        matmul("matmul_naive", module!("matmul_naive"), [32, 8, 1]),
        matmul("matmul_tiled", module!("matmul_tiled", both), [16, 16, 1]),
        Case {
            grid: [COLUMNS.div_ceil(32), ROWS.div_ceil(32), 1],
            block: [32, 8, 1],
            ..linear("transpose", module!("transpose"), 1, 1, arguments)
        },
    ]
}

fn pictures_and_bodies() -> Vec<Case> {
    let picture = Mandelbrot { width: 64, height: 48, left: -2.0, top: -1.125, step: 0.046875, limit: 200 };
    let Mandelbrot { width, height, left, top, step, limit } = picture;
    let counts = reference::mandelbrot(&picture);
    let arguments = vec![
        exact_from_zero(&counts),
        value(width),
        value(height),
        value(left),
        value(top),
        value(step),
        value(limit),
    ];
    const BODIES: u32 = 200;
    let dt = 0.01_f32;
    let mut positions = floats(9, 4 * BODIES as usize);
    for mass in positions.iter_mut().skip(3).step_by(4) {
        *mass = mass.abs();
    }
    let velocities = floats(10, 4 * BODIES as usize);
    let (new_velocities, new_positions) = reference::nbody(&positions, &velocities, dt);
    vec![
        Case {
            grid: [width.div_ceil(32), height.div_ceil(8), 1],
            block: [32, 8, 1],
            ..linear("mandelbrot", module!("mandelbrot", both), 1, 1, arguments)
        },
        linear(
            "nbody",
            module!("nbody", both),
            BODIES.div_ceil(128),
            128,
            vec![
                input(&positions),
                Argument::Output { before: velocities.to_bytes(), after: Expected::Near(new_velocities) },
                from_zero(Expected::Near(new_positions)),
                value(BODIES),
                value(dt),
            ],
        ),
    ]
}

/// Kernels that write their own arguments back; padding between the fields is not written.
fn signatures() -> Vec<Case> {
    fn echo(name: &'static str, written: Vec<u8>, values: Vec<Argument>) -> Case {
        let arguments = std::iter::once(exact_from_zero(&written)).chain(values).collect();
        linear(name, module!("signatures", both), 1, 1, arguments)
    }
    let scalars = [
        value(0x12_u8),
        value(0x3456_u16),
        value(0x789a_bcde_u32),
        value(!0x1234_u64),
        value(1.5_f32),
        value(-2.25_f64),
    ];
    let vectors = [value(7_u32), input_value(&[1.0_f32, 2.0, 3.0, 4.0]), input_value(&[5_u32, 6])];
    let position = [0.5_f32, -0.5, 8.0].to_bytes();
    let (mass, id) = (3.25_f64.to_bytes(), 77_u16.to_bytes());
    let padded = [position.as_slice(), &[0; 4], &mass, &id, &[0; 6]].concat();
    let table = integers(11, 64);
    let pointers = (0..16_u32).map(|index| exact_from_zero(&[index])).collect();
    vec![
        linear("no_arguments", module!("signatures", both), 1, 1, Vec::new()),
        echo("mixed_scalars", concatenated(&scalars), scalars.to_vec()),
        echo("vector_after_pointer", concatenated(&vectors), vectors.to_vec()),
        echo(
            "structure_by_value",
            [position, mass, id, vec![9]].concat(),
            vec![Argument::Value(padded), value(9_u8)],
        ),
        echo("large_structure", table.to_bytes(), vec![input_value(&table)]),
        linear("many_pointers", module!("signatures", both), 1, 1, pointers),
    ]
}

/// An array passed by value.
fn input_value<T>(values: &[T]) -> Argument
where
    [T]: ToBytes,
{
    Argument::Value(values.to_bytes())
}

fn concatenated(values: &[Argument]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|argument| match argument {
            Argument::Value(bytes) => bytes.as_slice(),
            Argument::Input(_) | Argument::Output { .. } => &[],
        })
        .copied()
        .collect()
}
