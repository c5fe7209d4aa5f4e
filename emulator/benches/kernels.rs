//! How fast kernels run, against the same work in scalar Rust on one core.
//!
//! The native side is what a plain loop costs with fused multiply-adds and without vector instructions. The results of
//! both are compared before anything is timed. Memory checks are on. At the end the ratios are printed as a table.
//!
//! ```text
//! cargo bench -p cuprum-emulator --bench kernels
//! ```

#[path = "../tests/device/mod.rs"]
mod device;

use criterion::Criterion;
use device::{Args, Buffer, Device};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

const ELEMENTS: usize = 1 << 20;
const SIDE: usize = 256;
const BODIES: usize = 1024;
const SOFTENING: f32 = 1e-2;

/// One kernel and the native code that it is measured against.
struct Contest {
    name: &'static str,
    /// What is counted, and how many of it one run does.
    unit: &'static str,
    work: f64,
    device: Device,
    kernel: &'static str,
    grid: (u32, u32),
    block: (u32, u32),
    args: Args,
    native: Box<dyn Fn()>,
    /// The ratio to native code to be reached.
    goal: f64,
    /// Keeps the memory of the arguments.
    _buffers: Vec<Buffer>,
}

impl Contest {
    fn launch(&mut self, workers: usize) {
        self.device.options.workers = workers;
        if let Err(fault) = self.device.launch(self.kernel, self.grid, self.block, &self.args) {
            panic!("{}: {fault}", self.name);
        }
    }
}

/// Keeps the compiler from making vector code of the loop that counts with this, at no other cost.
#[inline(always)]
fn one_by_one(index: usize) -> usize {
    let mut index = index;
    // SAFETY: no instruction at all.
    unsafe { std::arch::asm!("/* {0} */", inout(reg) index, options(pure, nomem, nostack, preserves_flags)) };
    index
}

/// `a * b + c`, rounded once, as one instruction.
#[inline(always)]
fn fma(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

macro_rules! with_fma {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)? $body:block)*) => {$(
        fn $name($($arg: $ty),*) $(-> $out)? {
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
            unsafe fn inner($($arg: $ty),*) $(-> $out)? $body
            #[cfg(target_arch = "x86_64")]
            assert!(is_x86_feature_detected!("fma"), "the native side needs a processor with FMA");
            // SAFETY: the processor has the feature.
            unsafe { inner($($arg),*) }
        }
    )*};
}

with_fma! {
    fn native_saxpy(alpha: f32, x: &[f32], y: &mut [f32]) {
        for i in 0..y.len() {
            let i = one_by_one(i);
            y[i] = fma(alpha, x[i], y[i]);
        }
    }

    fn native_sum(x: &[f32]) -> f32 {
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum += x[one_by_one(i)];
        }
        sum
    }

    fn native_matmul(a: &[f32], b: &[f32], c: &mut [f32]) {
        for row in 0..SIDE {
            for column in 0..SIDE {
                let mut sum = 0.0;
                for i in 0..SIDE {
                    let i = one_by_one(i);
                    sum = fma(a[row * SIDE + i], b[i * SIDE + column], sum);
                }
                c[row * SIDE + column] = sum;
            }
        }
    }

    fn native_mandelbrot(counts: &mut [u32], left: f32, top: f32, step: f32, limit: u32) {
        for y in 0..SIDE {
            for x in 0..SIDE {
                let (c_re, c_im) = (fma(x as f32, step, left), fma(y as f32, step, top));
                let (mut re, mut im, mut count) = (0.0f32, 0.0f32, 0);
                while count < limit {
                    let im_squared = im * im;
                    if fma(re, re, im_squared) > 4.0 {
                        break;
                    }
                    let next = fma(re, re, -im_squared) + c_re;
                    im = fma(re + re, im, c_im);
                    re = next;
                    count += 1;
                }
                counts[one_by_one(y * SIDE + x)] = count;
            }
        }
    }

    fn native_nbody(positions: &[[f32; 4]], velocities: &mut [[f32; 4]], next: &mut [[f32; 4]], dt: f32) {
        for (i, own) in positions.iter().enumerate() {
            let mut pull_sum = [0.0f32; 3];
            for j in 0..positions.len() {
                let other = positions[one_by_one(j)];
                let d = [other[0] - own[0], other[1] - own[1], other[2] - own[2]];
                let squared = fma(d[2], d[2], fma(d[0], d[0], d[1] * d[1])) + SOFTENING;
                let inverse = 1.0 / squared.sqrt();
                let pull = inverse * (inverse * (inverse * other[3]));
                for axis in 0..3 {
                    pull_sum[axis] = fma(d[axis], pull, pull_sum[axis]);
                }
            }
            for axis in 0..3 {
                velocities[i][axis] = fma(pull_sum[axis], dt, velocities[i][axis]);
                next[i][axis] = fma(velocities[i][axis], dt, own[axis]);
            }
            next[i][3] = own[3];
        }
    }
}

