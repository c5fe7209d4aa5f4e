//! The machine code of each kernel, and the launches that run it.

use super::choice;
use super::code::Code;
use crate::exec::block::Block;
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
