//! Runs the kernels in Python on Numba's CUDA simulator, in a separate process.

use super::{Absent, fetched};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/beside/simulator.py");

const LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Simulated {
    pub(crate) version: String,
    /// Units of work per second.
    pub(crate) rate: f64,
}

/// Runs a kernel of `simulator.py`. `None` if it has no such kernel.
pub(crate) fn run(kernel: &str) -> Result<Option<Simulated>, Absent> {
    let folder = fetched("numba").ok_or(Absent::NotFetched)?;
    let source = include_str!("simulator.py");
    if !source.contains(&format!("def {kernel}(")) {
        return Ok(None);
    }
    let mut child = Command::new("python3")
        .args([PROGRAM, kernel])
        .env("PYTHONPATH", folder)
        .env("NUMBA_ENABLE_CUDASIM", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Absent::Broken(format!("python3: {error}")))?;
    // Its threads alternate by sleeping and polling, so with other priorities a run may never end.
    let limit = Instant::now() + LIMIT;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Fails only if it has ended.
    let _ = child.kill();
    let output = child.wait_with_output().map_err(|error| Absent::Broken(format!("python3: {error}")))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let line = |name: &str| printed.lines().find_map(|line| line.strip_prefix(name));
    match (line("numba "), line("rate ").and_then(|rate| rate.parse().ok())) {
        (Some(version), Some(rate)) => Ok(Some(Simulated { version: version.into(), rate })),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(Absent::Broken(format!("simulator.py {kernel} ended with {}: {errors}", output.status)))
        }
    }
}