/// Numbers between -1 and 1 without a pattern.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32)
        .map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b) as i32 as f32)
        .map(|x| x / 2_147_483_648.0)
        .collect()
}

fn load(module: &str) -> Device {
    let path = format!("{}/../kernels/{module}.ptx", env!("CARGO_MANIFEST_DIR"));
    let ptx = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Device::load(&ptx).unwrap_or_else(|error| panic!("{module}: {error}"))
}

fn close(name: &str, got: &[f32], wanted: &[f32], tolerance: f32) {
    for (i, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() <= tolerance, "{name}: {got} instead of {wanted} at {i}");
    }
}

fn saxpy(name: &'static str, kernel: &'static str, grid: u32, goal: f64) -> Contest {
    let device = load("saxpy");
    let (x, y) = (numbers(ELEMENTS, 1), numbers(ELEMENTS, 2));
    let (dx, dy) = (device.buffer(&x), device.buffer(&y));
    let args = Args::default().push(ELEMENTS as u32).push(0.5f32).buffer(&dx).buffer(&dy);
    device.launch(kernel, grid, 256, &args).unwrap();
    let mut wanted = y.clone();
    native_saxpy(0.5, &x, &mut wanted);
    assert_eq!(dy.read::<f32>(), wanted, "{name}");
    let out = std::cell::RefCell::new(y);
    let native = Box::new(move || native_saxpy(0.5, black_box(&x), black_box(&mut out.borrow_mut())));
    Contest {
        name,
        unit: "Melem/s",
        work: ELEMENTS as f64 / 1e6,
        device,
        kernel,
        grid: (grid, 1),
        block: (256, 1),
        args,
        native,
        goal,
        _buffers: vec![dx, dy],
    }
}

fn reduce(name: &'static str, kernel: &'static str, goal: f64) -> Contest {
    const BLOCKS: u32 = 256;
    let device = load(kernel);
    let x = numbers(ELEMENTS, 3);
    let (dx, out) = (device.buffer(&x), device.buffer(&[0f32; BLOCKS as usize]));
    let args = Args::default().buffer(&dx).buffer(&out).push(ELEMENTS as u32);
    device.launch(kernel, BLOCKS, 256, &args).unwrap();
    let exact: f64 = x.iter().map(|x| f64::from(*x)).sum();
    let sum: f64 = out.read::<f32>().iter().map(|x| f64::from(*x)).sum();
    assert!((sum - exact).abs() < 0.1, "{name}: {sum} instead of {exact}");
    Contest {
        name,
        unit: "Melem/s",
        work: ELEMENTS as f64 / 1e6,
        device,
        kernel,
        grid: (BLOCKS, 1),
        block: (256, 1),
        args,
        native: Box::new(move || {
            black_box(native_sum(black_box(&x)));
        }),
        goal,
        _buffers: vec![dx, out],
    }
}

fn matmul(name: &'static str, kernel: &'static str, goal: f64) -> Contest {
    let device = load(kernel);
    let (a, b) = (numbers(SIDE * SIDE, 4), numbers(SIDE * SIDE, 5));
    let (da, db, dc) = (device.buffer(&a), device.buffer(&b), device.buffer(&vec![0f32; SIDE * SIDE]));
    let side = SIDE as u32;
    let args = Args::default().buffer(&da).buffer(&db).buffer(&dc).push(side).push(side).push(side);
    device.launch(kernel, (side / 16, side / 16), (16, 16), &args).unwrap();
    let mut wanted = vec![0.0; SIDE * SIDE];
    native_matmul(&a, &b, &mut wanted);
    assert_eq!(dc.read::<f32>(), wanted, "{name}");
    let out = std::cell::RefCell::new(wanted);
    Contest {
        name,
        unit: "MFLOP/s",
        work: 2.0 * (SIDE * SIDE * SIDE) as f64 / 1e6,
        device,
        kernel,
        grid: (side / 16, side / 16),
        block: (16, 16),
        args,
        native: Box::new(move || native_matmul(black_box(&a), black_box(&b), &mut out.borrow_mut())),
        goal,
        _buffers: vec![da, db, dc],
    }
}

fn mandelbrot() -> Contest {
    let device = load("mandelbrot");
    let out = device.buffer(&vec![0u32; SIDE * SIDE]);
    let side = SIDE as u32;
    let (left, top, step, limit) = (-2.0f32, -1.25f32, 2.5 / SIDE as f32, 256u32);
    let args = Args::default().buffer(&out).push(side).push(side).push(left).push(top).push(step).push(limit);
    device.launch("mandelbrot", (side / 32, side / 8), (32, 8), &args).unwrap();
    let mut wanted = vec![0; SIDE * SIDE];
    native_mandelbrot(&mut wanted, left, top, step, limit);
    assert_eq!(out.read::<u32>(), wanted, "mandelbrot");
    let counts = std::cell::RefCell::new(wanted);
    Contest {
        name: "mandelbrot",
        unit: "Mpixel/s",
        work: (SIDE * SIDE) as f64 / 1e6,
        device,
        kernel: "mandelbrot",
        grid: (side / 32, side / 8),
        block: (32, 8),
        args,
        native: Box::new(move || {
            native_mandelbrot(&mut counts.borrow_mut(), black_box(left), black_box(top), step, limit)
        }),
        goal: 1.0,
        _buffers: vec![out],
    }
}

