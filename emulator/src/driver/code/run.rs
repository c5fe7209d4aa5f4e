//! Runs launches.

use std::sync::LazyLock;

use crate::exec::{self, ExecOptions, LaunchArgs};
use crate::memory::Request as MemoryRequest;

use crate::driver::answer::{Answer, OUT_OF_MEMORY};
use crate::driver::device::{multiprocessors, processors};
use crate::driver::state::{Act, Operation, Turn, memory, note, settings};

use super::device_runtime::Request;
use super::fault;
use super::hooks::KernelHooks;
use super::launch::Launch;

/// Size of the barrier of a cooperative grid, in bytes.
const WORKSPACE_BYTES: u64 = 64;

impl Launch {
    /// Runs the kernel, and then all work that it requested. Work without order and work in the
    /// order of requests run before work for the kernel's end, in the order recorded on an H200.
    pub(crate) fn launch(&self, in_graph: bool) -> Answer {
        let mut waiting = self.launch_alone(0, in_graph)?;
        while let Some(request) = waiting.pop() {
            match request {
                Request::Launch(launch) => {
                    let requested = launch.launch_alone(waiting.len(), in_graph)?;
                    waiting.extend(requested);
                }
                Request::Copy(copy) => {
                    copy.note();
                    copy.copy(0, |_| ())?;
                }
                Request::Fill(fill) => fill.fill()?,
            }
        }
        Ok(())
    }

    /// Runs the kernel while some requests wait. Returns its own, from the last to the first.
    fn launch_alone(&self, waiting: usize, in_graph: bool) -> Answer<Vec<Request>> {
        let module = &self.function.module;
        let context = &module.context;
        let workspace = match self.shape.cooperative {
            true => {
                let request =
                    MemoryRequest::device(WORKSPACE_BYTES, context.handle as u64, context.device as u32);
                let region = memory().alloc(&request).map_err(|_| OUT_OF_MEMORY)?;
                if let Some(written) = &region.init {
                    written.set(0, WORKSPACE_BYTES);
                }
                Some(region)
            }
            false => None,
        };
        let mut hooks = KernelHooks::new(&self.function, waiting)?;
        let args = LaunchArgs {
            kernel: &self.function.kernel,
            globals: &module.globals,
            grid: self.shape.grid,
            block: self.shape.block,
            dynamic_shared: self.shape.dynamic_shared,
            params: &self.params,
            cluster: self.cluster,
            cooperative: self.shape.cooperative,
            grid_workspace: workspace.as_ref().map_or(0, |region| region.base),
        };
        let result = exec::launch(&args, &memory().snapshot(), &OPTIONS, &hooks);
        if let Some(touched) = hooks.take_touched() {
            note(|| Act::of_kernel(&self.function.kernel, touched));
        }
        if let Some(workspace) = workspace {
            // Only this function knows the address, so freeing the memory cannot fail.
            let _ = memory().free(workspace.base);
        }
        match result {
            Ok(_) => Ok(hooks.take_requests(in_graph)),
            Err(fault) => {
                let code = fault.code();
                fault::remember(*fault);
                Err(code)
            }
        }
    }
}

static OPTIONS: LazyLock<ExecOptions> = LazyLock::new(|| {
    let settings = settings();
    ExecOptions {
        mode: settings.execution,
        workers: if settings.workers == 0 { processors() } else { settings.workers },
        budget: settings.instruction_budget,
        time_limit: settings.time_limit,
        check_init: settings.check_init,
        check_races: settings.check_races,
        check_atomic_reads: settings.check_atomic_reads,
        check_barriers: settings.check_barriers,
        check_nans: settings.check_nans,
        seed: settings.seed,
        multiprocessors: multiprocessors() as u32,
    }
});

impl Operation for Launch {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        self.launch(false)
    }
}
