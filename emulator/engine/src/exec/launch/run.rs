//! A launch from its arguments to its outcome.

use super::queue::Queue;
use super::workers;
use crate::exec::block::launch::Launch;
use crate::exec::interface::{ExecOptions, Execution, Hooks, LaunchArgs, LaunchStats};
use crate::memory::{Map, Writer};
use crate::program::Kernel;
use crate::report::{Fault, FaultKind};

/// True if this mode runs a kernel as machine code in blocks of more than 128 threads, at last when
/// it has run for a while.
pub fn has_machine_code(kernel: &Kernel, mode: Execution) -> bool {
    #[cfg(feature = "compile")]
    return crate::exec::compiled::runs(kernel, mode);
    #[cfg(not(feature = "compile"))]
    return {
        let _ = (kernel, mode);
        false
    };
}

/// Runs a kernel to its end on the memory of `map`.
///
/// The caller checks the limits; this function only checks conditions of a correct execution.
///
/// # Errors
/// The first fault, after which the other blocks stop.
pub fn launch(
    args: &LaunchArgs<'_>,
    map: &Map,
    options: &ExecOptions,
    hooks: &dyn Hooks,
) -> Result<LaunchStats, Box<Fault>> {
    #[cfg(feature = "compile")]
    let form = crate::exec::compiled::form(args, options, hooks);
    #[cfg(not(feature = "compile"))]
    let form = None;
    let may_be_alone = args.kernel.changes_global && map.is_private();
    let writer = if may_be_alone { Writer::alone_if_first() } else { Writer::new() };
    let launch = Launch::new(args, map, options, hooks, &writer, form)?;
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
    let outcome = queue.outcome();
    #[cfg(feature = "compile")]
    if let Ok(stats) = &outcome {
        crate::exec::compiled::note(args.kernel, options, stats.instructions);
    }
    outcome
}
