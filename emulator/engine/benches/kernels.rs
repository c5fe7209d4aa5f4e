//! Speed of kernels, compared with scalar Rust, OpenCL on PoCL, and Python on Numba's simulator.
//!
//! Each kernel is one criterion benchmark. An iteration runs every variant twice in turn, so other
//! load on the machine affects all of them. Criterion receives the emulator's time on one core, and
//! the table at the end shows the shortest time of each variant. The simulator is too slow for
//! this: it runs a smaller problem separately. Results are checked before the timing. The
//! emulator's memory checks are on.
//!
//! ```text
//! emulator/engine/benches/beside/fetch.sh                     # PoCL and Numba, once
//! cargo bench -p cuprum-engine --bench kernels                # everything
//! cargo bench -p cuprum-engine --bench kernels -- saxpy       # the kernels whose name contains this
//! cargo bench -p cuprum-engine --bench kernels -- --quick     # only the emulator on one core, and native code
//! ```

mod beside;
#[path = "../tests/device/mod.rs"]
mod device;

use beside::clock::{CLOCK, Reference, Time};
use beside::contest::{self, Contest, NativeRun};
use beside::opencl::{self, Pocl};
use beside::simulator::{self, Simulated};
use beside::{Absent, corpus, emulator, machine};
use criterion::Criterion;
use std::time::Duration;

struct Entry {
    title: &'static str,
    /// Its name in the PTX, which is also the name of the benchmark.
    kernel: &'static str,
    module: &'static str,
    contest: fn() -> Contest,
    /// Target for the ratio to native code.
    goal: f64,
}

#[rustfmt::skip]
const ENTRIES: [Entry; 16] = [
    Entry { title: "saxpy, one element per thread", kernel: "saxpy", module: "saxpy", contest: contest::saxpy_one_element, goal: 0.2 },
    Entry { title: "saxpy, grid stride", kernel: "saxpy_grid_stride", module: "saxpy", contest: contest::saxpy_grid_stride, goal: 0.25 },
    Entry { title: "matrix product, naive 16x16", kernel: "matmul_naive", module: "matmul_naive", contest: contest::matmul, goal: 0.8 },
    Entry { title: "matrix product, tiled", kernel: "matmul_tiled", module: "matmul_tiled", contest: contest::matmul, goal: 1.0 },
    Entry { title: "reduction, shared", kernel: "reduce_shared", module: "reduce_shared", contest: contest::reduction, goal: 0.15 },
    Entry { title: "reduction, shuffle", kernel: "reduce_shuffle", module: "reduce_shuffle", contest: contest::reduction, goal: 0.35 },
    Entry { title: "mandelbrot", kernel: "mandelbrot", module: "mandelbrot", contest: contest::mandelbrot, goal: 1.0 },
    Entry { title: "n-body", kernel: "nbody", module: "nbody", contest: contest::nbody, goal: 1.0 },
    Entry { title: "histogram, global atomics", kernel: "count_global", module: "corpus", contest: corpus::histogram, goal: 0.06 },
    Entry { title: "histogram, shared atomics", kernel: "count_shared", module: "corpus", contest: corpus::histogram, goal: 0.06 },
    Entry { title: "digests, arrays of threads", kernel: "digest", module: "corpus", contest: corpus::digests, goal: 0.25 },
    Entry { title: "stack machine, bytes", kernel: "machine", module: "corpus", contest: corpus::machine, goal: 0.06 },
    Entry { title: "matrix product, integers", kernel: "matmul_int", module: "corpus", contest: corpus::matmul, goal: 0.6 },
    Entry { title: "search, bytes", kernel: "search", module: "corpus", contest: corpus::searches, goal: 0.06 },
    Entry { title: "compaction, ballot and atomic", kernel: "compact", module: "corpus", contest: corpus::compaction, goal: 0.08 },
    Entry { title: "relaxation, blocks of 1024", kernel: "relax", module: "corpus", contest: corpus::relaxation, goal: 0.14 },
];

