//! Contests of regular kernels, which OpenCL and Numba's simulator run too.

use super::contest::{Arg, Contest, Native, buffer, float, numbers, zeros};
use super::native;
use std::hint::black_box;

pub(crate) const SOFTENING: f32 = 1e-2;

const ELEMENTS: usize = 1 << 20;
const SIDE: usize = 256;
const BODIES: usize = 1024;

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
        args: vec![Arg::Word(ELEMENTS as u32), float(alpha), buffer(&x), buffer(&y)],
        check: Box::new(move |buffers| assert_close(&buffers[1], &wanted, 0.0)),
        shared: 0,
        native: Native::Rows(
            ELEMENTS,
            Box::new(move |rows| {
                let (x, mut y) = (x[rows.clone()].to_vec(), y[rows].to_vec());
                Box::new(move || native::saxpy(black_box(alpha), black_box(&x), black_box(&mut y)))
            }),
        ),
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
        args: vec![buffer(&x), zeros(BLOCKS), Arg::Word(ELEMENTS as u32)],
        check: Box::new(move |buffers| {
            let sum: f64 = buffers[1].iter().map(|x| f64::from(f32::from_bits(*x))).sum();
            assert!((sum - exact).abs() < 0.1, "{sum} instead of {exact}");
        }),
        shared: 0,
        native: Native::Rows(
            ELEMENTS,
            Box::new(move |rows| {
                let x = x[rows].to_vec();
                Box::new(move || {
                    black_box(native::sum(black_box(&x)));
                })
            }),
        ),
    }
}

pub(crate) fn matmul() -> Contest {
    let (a, b) = (numbers(SIDE * SIDE, 4), numbers(SIDE * SIDE, 5));
    let mut wanted = vec![0.0; SIDE * SIDE];
    native::matmul(SIDE, &a, &b, &mut wanted);
    let side = SIDE as u32;
    let buffers = [buffer(&a), buffer(&b), zeros(SIDE * SIDE)];
    Contest {
        unit: "MFLOP/s",
        work: 2.0 * (SIDE * SIDE * SIDE) as f64 / 1e6,
        grid: (side / 16, side / 16),
        block: (16, 16),
        args: buffers.into_iter().chain([side; 3].map(Arg::Word)).collect(),
        check: Box::new(move |buffers| assert_close(&buffers[2], &wanted, 0.0)),
        shared: 0,
        native: Native::Rows(
            SIDE,
            Box::new(move |rows| {
                let a = a[rows.start * SIDE..rows.end * SIDE].to_vec();
                let (b, mut c) = (b.clone(), vec![0.0; a.len()]);
                Box::new(move || native::matmul(SIDE, black_box(&a), black_box(&b), black_box(&mut c)))
            }),
        ),
    }
}

pub(crate) fn mandelbrot() -> Contest {
    let (corner, step, limit) = ([-2.0f32, -1.25f32], 2.5 / SIDE as f32, 256u32);
    let mut wanted = vec![0; SIDE * SIDE];
    native::mandelbrot(&mut wanted, 0, SIDE, corner, step, limit);
    let side = SIDE as u32;
    let floats = [corner[0], corner[1], step].map(float);
    Contest {
        unit: "Mpixel/s",
        work: (SIDE * SIDE) as f64 / 1e6,
        grid: (side / 32, side / 8),
        block: (32, 8),
        args: [zeros(SIDE * SIDE), Arg::Word(side), Arg::Word(side)]
            .into_iter()
            .chain(floats)
            .chain([Arg::Word(limit)])
            .collect(),
        check: Box::new(move |buffers| assert_eq!(buffers[0], wanted)),
        shared: 0,
        native: Native::Rows(
            SIDE,
            Box::new(move |rows| {
                let mut counts = vec![0; rows.len() * SIDE];
                Box::new(move || {
                    native::mandelbrot(
                        black_box(&mut counts),
                        rows.start,
                        SIDE,
                        black_box(corner),
                        step,
                        limit,
                    );
                })
            }),
        ),
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
    let flat = |vectors: &[[f32; 4]]| buffer(vectors.as_flattened());
    let n = Arg::Word(BODIES as u32);
    Contest {
        unit: "Minteraction/s",
        work: (BODIES * BODIES) as f64 / 1e6,
        grid: (BODIES as u32 / 128, 1),
        block: (128, 1),
        args: vec![flat(&positions), flat(&velocities), zeros(4 * BODIES), n, float(dt)],
        check: Box::new(move |buffers| assert_close(&buffers[2], next.as_flattened(), 1e-4)),
        shared: 0,
        native: Native::Rows(
            BODIES,
            Box::new(move |rows| {
                let (positions, mut velocities) = (positions.clone(), velocities[rows.clone()].to_vec());
                let mut next = velocities.clone();
                Box::new(move || {
                    native::nbody(
                        black_box(&positions),
                        rows.start,
                        black_box(&mut velocities),
                        &mut next,
                        dt,
                    );
                })
            }),
        ),
    }
}