fn nbody() -> Contest {
    let device = load("nbody");
    let rows = |seed| -> Vec<[f32; 4]> {
        numbers(4 * BODIES, seed).chunks_exact(4).map(|row| [row[0], row[1], row[2], row[3].abs()]).collect()
    };
    let (positions, mut velocities) = (rows(6), rows(7));
    let dt = 1e-3f32;
    let buffer = |rows: &[[f32; 4]]| device.buffer(rows.as_flattened());
    let (dp, dv, dn) = (buffer(&positions), buffer(&velocities), buffer(&positions));
    let args = Args::default().buffer(&dp).buffer(&dv).buffer(&dn).push(BODIES as u32).push(dt);
    let blocks = BODIES as u32 / 128;
    device.launch("nbody", blocks, 128, &args).unwrap();
    let mut next = positions.clone();
    native_nbody(&positions, &mut velocities, &mut next, dt);
    close("nbody", &dn.read::<f32>(), next.as_flattened(), 1e-4);
    let state = std::cell::RefCell::new((velocities, next));
    Contest {
        name: "n-body",
        unit: "Minteraction/s",
        work: (BODIES * BODIES) as f64 / 1e6,
        device,
        kernel: "nbody",
        grid: (blocks, 1),
        block: (128, 1),
        args,
        native: Box::new(move || {
            let (velocities, next) = &mut *state.borrow_mut();
            native_nbody(black_box(&positions), velocities, next, dt);
        }),
        goal: 1.0,
        _buffers: vec![dp, dv, dn],
    }
}

/// The times of one variant: the shortest counts, since other programs can only add to it.
type Shortest = BTreeMap<String, Duration>;

fn measure(criterion: &mut Criterion, shortest: &mut Shortest, id: &str, mut run: impl FnMut()) {
    criterion.bench_function(id, |bencher| {
        bencher.iter_custom(|iterations| {
            let mut sum = Duration::ZERO;
            for _ in 0..iterations {
                let start = Instant::now();
                run();
                let elapsed = start.elapsed();
                sum += elapsed;
                let best = shortest.entry(id.to_owned()).or_insert(elapsed);
                *best = elapsed.min(*best);
            }
            sum
        });
    });
}

/// One block of one warp that does nothing: what a launch costs by itself, warm and on a kernel never launched before.
fn launch_costs() {
    let args = Args::default();
    let run = |device: &Device| {
        let start = Instant::now();
        device.launch("no_arguments", 1, 32, &args).unwrap();
        start.elapsed()
    };
    let first = (0..5).map(|_| run(&load("signatures"))).min().unwrap_or_default();
    let device = load("signatures");
    let warm = (0..1000).map(|_| run(&device)).min().unwrap_or_default();
    println!(
        "\nfirst launch {:.1} µs, warm launch {:.2} µs",
        first.as_secs_f64() * 1e6,
        warm.as_secs_f64() * 1e6
    );
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .without_plots()
        .configure_from_args();
    let mut shortest = Shortest::new();
    let contests = [
        || saxpy("saxpy, one element a thread", "saxpy", (ELEMENTS / 256) as u32, 0.2),
        || saxpy("saxpy, grid stride", "saxpy_grid_stride", 64, 0.25),
        || matmul("matrix product, naive 16x16", "matmul_naive", 0.8),
        || matmul("matrix product, tiled", "matmul_tiled", 1.0),
        || reduce("reduction, shared", "reduce_shared", 0.15),
        || reduce("reduction, shuffle", "reduce_shuffle", 0.35),
        mandelbrot,
        nbody,
    ];
    let mut table = String::from(
        "| kernel | unit | native scalar | emulator | ratio | goal | two cores |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for make in contests {
        let mut contest: Contest = make();
        let name = contest.name;
        let ids = ["native", "one core", "two cores"].map(|variant| format!("{name}/{variant}"));
        measure(&mut criterion, &mut shortest, &ids[0], || (contest.native)());
        measure(&mut criterion, &mut shortest, &ids[1], || contest.launch(1));
        measure(&mut criterion, &mut shortest, &ids[2], || contest.launch(2));
        let [Some(native), Some(one), Some(two)] = ids.map(|id| shortest.get(&id).map(Duration::as_secs_f64))
        else {
            continue;
        };
        let row = format!(
            "| {name} | {} | {:.1} | {:.1} | {:.2} | {:.2} | {:.2} |\n",
            contest.unit,
            contest.work / native,
            contest.work / one,
            native / one,
            contest.goal,
            one / two,
        );
        table.push_str(&row);
    }
    println!("\n{table}");
    launch_costs();
    criterion.final_summary();
}