struct Race {
    contest: Contest,
    native: NativeRun,
    native_halves: [NativeRun; 2],
    emulator: emulator::Prepared,
    pocl: Other<opencl::Prepared>,
    simulated: Other<Simulated>,
    shortest: Shortest,
}

/// Another way to run a kernel: `None` if it lacks a feature that the kernel needs.
type Other<T> = Result<Option<T>, Absent>;

/// The shortest times of the variants, because other programs can only add to them.
struct Shortest {
    native: Time,
    native_on_two: Time,
    emulator: Time,
    emulator_on_two: Time,
    pocl: Time,
}

impl Race {
    /// With `pocl`, the other ways take part.
    fn new(entry: &Entry, pocl: Option<&Result<Pocl, Absent>>) -> Race {
        let contest = (entry.contest)();
        let half = contest.rows / 2;
        Race {
            native: (contest.native)(0..contest.rows),
            native_halves: [(contest.native)(0..half), (contest.native)(half..contest.rows)],
            emulator: emulator::Prepared::new(entry.module, entry.kernel, &contest),
            pocl: pocl.map_or(Ok(None), |pocl| {
                pocl.as_ref().map(|pocl| pocl.prepare(entry.kernel, &contest)).map_err(Absent::clone)
            }),
            simulated: pocl.map_or(Ok(None), |_| simulator::run(entry.kernel)),
            contest,
            shortest: Shortest {
                native: Time::LONGEST,
                native_on_two: Time::LONGEST,
                emulator: Time::LONGEST,
                emulator_on_two: Time::LONGEST,
                pocl: Time::LONGEST,
            },
        }
    }

    /// Runs each variant. Returns the emulator's time on one core.
    fn round(&mut self, quick: bool) -> Duration {
        let shortest = &mut self.shortest;
        let keep = |shortest: &mut Time, time: Time| *shortest = shortest.min(time);
        keep(&mut shortest.native, Time::of_either(&mut self.native));
        let emulator = Time::of_either(|| self.emulator.launch(1));
        keep(&mut shortest.emulator, emulator);
        if !quick {
            keep(&mut shortest.emulator_on_two, Time::of_either(|| self.emulator.launch(2)));
            let expected = shortest.native.wall / 2;
            keep(&mut shortest.native_on_two, on_two_threads(&mut self.native_halves, expected));
        }
        if let Ok(Some(pocl)) = &self.pocl {
            keep(&mut shortest.pocl, Time::of_either(|| pocl.launch()));
        }
        emulator.processor
    }

    fn row(&self, entry: &Entry, quick: bool) -> String {
        let Contest { unit, work, .. } = self.contest;
        let Shortest { native, native_on_two, emulator, emulator_on_two, pocl } = &self.shortest;
        let rate = |time: &Time| work / time.processor.as_secs_f64();
        let (native_rate, emulator_rate) = (rate(native), rate(emulator));
        let gain = |one: &Time, two: &Time| one.wall.as_secs_f64() / two.wall.as_secs_f64();
        let mut row = format!(
            "| {} | {unit} | {native_rate:.1} | {emulator_rate:.1} | {:.2} | {:.2} |",
            entry.title,
            emulator_rate / native_rate,
            entry.goal,
        );
        if !quick {
            let pocl = self.pocl.as_ref().map(|prepared| prepared.as_ref().map(|_| rate(pocl)));
            let simulated = self.simulated.as_ref().map(|done| done.as_ref().map(|done| done.rate / 1e6));
            row += &format!(
                " {:.2} | {:.2} | {} | {} |",
                gain(emulator, emulator_on_two),
                gain(native, native_on_two),
                beside_cells(pocl, emulator_rate, 2),
                beside_cells(simulated, emulator_rate, 0),
            );
        }
        row.push('\n');
        row
    }
}

