//! The machine code of each kernel, and the launches that run it.

use super::choice;
use super::code::Code;
use crate::exec::block::Block;
use crate::exec::block::launch::Launch;
use crate::exec::code::steps;
use crate::exec::interface::{ExecOptions, Execution, Hooks};
use crate::program::Kernel;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Words of memory for the records of a lane's calls.
const RECORDS: usize = 1 << 17;

/// A kernel in this mode.
#[derive(Debug, Default)]
struct Translation {
    /// Without and with the check of uninitialized reads.
    code: [OnceLock<Option<Code>>; 2],
    /// True if it is chosen without a request.
    suits: OnceLock<bool>,
    /// True once it was launched.
    launched: AtomicBool,
}

/// Returns the number of stops of the machine code with which a launch runs; `None` if it runs in
/// another mode.
pub(in crate::exec) fn stops(kernel: &Kernel, options: &ExecOptions, hooks: &dyn Hooks) -> Option<usize> {
    let allowed = options.allow_machine_code(kernel) && hooks.touched().is_none();
    // Rows interleave warps within the bodies of loops, so a seed finds more with them.
    let chosen = || options.seed.is_none() && is_chosen(kernel);
    let runs = allowed && (options.mode == Execution::Compiled || chosen());
    if runs { code(kernel, options.check_init).map(Code::stops) } else { None }
}

fn translation(kernel: &Kernel) -> Option<&Translation> {
    kernel.machine_code.get_or_make(Translation::default)
}

/// Returns the machine code of a kernel, created at its first launch in this mode; `None` for
/// kernels that it does not support. If `checked`, it tests that bytes which it reads are
/// initialized.
pub(in crate::exec) fn code(kernel: &Kernel, checked: bool) -> Option<&Code> {
    translation(kernel)?.code[usize::from(checked)].get_or_init(|| Code::of(kernel, checked)).as_ref()
}

/// True if machine code should run a kernel without a request: from its second launch on, because
/// compiling takes as long as many launches.
fn is_chosen(kernel: &Kernel) -> bool {
    let Some(translation) = translation(kernel) else { return false };
    let again = translation.launched.load(Ordering::Relaxed);
    if !again {
        translation.launched.store(true, Ordering::Relaxed);
    }
    again && suits(kernel)
}

/// True if machine code runs a kernel in this mode, from its second launch on.
pub(in crate::exec) fn runs(kernel: &Kernel, mode: Execution) -> bool {
    match mode {
        Execution::Compiled => code(kernel, false).is_some(),
        Execution::Automatic => suits(kernel) && code(kernel, false).is_some(),
        Execution::Plain | Execution::Vector => false,
    }
}

/// True if a launch on rows may change to machine code while it runs.
pub(in crate::exec) fn may_change(launch: &Launch<'_>) -> bool {
    let Launch { options, hooks, .. } = launch;
    let automatic = options.mode == Execution::Automatic && options.seed.is_none();
    let allowed = options.allow_machine_code(launch.args.kernel) && hooks.touched().is_none();
    automatic && allowed && launch.machine_stops.is_none()
}

/// Returns a launch on rows as machine code, for its later blocks; `None` if rows should be faster.
pub(in crate::exec) fn changed<'a>(launch: &Launch<'a>) -> Option<Launch<'a>> {
    let Launch { args, map, options, hooks, .. } = launch;
    let code = suits(args.kernel).then(|| code(args.kernel, options.check_init));
    let stops = code.flatten()?.stops();
    Launch::new(args, map, options, *hooks, Some(stops)).ok()
}

/// True if machine code is expected to be faster than rows.
fn suits(kernel: &Kernel) -> bool {
    let find = || steps(kernel).is_some_and(|steps| choice::suits(kernel, steps));
    translation(kernel).is_some_and(|translation| *translation.suits.get_or_init(find))
}

/// Returns the machine code that runs a block, if it runs in this mode.
pub(in crate::exec) fn of_launch<'l>(block: &Block<'_, 'l>) -> Option<&'l Code> {
    let launch = block.launch;
    launch.machine_stops.and_then(|_| code(launch.args.kernel, launch.options.check_init))
}

/// Prepares the state that machine code uses, for a launch in this mode.
pub(in crate::exec) fn prepare(block: &mut Block<'_, '_>) {
    let kernel = block.launch.args.kernel;
    let Some(code) = of_launch(block) else { return };
    block.machine.reset(kernel.caches, code.stops());
    if !code.sites.is_empty() && block.machine.records.is_empty() {
        block.machine.records = vec![0; RECORDS];
    }
    code.roots.fill(block);
}

#[cfg(test)]
mod tests {
    use crate::exec::compiled::machine::{REFUSED, REFUSES};
    use crate::exec::{ExecOptions, Execution, LaunchArgs, NoHooks, launch};
    use crate::memory::{Memory, Request};
    use crate::program::Program;

    #[test]
    fn rows_run_a_kernel_if_the_system_refuses_executable_memory() {
        let text = ".version 8.0 .target sm_90 .address_size 64 .visible .entry k(.param .u64 out) {
            .reg .b64 %x; .reg .b32 %r; ld.param.u64 %x, [out]; mov.u32 %r, 7; st.global.u32 [%x], %r; ret; }";
        for refuses in [true, false] {
            REFUSES.set(refuses);
            let program = Program::load(text, &Default::default()).unwrap();
            let memory = Memory::new(1, 1 << 20, false);
            let out = memory.alloc(&Request::device(4, 1, 0)).unwrap();
            let kernel = &program.kernels()[0];
            let args = LaunchArgs {
                kernel,
                globals: &[],
                grid: [1; 3],
                block: [1; 3],
                dynamic_shared: 0,
                params: &out.base.to_le_bytes(),
                cluster: None,
                cooperative: false,
                grid_workspace: 0,
            };
            let options = ExecOptions { mode: Execution::Compiled, ..ExecOptions::default() };
            launch(&args, &memory.snapshot(), &options, &NoHooks).unwrap();
            // SAFETY: the region has four bytes, and no kernel runs.
            assert_eq!(unsafe { out.host.cast::<u32>().read_unaligned() }, 7);
            assert_eq!(super::code(kernel, false).is_none(), refuses);
            assert!(REFUSED.is_completed());
        }
    }
}
