//! Contests: each kernel with its launch, its arguments, the expected results, and the same work in
//! scalar Rust. All ways to run the kernel take launch and arguments from here.

use super::native;
use std::hint::black_box;
use std::ops::Range;

pub(crate) const SOFTENING: f32 = 1e-2;

const ELEMENTS: usize = 1 << 20;
const SIDE: usize = 256;
const BODIES: usize = 1024;

pub(crate) struct Contest {
    /// Unit of work, and the number of units per run.
    pub(crate) unit: &'static str,
    pub(crate) work: f64,
    pub(crate) grid: (u32, u32),
    pub(crate) block: (u32, u32),
    pub(crate) args: Vec<Arg>,
    pub(crate) check: Check,
    /// Number of rows (elements, bodies), of which native code can process a part.
    pub(crate) rows: usize,
    /// Returns a function that repeatedly does the work of some rows natively, on its own data.
    pub(crate) native: Box<dyn Fn(Range<usize>) -> NativeRun>,
}

/// Panics unless the buffers among the arguments are correct after one launch.
pub(crate) type Check = Box<dyn Fn(&[Vec<u32>])>;

pub(crate) type NativeRun = Box<dyn FnMut() + Send>;

/// An argument of a kernel. All values have 32 bits.
pub(crate) enum Arg {
    Word(u32),
    Buffer(Vec<u32>),
}

impl Arg {
    fn float(value: f32) -> Arg {
        Arg::Word(value.to_bits())
    }

    fn floats(values: &[f32]) -> Arg {
        Arg::Buffer(values.iter().map(|value| value.to_bits()).collect())
    }

    fn zeros(count: usize) -> Arg {
        Arg::Buffer(vec![0; count])
    }
}

/// Numbers between -1 and 1 without a pattern.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32)
        .map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b) as i32 as f32)
        .map(|x| x / 2_147_483_648.0)
        .collect()
}

fn assert_close(got: &[u32], wanted: &[f32], tolerance: f32) {
    assert_eq!(got.len(), wanted.len());
    for (i, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        let got = f32::from_bits(*got);
        assert!((got - wanted).abs() <= tolerance, "{got} instead of {wanted} at {i}");
    }
}

fn saxpy(blocks: usize) -> Contest {
    let alpha = 0.5;
    let (x, y) = (numbers(ELEMENTS, 1), numbers(ELEMENTS, 2));
    let mut wanted = y.clone();
    native::saxpy(alpha, &x, &mut wanted);
    Contest {
        unit: "Melem/s",
        work: ELEMENTS as f64 / 1e6,
        grid: (blocks as u32, 1),
        block: (256, 1),
        args: vec![Arg::Word(ELEMENTS as u32), Arg::float(alpha), Arg::floats(&x), Arg::floats(&y)],
        check: Box::new(move |buffers| assert_close(&buffers[1], &wanted, 0.0)),
        rows: ELEMENTS,
        native: Box::new(move |rows| {
            let (x, mut y) = (x[rows.clone()].to_vec(), y[rows].to_vec());
            Box::new(move || native::saxpy(black_box(alpha), black_box(&x), black_box(&mut y)))
        }),
    }
}

pub(crate) fn saxpy_one_element() -> Contest {
    saxpy(ELEMENTS / 256)
}

pub(crate) fn saxpy_grid_stride() -> Contest {
    saxpy(64)
}

pub(crate) fn reduction() -> Contest {
    const BLOCKS: usize = 256;
    let x = numbers(ELEMENTS, 3);
    let exact: f64 = x.iter().map(|x| f64::from(*x)).sum();
    Contest {
        unit: "Melem/s",
        work: ELEMENTS as f64 / 1e6,
        grid: (BLOCKS as u32, 1),
        block: (256, 1),
        args: vec![Arg::floats(&x), Arg::zeros(BLOCKS), Arg::Word(ELEMENTS as u32)],
        check: Box::new(move |buffers| {
            let sum: f64 = buffers[1].iter().map(|x| f64::from(f32::from_bits(*x))).sum();
            assert!((sum - exact).abs() < 0.1, "{sum} instead of {exact}");
        }),
        rows: ELEMENTS,
        native: Box::new(move |rows| {
            let x = x[rows].to_vec();
            Box::new(move || {
                black_box(native::sum(black_box(&x)));
            })
        }),
    }
}

