//! Cost of each check: the shortest processor time of a launch, relative to one without checks.
//!
//! Rounds of all variants alternate, so a slow period of the machine affects all. Only checks that
//! nothing is found: `tests/compute` of `cuprum` checks the results of the kernels.
//!
//! ```text
//! cargo bench -p cuprum-engine --bench checks -- [KERNEL...]
//! ```

use cuprum_engine::exec::{ExecOptions, Execution};
use cuprum_testing::clock;
use cuprum_testing::device::{Args, Device};
use std::time::{Duration, Instant};

/// Duration of the rounds per kernel, extended until each variant had `LEAST_ROUNDS`.
const TIME: Duration = Duration::from_millis(1500);
const LEAST_ROUNDS: u32 = 3;

/// A launch. Its arguments are created on the device of each variant.
struct Launch {
    kernel: &'static str,
    grid: (u32, u32),
    block: (u32, u32),
    args: fn(&Device) -> Args,
}

const ELEMENTS: u32 = 1 << 16;

fn vector(device: &Device) -> Args {
    Args::default().buffer(&device.buffer(&vec![0.5f32; ELEMENTS as usize]))
}

fn reduction(device: &Device) -> Args {
    vector(device).buffer(&device.buffer(&[0f32; 64])).push(ELEMENTS)
}

const LAUNCHES: &[Launch] = &[
    Launch {
        kernel: "saxpy",
        grid: (ELEMENTS / 256, 1),
        block: (256, 1),
        args: |device| {
            let (x, y) = (vec![0.5f32; ELEMENTS as usize], vec![1f32; ELEMENTS as usize]);
            Args::default().push(ELEMENTS).push(0.5f32).buffer(&device.buffer(&x)).buffer(&device.buffer(&y))
        },
    },
    Launch {
        kernel: "matmul_tiled",
        grid: (4, 4),
        block: (16, 16),
        args: |device| {
            let matrix = || device.buffer(&vec![0.5f32; 64 * 64]);
            let args = Args::default().buffer(&matrix()).buffer(&matrix()).buffer(&matrix());
            args.push(64u32).push(64u32).push(64u32)
        },
    },
    Launch { kernel: "reduce_shared", grid: (64, 1), block: (256, 1), args: reduction },
    Launch { kernel: "reduce_shuffle", grid: (64, 1), block: (256, 1), args: reduction },
    Launch {
        kernel: "histogram",
        grid: (16, 1),
        block: (256, 1),
        args: |device| {
            let bytes: Vec<u8> = (0..ELEMENTS).map(|i| (i * 37) as u8).collect();
            Args::default().buffer(&device.buffer(&bytes)).buffer(&device.buffer(&[0u32; 256])).push(ELEMENTS)
        },
    },
    Launch {
        kernel: "mandelbrot",
        grid: (4, 16),
        block: (32, 8),
        args: |device| {
            let args = Args::default().buffer(&device.buffer(&vec![0u32; 128 * 128]));
            args.push(128u32).push(128u32).push(-2f32).push(-1.25f32).push(2.5f32 / 128.0).push(128u32)
        },
    },
    Launch {
        kernel: "nbody",
        grid: (4, 1),
        block: (128, 1),
        args: |device| {
            let bodies = || device.buffer(&vec![0.5f32; 4 * 512]);
            let args = Args::default().buffer(&bodies()).buffer(&bodies()).buffer(&bodies());
            args.push(512u32).push(0.01f32)
        },
    },
];

/// A variant: its name and changes. Only the check of uninitialized reads needs a record of writes.
struct Variant {
    name: &'static str,
    change: fn(&mut ExecOptions),
    tracked: bool,
    /// True if accessed bytes are recorded, as the check of the order between streams needs them.
    notes: bool,
}

const VARIANTS: &[Variant] = &[
    Variant { name: "none", change: |_| {}, tracked: false, notes: false },
    Variant {
        name: "barriers",
        change: |options| options.check_barriers = true,
        tracked: false,
        notes: false,
    },
    Variant { name: "streams", change: |_| {}, tracked: false, notes: true },
    Variant {
        name: "plain mode",
        change: |options| options.mode = Execution::Plain,
        tracked: false,
        notes: false,
    },
    Variant {
        name: "initialization",
        change: |options| options.check_init = true,
        tracked: true,
        notes: false,
    },
    Variant { name: "races", change: |options| options.check_races = true, tracked: false, notes: false },
    Variant { name: "seed", change: |options| options.seed = Some(7), tracked: false, notes: false },
    Variant { name: "NaNs", change: |options| options.check_nans = true, tracked: false, notes: false },
    Variant {
        name: "all four",
        change: |options| {
            options.check_barriers = true;
            options.check_init = true;
            options.check_races = true;
            options.check_nans = true;
        },
        tracked: true,
        notes: false,
    },
];

fn measure(launch: &Launch) -> Vec<Duration> {
    let devices: Vec<(Device, Args)> = VARIANTS
        .iter()
        .map(|variant| {
            let load = if variant.tracked { Device::load_file_tracked } else { Device::load_file };
            let (mut device, _) = load(launch.kernel);
            (variant.change)(&mut device.options);
            device.notes = variant.notes;
            let args = (launch.args)(&device);
            (device, args)
        })
        .collect();
    let mut shortest = vec![Duration::MAX; VARIANTS.len()];
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds < LEAST_ROUNDS || begun.elapsed() < TIME {
        for ((device, args), shortest) in devices.iter().zip(&mut shortest) {
            let start = clock::Start::now();
            if let Err(fault) = device.launch(launch.kernel, launch.grid, launch.block, args) {
                panic!("{fault}");
            }
            *shortest = start.elapsed().min(*shortest);
        }
        rounds += 1;
    }
    shortest
}

fn main() {
    let names: Vec<&str> = VARIANTS.iter().skip(1).map(|variant| variant.name).collect();
    println!("| kernel | no check, ms | {} |", names.join(" | "));
    println!("| --- | ---: |{}", " ---: |".repeat(names.len()));
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |launch: &&Launch| wanted.is_empty() || wanted.iter().any(|name| name == launch.kernel);
    for launch in LAUNCHES.iter().filter(is_wanted) {
        let shortest = measure(launch);
        let base = shortest[0].as_secs_f64();
        let factors: Vec<String> =
            shortest[1..].iter().map(|time| format!("{:.1}", time.as_secs_f64() / base)).collect();
        println!("| {} | {:.3} | {} |", launch.kernel, base * 1e3, factors.join(" | "));
    }
}
