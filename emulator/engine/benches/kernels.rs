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
//! emulator/engine/benches/counts.sh --check                   # instructions of each launch, against recorded ones
//! ```
//!
//! `CUPRUM_EMULATOR_EXECUTION` chooses the mode: `vector`, `compiled`, `quads`, `octets` or `warps`
//! (with `--features compile`) or `automatic`. The last line sums up the ratios.

mod beside;

use beside::clock::{CLOCK, Reference, Time};
use beside::contest::{Contest, NativeRun};
use beside::entries::{ENTRIES, Entry};
use beside::opencl::{self, Pocl};
use beside::simulator::{self, Simulated};
use beside::{Absent, count, emulator, machine};
use criterion::Criterion;
use cuprum_testing::device;
use std::time::Duration;

struct Race {
    contest: Contest,
    native: NativeRun,
    native_halves: Option<[NativeRun; 2]>,
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
        Race {
            native: contest.native.whole(),
            native_halves: contest.native.halves(),
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
            if let Some(halves) = &mut self.native_halves {
                keep(&mut shortest.native_on_two, on_two_threads(halves, expected));
            }
        }
        if let Ok(Some(pocl)) = &self.pocl {
            keep(&mut shortest.pocl, Time::of_either(|| pocl.launch()));
        }
        emulator.processor
    }

    /// Speed of the emulator, native code being 1.
    fn ratio(&self) -> f64 {
        let Shortest { native, emulator, .. } = &self.shortest;
        native.processor.as_secs_f64() / emulator.processor.as_secs_f64()
    }

    fn row(&self, entry: &Entry, quick: bool) -> String {
        let Contest { unit, work, .. } = self.contest;
        let Shortest { native, native_on_two, emulator, emulator_on_two, pocl } = &self.shortest;
        let rate = |time: &Time| work / time.processor.as_secs_f64();
        let (native_rate, emulator_rate) = (rate(native), rate(emulator));
        let gain = |one: &Time, two: &Time| one.wall.as_secs_f64() / two.wall.as_secs_f64();
        let mut row = format!(
            "| {} | {unit} | {native_rate:.1} | {emulator_rate:.1} | {:.3} | {} |",
            entry.title,
            self.ratio(),
            entry.held_by,
        );
        if !quick {
            let pocl = self.pocl.as_ref().map(|prepared| prepared.as_ref().map(|_| rate(pocl)));
            let simulated = self.simulated.as_ref().map(|done| done.as_ref().map(|done| done.rate / 1e6));
            row += &format!(
                " {:.2} | {} | {} | {} |",
                gain(emulator, emulator_on_two),
                self.native_halves
                    .as_ref()
                    .map_or("-".into(), |_| format!("{:.2}", gain(native, native_on_two))),
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
    let mut args = std::env::args().skip_while(|arg| arg != "--count");
    if args.next().is_some() {
        return count::launch_each(&args.next().unwrap_or_default());
    }
    let quick = std::env::args().any(|arg| arg == "--quick");
    let pocl = (!quick).then(Pocl::open);
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(if quick { 400 } else { 800 }))
        .without_plots()
        .configure_from_args();
    let mut reference = Reference::new();
    let (mut table, mut numba, mut ratios) = (String::new(), Ok(None), Ratios::default());
    for entry in ENTRIES {
        let mut race = None;
        criterion.bench_function(&format!("{}/{}", entry.module, entry.kernel), |bencher| {
            let race = race.get_or_insert_with(|| Race::new(entry, pocl.as_ref()));
            bencher.iter_custom(|iterations| {
                reference.round();
                (0..iterations).map(|_| race.round(quick)).sum()
            });
        });
        if let Some(race) = race {
            table.push_str(&race.row(entry, quick));
            ratios.add(entry, &race);
            if !matches!(race.simulated, Ok(None)) {
                numba = race.simulated;
            }
        }
    }
    if !table.is_empty() {
        print_header(pocl.as_ref(), &numba, &reference);
        println!("{}{table}\n{ratios}", head(quick));
    }
    criterion.final_summary();
}

/// The ratios of all kernels that ran, in one mode.
#[derive(Default)]
struct Ratios {
    all: Vec<(f64, &'static str)>,
    mode: String,
}

impl Ratios {
    fn add(&mut self, entry: &Entry, race: &Race) {
        self.all.push((race.ratio(), entry.title));
        self.mode = format!("{:?}", race.emulator.mode()).to_lowercase();
    }
}

impl std::fmt::Display for Ratios {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ratios { all, mode } = self;
        let mean = (all.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / all.len() as f64).exp();
        let Some((least, title)) = all.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return Ok(()) };
        let below = all.iter().filter(|(ratio, _)| *ratio < 0.1).count();
        write!(
            f,
            "Mode {mode}, {} kernels: geometric mean {mean:.3}, least {least:.3} ({title}), {below} below 0.1.",
            all.len(),
        )
    }
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
    let mut columns = vec!["kernel", "unit", "native scalar", "emulator", "ratio", "held back by"];
    if !quick {
        let others = ["PoCL", "emulator / PoCL", "Numba simulator", "emulator / Numba"];
        columns.extend(["two cores", "native on two"].into_iter().chain(others));
    }
    let rule: String = (0..columns.len())
        .map(|column| if matches!(column, 0 | 1 | 5) { " --- |" } else { " ---: |" })
        .collect();
    format!("| {} |\n|{rule}\n", columns.join(" | "))
}