pub(crate) fn matmul() -> Contest {
    let (a, b) = (numbers(SIDE * SIDE, 4), numbers(SIDE * SIDE, 5));
    let mut wanted = vec![0.0; SIDE * SIDE];
    native::matmul(SIDE, &a, &b, &mut wanted);
    let side = SIDE as u32;
    let buffers = [Arg::floats(&a), Arg::floats(&b), Arg::zeros(SIDE * SIDE)];
    Contest {
        unit: "MFLOP/s",
        work: 2.0 * (SIDE * SIDE * SIDE) as f64 / 1e6,
        grid: (side / 16, side / 16),
        block: (16, 16),
        args: buffers.into_iter().chain([side; 3].map(Arg::Word)).collect(),
        check: Box::new(move |buffers| assert_close(&buffers[2], &wanted, 0.0)),
        rows: SIDE,
        native: Box::new(move |rows| {
            let a = a[rows.start * SIDE..rows.end * SIDE].to_vec();
            let (b, mut c) = (b.clone(), vec![0.0; a.len()]);
            Box::new(move || native::matmul(SIDE, black_box(&a), black_box(&b), black_box(&mut c)))
        }),
    }
}

pub(crate) fn mandelbrot() -> Contest {
    let (corner, step, limit) = ([-2.0f32, -1.25f32], 2.5 / SIDE as f32, 256u32);
    let mut wanted = vec![0; SIDE * SIDE];
    native::mandelbrot(&mut wanted, 0, SIDE, corner, step, limit);
    let side = SIDE as u32;
    let floats = [corner[0], corner[1], step].map(Arg::float);
    Contest {
        unit: "Mpixel/s",
        work: (SIDE * SIDE) as f64 / 1e6,
        grid: (side / 32, side / 8),
        block: (32, 8),
        args: [Arg::zeros(SIDE * SIDE), Arg::Word(side), Arg::Word(side)]
            .into_iter()
            .chain(floats)
            .chain([Arg::Word(limit)])
            .collect(),
        check: Box::new(move |buffers| assert_eq!(buffers[0], wanted)),
        rows: SIDE,
        native: Box::new(move |rows| {
            let mut counts = vec![0; rows.len() * SIDE];
            Box::new(move || {
                native::mandelbrot(black_box(&mut counts), rows.start, SIDE, black_box(corner), step, limit);
            })
        }),
    }
}

pub(crate) fn nbody() -> Contest {
    let vectors = |seed| -> Vec<[f32; 4]> {
        numbers(4 * BODIES, seed).chunks_exact(4).map(|row| [row[0], row[1], row[2], row[3].abs()]).collect()
    };
    let (positions, velocities) = (vectors(6), vectors(7));
    let dt = 1e-3f32;
    let (mut new_velocities, mut next) = (velocities.clone(), positions.clone());
    native::nbody(&positions, 0, &mut new_velocities, &mut next, dt);
    let flat = |vectors: &[[f32; 4]]| Arg::floats(vectors.as_flattened());
    let n = Arg::Word(BODIES as u32);
    Contest {
        unit: "Minteraction/s",
        work: (BODIES * BODIES) as f64 / 1e6,
        grid: (BODIES as u32 / 128, 1),
        block: (128, 1),
        args: vec![flat(&positions), flat(&velocities), Arg::zeros(4 * BODIES), n, Arg::float(dt)],
        check: Box::new(move |buffers| assert_close(&buffers[2], next.as_flattened(), 1e-4)),
        rows: BODIES,
        native: Box::new(move |rows| {
            let (positions, mut velocities) = (positions.clone(), velocities[rows.clone()].to_vec());
            let mut next = velocities.clone();
            Box::new(move || {
                native::nbody(black_box(&positions), rows.start, black_box(&mut velocities), &mut next, dt);
            })
        }),
    }
}
