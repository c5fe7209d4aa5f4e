//! Runs a launch.

mod queue;
mod shuffle;
mod team;
mod turn;
mod workers;

use super::block::launch::Launch;
use super::interface::{ExecOptions, Hooks, LaunchArgs, LaunchStats};
use crate::memory::Map;
use crate::report::{Fault, FaultKind};
use queue::Queue;

pub(in crate::exec) fn run(
    args: &LaunchArgs<'_>,
    map: &Map,
    options: &ExecOptions,
    hooks: &dyn Hooks,
) -> Result<LaunchStats, Box<Fault>> {
    #[cfg(feature = "compile")]
    let stops = super::compiled::stops(args.kernel, options, hooks);
    #[cfg(not(feature = "compile"))]
    let stops = None;
    let launch = Launch::new(args, map, options, hooks, stops)?;
    let workers = match options.workers {
        // One worker, so that events have one order, the same in every run.
        _ if options.check_races || options.seed.is_some() => 1,
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    let workers = workers.min(usize::try_from(launch.clusters()).unwrap_or(usize::MAX)).max(1);
    let queue = Queue::new(&launch);
    if !workers::run(workers - 1, &|worker, help| queue.work(worker, help)) {
        return Err(Box::new(Fault::new(FaultKind::Other("a worker panicked".into()), &args.kernel.name)));
    }
    queue.outcome()
}