/// Formats the rate of another way, and the speedup of the emulator with `decimals` decimals.
fn beside_cells(rate: Result<Option<f64>, &Absent>, emulator_rate: f64, decimals: usize) -> String {
    match rate {
        Ok(Some(rate)) => {
            let rate_decimals = if rate < 1.0 { 4 } else { 1 };
            format!("{rate:.rate_decimals$} | {:.decimals$}", emulator_rate / rate)
        }
        Ok(None) => "cannot | -".into(),
        Err(Absent::NotFetched) => "not fetched | -".into(),
        Err(Absent::Broken(_)) => "does not run | -".into(),
    }
}

/// Returns the time of one run of both halves in parallel. Threads take long to start, so work of
/// less than two milliseconds is repeated.
fn on_two_threads(halves: &mut [NativeRun; 2], expected: Duration) -> Time {
    let runs = 1 + (2e-3 / expected.as_secs_f64()) as u32;
    let many = |run: &mut NativeRun| (0..runs).for_each(|_| run());
    let [here, there] = halves;
    let time = Time::of(|| {
        std::thread::scope(|scope| {
            scope.spawn(|| many(there));
            many(here);
        });
    });
    Time { processor: time.processor / runs, wall: time.wall / runs }
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let pocl = (!quick).then(Pocl::open);
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(800))
        .without_plots()
        .configure_from_args();
    let mut reference = Reference::new();
    let (mut table, mut numba) = (String::new(), Ok(None));
    for entry in &ENTRIES {
        let mut race = None;
        criterion.bench_function(entry.kernel, |bencher| {
            let race = race.get_or_insert_with(|| Race::new(entry, pocl.as_ref()));
            bencher.iter_custom(|iterations| {
                reference.round();
                (0..iterations).map(|_| race.round(quick)).sum()
            });
        });
        if let Some(race) = race {
            table.push_str(&race.row(entry, quick));
            if !matches!(race.simulated, Ok(None)) {
                numba = race.simulated;
            }
        }
    }
    if !table.is_empty() {
        print_header(pocl.as_ref(), &numba, &reference);
        println!("{}{table}", head(quick));
    }
    criterion.final_summary();
}

/// Prints information that the table does not contain.
fn print_header(pocl: Option<&Result<Pocl, Absent>>, numba: &Other<Simulated>, reference: &Reference) {
    println!("\n{}.", machine::description());
    println!("One core by {CLOCK}, two cores by wall time; the shortest of all rounds, memory checks on.");
    let (first, warm) = emulator::launch_costs();
    println!("First launch {:.1} µs, warm launch {:.2} µs.", first * 1e6, warm * 1e6);
    println!(
        "The reference loop ran at {:.2} to {:.2} operations a nanosecond; less than when nothing else runs means that \
         the core was shared.",
        reference.slowest, reference.fastest,
    );
    let tell = |name: &str, absent: &Absent| match absent {
        Absent::NotFetched => {
            println!("{name} is not fetched: emulator/engine/benches/beside/fetch.sh does it.")
        }
        Absent::Broken(reason) => println!("{name} does not run: {reason}"),
    };
    match pocl {
        Some(Ok(pocl)) => println!("PoCL {}, one thread.", pocl.version),
        Some(Err(absent)) => tell("PoCL", absent),
        None => {}
    }
    match numba {
        Ok(Some(numba)) => println!("Numba {}, its simulator on one core, smaller problems.", numba.version),
        Ok(None) => {}
        Err(absent) => tell("Numba", absent),
    }
    println!();
}

fn head(quick: bool) -> String {
    let mut columns = vec!["kernel", "unit", "native scalar", "emulator", "ratio", "goal"];
    if !quick {
        let others = ["PoCL", "emulator / PoCL", "Numba simulator", "emulator / Numba"];
        columns.extend(["two cores", "native on two"].into_iter().chain(others));
    }
    let rule: String =
        (0..columns.len()).map(|column| if column < 2 { " --- |" } else { " ---: |" }).collect();
    format!("| {} |\n|{rule}\n", columns.join(" | "))
}
