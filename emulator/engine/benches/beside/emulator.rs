//! Runs the kernels on the emulator.

use super::contest::{Arg, Contest};
use crate::device::{Args, Buffer, Device};
use cuprum_engine::exec::{Execution, LaunchArgs};
use std::time::Instant;

/// A kernel ready for repeated launches.
pub(crate) struct Prepared {
    device: Device,
    kernel: &'static str,
    grid: (u32, u32),
    block: (u32, u32),
    shared: u32,
    args: Args,
    buffers: Vec<Buffer>,
}

impl Prepared {
    /// Loads the kernel, launches it once and checks the results.
    pub(crate) fn new(module: &str, kernel: &'static str, contest: &Contest) -> Prepared {
        let device = load(module);
        let mut buffers = Vec::new();
        let mut args = Args::default();
        for arg in &contest.args {
            let words = match arg {
                Arg::Word(word) => {
                    args = args.push(*word);
                    continue;
                }
                Arg::Wide(word) => {
                    args = args.push(*word);
                    continue;
                }
                Arg::Buffer(words) | Arg::Apart(words) => words.clone(),
                Arg::Linked(words, links) => with_addresses(words, links, &buffers),
            };
            let buffer = device.buffer(&words);
            if !matches!(arg, Arg::Apart(_)) {
                args = args.buffer(&buffer);
            }
            buffers.push(buffer);
        }
        let Contest { grid, block, shared, .. } = *contest;
        let mut prepared = Prepared { device, kernel, grid, block, shared, args, buffers };
        prepared.launch(1);
        let results: Vec<Vec<u32>> = prepared.buffers.iter().map(Buffer::read).collect();
        (contest.check)(&results);
        prepared
    }

    pub(crate) fn mode(&self) -> Execution {
        self.device.options.mode
    }

    pub(crate) fn launch(&mut self, workers: usize) {
        self.device.options.workers = workers;
        let adjust = |launch: &mut LaunchArgs<'_>| launch.dynamic_shared = self.shared;
        if let Err(fault) = self.device.launch_with(self.kernel, self.grid, self.block, &self.args, adjust) {
            panic!("{}: {fault}", self.kernel);
        }
    }
}

/// Returns the words with the addresses of buffers at some places.
fn with_addresses(words: &[u32], links: &[(usize, usize)], buffers: &[Buffer]) -> Vec<u32> {
    let mut words = words.to_vec();
    for (place, buffer) in links {
        let address = buffers[*buffer].address();
        [words[*place], words[place + 1]] = [address as u32, (address >> 32) as u32];
    }
    words
}

fn load(module: &str) -> Device {
    let path = format!("{}/../../kernels/{module}.ptx", env!("CARGO_MANIFEST_DIR"));
    let ptx = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Device::load(&ptx).unwrap_or_else(|error| panic!("{module}: {error}"))
}

/// Returns the time of a launch itself in seconds, measured with one warp that does nothing: on a
/// kernel never launched before, and on one launched before.
pub(crate) fn launch_costs() -> (f64, f64) {
    let args = Args::default();
    let run = |device: &Device| {
        let start = Instant::now();
        device.launch("no_arguments", 1, 32, &args).unwrap();
        start.elapsed()
    };
    let first = (0..5).map(|_| run(&load("signatures"))).min().unwrap_or_default();
    let device = load("signatures");
    let warm = (0..1000).map(|_| run(&device)).min().unwrap_or_default();
    (first.as_secs_f64(), warm.as_secs_f64())
}
