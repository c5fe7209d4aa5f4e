//! The machine code of each kernel, and the launches that run it.

use super::choice;
use super::code::{Code, Form};
use crate::exec::block::Block;
use crate::exec::block::launch::Launch;
use crate::exec::code::steps;
use crate::exec::interface::{ExecOptions, Execution, Hooks};
use crate::program::Kernel;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Instructions of warps for each of its own after which a kernel is compiled without a request. On
/// rows they take a tenth of the time to compile it, so kernels of short programs stay there.
const WARM: u64 = 500;

/// Words of memory for the records of a lane's calls.
const RECORDS: usize = 1 << 17;

/// A kernel in this mode.
#[derive(Debug, Default)]
struct Translation {
    /// By form.
    code: [OnceLock<Option<Code>>; 3],
    /// The form that is chosen without a request, and the form if there is no code for quads.
    chosen: OnceLock<[Option<Form>; 2]>,
    /// Instructions of warps that its launches without a request have run.
    ran: AtomicU64,
}

/// Returns the number of stops of the machine code with which a launch runs; `None` if it runs in
/// another mode.
pub(in crate::exec) fn stops(kernel: &Kernel, options: &ExecOptions, hooks: &dyn Hooks) -> Option<usize> {
    let allowed = options.allow_machine_code(kernel) && hooks.touched().is_none();
    // Rows interleave warps within the bodies of loops, so a seed finds more with them.
    let ready = || options.mode != Execution::Automatic || options.seed.is_none() && is_warm(kernel);
    if allowed && ready() { code(kernel, options).map(Code::stops) } else { None }
}

fn translation(kernel: &Kernel) -> Option<&Translation> {
    kernel.machine_code.get_or_make(Translation::default)
}

/// Returns the machine code of a kernel with these options, created when it is first needed; `None`
/// for kernels that it does not support, or that rows should run faster.
pub(in crate::exec) fn code<'k>(kernel: &'k Kernel, options: &ExecOptions) -> Option<&'k Code> {
    let [form, single] = match options.mode {
        Execution::Automatic => chosen(kernel),
        Execution::Quads => [Some(Form::Quads), Some(Form::Lanes)],
        _ => [Some(Form::Lanes); 2],
    };
    if options.check_init && form.is_some() {
        return in_form(kernel, Form::Checked);
    }
    let of = |form: Option<Form>| in_form(kernel, form?);
    let first = if options.seed.is_some() { None } else { of(form) };
    first.or_else(|| of(single))
}

fn in_form(kernel: &Kernel, form: Form) -> Option<&Code> {
    translation(kernel)?.code[form as usize].get_or_init(|| Code::of(kernel, form)).as_ref()
}

/// True if the launches of a kernel without a request have run for long enough to compile it.
fn is_warm(kernel: &Kernel) -> bool {
    let ran = |translation: &Translation| translation.ran.load(Ordering::Relaxed);
    translation(kernel).is_some_and(|translation| ran(translation) >= WARM * kernel.code.len() as u64)
}

/// Notes the instructions of a launch.
pub(in crate::exec) fn note(kernel: &Kernel, options: &ExecOptions, instructions: u64) {
    if options.mode == Execution::Automatic {
        if let Some(translation) = translation(kernel) {
            translation.ran.fetch_add(instructions, Ordering::Relaxed);
        }
    }
}

/// True if machine code runs a kernel in this mode.
pub(in crate::exec) fn runs(kernel: &Kernel, mode: Execution) -> bool {
    match mode {
        Execution::Compiled => in_form(kernel, Form::Lanes).is_some(),
        Execution::Quads => in_form(kernel, Form::Quads).is_some(),
        Execution::Automatic => {
            chosen(kernel).into_iter().flatten().any(|form| in_form(kernel, form).is_some())
        }
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
    let Launch { args, map, options, hooks, writer, .. } = launch;
    let stops = code(args.kernel, options)?.stops();
    Launch::new(args, map, options, *hooks, writer, Some(stops)).ok()
}

/// Returns the form of machine code that is expected to be faster than rows, and the form if there
/// is no code for quads.
fn chosen(kernel: &Kernel) -> [Option<Form>; 2] {
    let find = || steps(kernel).map_or([None; 2], |steps| choice::find(kernel, steps));
    translation(kernel).map_or([None; 2], |translation| *translation.chosen.get_or_init(find))
}

/// Returns the machine code that runs a block, if it runs in this mode.
pub(in crate::exec) fn of_launch<'l>(block: &Block<'_, 'l>) -> Option<&'l Code> {
    let launch = block.launch;
    launch.machine_stops.and_then(|_| code(launch.args.kernel, launch.options))
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
            assert_eq!(super::in_form(kernel, super::Form::Lanes).is_none(), refuses);
            assert!(REFUSED.is_completed());
        }
    }
}
