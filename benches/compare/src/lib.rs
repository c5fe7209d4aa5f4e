//! Shared by both Rust programs: they answer `measure.py`, and time.

use std::error::Error;
use std::fmt::Debug;
use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::{Duration, Instant};

/// Elements of the two vectors of the operation `saxpy`, which are 1 MiB each.
pub const ELEMENTS: usize = 1 << 18;
pub const COPIED_BYTES: usize = 4 << 10;
pub const ALLOCATED_BYTES: usize = 1 << 20;
/// Kernels of the graph.
pub const KERNELS: usize = 20;
/// Times that an operation runs before it is timed: other programs had the device before.
const WARM_UP: usize = 4;

/// The texts of the modules with the kernels `empty` and `saxpy`, whose paths are on the command
/// line.
pub fn kernels() -> Result<[String; 2], Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let mut next = || -> Result<String, Box<dyn Error>> {
        Ok(std::fs::read_to_string(paths.next().ok_or("usage: PROGRAM EMPTY.ptx SAXPY.ptx")?)?)
    };
    Ok([next()?, next()?])
}

/// Prints `about`, then for each line `OPERATION TIMES` of standard input the nanoseconds of one
/// call, or `-` if the layer lacks the operation.
pub fn serve(
    about: &str,
    mut turn: impl FnMut(&str, usize) -> Result<Option<Duration>, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut answers = stdout().lock();
    writeln!(answers, "{about}")?;
    for line in stdin().lock().lines() {
        let line = line?;
        let (operation, times) = line.split_once(' ').ok_or("a line is OPERATION TIMES")?;
        let times = times.parse()?;
        match turn(operation, times)? {
            Some(time) => writeln!(answers, "{:.1}", time.as_nanos() as f64 / times as f64)?,
            None => writeln!(answers, "-")?,
        }
    }
    Ok(())
}

/// Time of `times` calls of `once`. After the measured time, `settle` waits for the work that they
/// queued.
pub fn timed<A, E: Debug>(
    times: usize,
    mut once: impl FnMut() -> Result<A, E>,
    settle: impl Fn(),
) -> Result<Option<Duration>, Box<dyn Error>> {
    let mut once = || drop(black_box(once().expect("a call that succeeds")));
    for _ in 0..WARM_UP {
        once();
    }
    settle();
    let start = Instant::now();
    for _ in 0..times {
        once();
    }
    let time = start.elapsed();
    settle();
    Ok(Some(time))
}
