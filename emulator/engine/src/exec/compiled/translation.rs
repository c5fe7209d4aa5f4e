//! The machine code of each kernel, and the launches that run it.

use super::choice::{self, Choice};
use super::code::{Code, Form};
use super::partings::Totals;
use super::plan::Plan;
use super::quads::{self, OCTET};
use crate::exec::block::Block;
use crate::exec::block::launch::Launch;
use crate::exec::code::steps;
use crate::exec::interface::{ExecOptions, Execution, Hooks, LaunchArgs};
use crate::program::Kernel;
use crate::semantics::LANES;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Instructions of warps for each of its own after which a kernel is compiled without a request. On
/// rows they take a tenth of the time to compile it, so kernels of short programs stay there.
const WARM: u64 = 500;

/// Time on rows, for each instruction of a kernel, after which the rest of a launch may run as
/// machine code: a tenth of the time to compile it.
const WORTH_COMPILING: Duration = Duration::from_micros(10);
/// The least such time.
const LEAST_WORTH: Duration = Duration::from_millis(2);

/// The time to compile a kernel for whole warps, as a multiple of the time for others.
const EFFORT_OF_WARPS: u64 = 8;

/// Words of memory for the records of a lane's calls.
const RECORDS: usize = 1 << 17;

/// In the order of their numbers.
const FORMS: [Form; 5] = [Form::Lanes, Form::Checked, Form::Quads, Form::Octets, Form::Warps];

/// A kernel in this mode.
#[derive(Debug, Default)]
struct Translation {
    /// By form.
    code: [OnceLock<Option<Code>>; FORMS.len()],
    /// By class of blocks: the forms that are chosen without a request.
    chosen: [OnceLock<Choice>; choice::CLASSES],
    /// The time to compile it, in instructions of usual kernels.
    effort: OnceLock<u64>,
    /// Instructions of warps that its launches without a request have run.
    ran: AtomicU64,
    partings: Totals,
}

/// Returns the number of the form of machine code that runs a launch; `None` if it runs in another
/// mode.
pub(in crate::exec) fn form(
    args: &LaunchArgs<'_>,
    options: &ExecOptions,
    hooks: &dyn Hooks,
) -> Option<usize> {
    let kernel = args.kernel;
    let allowed = options.allow_machine_code(kernel) && hooks.touched().is_none();
    // Rows interleave warps within the bodies of loops, so a seed finds more with them.
    let ready = || options.mode != Execution::Automatic || options.seed.is_none() && is_warm(kernel);
    if allowed && ready() { form_of(args, options).map(|form| form as usize) } else { None }
}

fn translation(kernel: &Kernel) -> Option<&Translation> {
    kernel.machine_code.get_or_make(Translation::default)
}

/// Returns the form of machine code for a launch with these options, created when it is first
/// needed; `None` for kernels that it does not support, or that rows should run faster.
fn form_of(args: &LaunchArgs<'_>, options: &ExecOptions) -> Option<Form> {
    let kernel = args.kernel;
    let Choice { form, less, single, .. } = match options.mode {
        Execution::Automatic => chosen(kernel, class(args)),
        Execution::Quads => Choice { form: Some(Form::Quads), ..Choice::LANES },
        Execution::Octets => Choice { form: Some(Form::Octets), ..Choice::LANES },
        Execution::Warps => Choice { form: Some(Form::Warps), less: Some(Form::Octets), ..Choice::LANES },
        _ => Choice::LANES,
    };
    // The threads that run together are neighbors too. Those left over run one by one.
    let suits = |lanes: usize| {
        let left_over = options.mode == Execution::Automatic && has_left_over(args.block[0], lanes as u32);
        !left_over && quads::fit(args.block, lanes)
    };
    let form = if form == Some(Form::Warps) && !suits(LANES) { less } else { form };
    let form = if form == Some(Form::Octets) && !suits(OCTET) { Some(Form::Quads) } else { form };
    let exists = |form: &Form| in_form(kernel, *form).is_some();
    if options.check_init && form.is_some() {
        return Some(Form::Checked).filter(exists);
    }
    let first = if options.seed.is_some() { None } else { form.filter(exists) };
    first.or_else(|| single.filter(exists))
}

/// True if many of so many threads are left over by groups of a size.
fn has_left_over(threads: u32, size: u32) -> bool {
    threads % size != 0 && threads < 4 * size
}

fn in_form(kernel: &Kernel, form: Form) -> Option<&Code> {
    translation(kernel)?.code[form as usize].get_or_init(|| Code::of(kernel, form)).as_ref()
}

/// True if the launches of a kernel without a request have run for long enough to compile it.
fn is_warm(kernel: &Kernel) -> bool {
    let Some(translation) = translation(kernel) else { return false };
    let runs = translation.ran.load(Ordering::Relaxed) / WARM;
    runs >= kernel.code.len() as u64 && runs >= effort(kernel, translation)
}

/// Returns the time that it takes to compile a kernel, in instructions of usual ones.
fn effort(kernel: &Kernel, translation: &Translation) -> u64 {
    let find = || {
        let effort = Plan::of(kernel, 1).map_or(0, |plan| plan.effort());
        let warps = chosen(kernel, choice::CLASSES - 1).form == Some(Form::Warps);
        if warps { effort * EFFORT_OF_WARPS } else { effort }
    };
    *translation.effort.get_or_init(find)
}

/// Notes the instructions of a launch, after its blocks were counted.
pub(in crate::exec) fn note(kernel: &Kernel, options: &ExecOptions, instructions: u64) {
    if options.mode == Execution::Automatic {
        if let Some(translation) = translation(kernel) {
            translation.ran.fetch_add(instructions, Ordering::Relaxed);
            translation.partings.judge();
        }
    }
}

/// Adds the partings of the quads of a block to the counts of its kernel.
pub(in crate::exec) fn count(block: &mut Block<'_, '_>) {
    let counts = std::mem::take(&mut block.machine.partings);
    if counts.instructions == 0 {
        return;
    }
    if let (Some(code), Some(translation)) = (of_launch(block), translation(block.launch.args.kernel)) {
        translation.partings.add(counts, (code.lanes(), code.has_premises));
    }
}

/// True if machine code runs a kernel in this mode, in large blocks.
pub(in crate::exec) fn runs(kernel: &Kernel, mode: Execution) -> bool {
    match mode {
        Execution::Compiled => in_form(kernel, Form::Lanes).is_some(),
        Execution::Quads => in_form(kernel, Form::Quads).is_some(),
        Execution::Octets => in_form(kernel, Form::Octets).is_some(),
        Execution::Warps => in_form(kernel, Form::Warps).is_some(),
        Execution::Automatic => {
            let Choice { form, single, .. } = chosen(kernel, choice::CLASSES - 1);
            [form, single].into_iter().flatten().any(|form| in_form(kernel, form).is_some())
        }
        Execution::Plain | Execution::Vector => false,
    }
}

/// True if a launch on rows may change to machine code while it runs.
pub(in crate::exec) fn may_change(launch: &Launch<'_>) -> bool {
    let Launch { options, hooks, .. } = launch;
    let automatic = options.mode == Execution::Automatic && options.seed.is_none();
    let allowed = options.allow_machine_code(launch.args.kernel) && hooks.touched().is_none();
    automatic && allowed && launch.machine_form.is_none()
}

/// True if a launch that may change has run on rows for long enough.
pub(in crate::exec) fn is_worth_compiling(launch: &Launch<'_>, ran: Duration) -> bool {
    let kernel = launch.args.kernel;
    let least = || translation(kernel).map(|translation| effort(kernel, translation));
    ran >= LEAST_WORTH && least().is_some_and(|effort| ran >= WORTH_COMPILING * effort as u32)
}

/// Returns a launch on rows as machine code, for its later blocks; `None` if rows should be faster.
pub(in crate::exec) fn changed<'a>(launch: &Launch<'a>) -> Option<Launch<'a>> {
    let Launch { args, map, options, hooks, writer, .. } = launch;
    let form = form_of(args, options)?;
    Launch::new(args, map, options, *hooks, writer, Some(form as usize)).ok()
}

/// Returns the forms of machine code that are expected to be faster than rows in blocks of a class.
fn chosen(kernel: &Kernel, class: usize) -> Choice {
    let find = || steps(kernel).map_or(Choice::ROWS, |steps| choice::find(kernel, steps, class));
    let Some(translation) = translation(kernel) else { return Choice::ROWS };
    let mut chosen = *translation.chosen[class].get_or_init(find);
    if chosen.form == Some(Form::Warps) && translation.partings.warps_part() {
        chosen.form = chosen.less;
    }
    if chosen.form == Some(Form::Octets) && translation.partings.premises_fail() {
        chosen.form = chosen.careful;
    }
    let together = matches!(chosen.form, Some(Form::Quads | Form::Octets));
    match chosen.parted.filter(|_| together && translation.partings.are_many()) {
        Some(form) => Choice::always(Some(form)),
        None => chosen,
    }
}

/// Returns the class of the blocks of a launch.
fn class(args: &LaunchArgs<'_>) -> usize {
    choice::class(args.block.iter().fold(1, |threads, size| threads.saturating_mul(*size)))
}

/// Returns the machine code that runs a block, if it runs in this mode.
pub(in crate::exec) fn of_launch<'l>(block: &Block<'_, 'l>) -> Option<&'l Code> {
    in_form(block.launch.args.kernel, *FORMS.get(block.launch.machine_form?)?)
}

/// Prepares the state that machine code uses, for a launch in this mode.
pub(in crate::exec) fn prepare(block: &mut Block<'_, '_>) {
    let kernel = block.launch.args.kernel;
    let Some(code) = of_launch(block) else { return };
    block.machine.reset(kernel.caches, code.stops.len());
    if !code.sites.is_empty() && block.machine.records.is_empty() {
        block.machine.records = vec![0; RECORDS];
    }
    code.roots.fill(block);
}

#[cfg(test)]
mod tests {
    use super::{Form, LEAST_WORTH, WARM, WORTH_COMPILING, effort, form_of, in_form, is_warm};
    use super::{is_worth_compiling, translation};
    use crate::exec::block::launch::Launch;
    use crate::exec::compiled::machine::{REFUSED, REFUSES};
    use crate::exec::{ExecOptions, Execution, LaunchArgs, NoHooks, launch};
    use crate::memory::{Memory, Region, Request, Writer};
    use crate::program::{Kernel, Program};
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    /// A program with one kernel, and memory with a word per thread.
    struct Device {
        program: Program,
        memory: Memory,
        out: Region,
    }

    impl Device {
        /// `body` gets the address of the thread's word in `%x`, and its number in `%t`.
        fn new(body: &str) -> Device {
            Device::with("", body)
        }

        fn with(functions: &str, body: &str) -> Device {
            let text = format!(
                ".version 8.0 .target sm_90 .address_size 64 {functions}
                .visible .entry k(.param .u64 out) {{
                .reg .b64 %x, %y; .reg .b32 %t, %i, %r, %s, %w; .reg .pred %p; .shared .b32 words[1024];
                mov.u32 %w, words; mov.u32 %t, %tid.x; mul.wide.u32 %y, %t, 4;
                ld.param.u64 %x, [out]; add.u64 %x, %x, %y;
                {body} st.global.u32 [%x], %r; ret; }}"
            );
            let program = Program::load(&text, &Default::default()).unwrap();
            let memory = Memory::new(1, 1 << 20, false);
            let out = memory.alloc(&Request::device(4096, 1, 0)).unwrap();
            Device { program, memory, out }
        }

        fn kernel(&self) -> &Kernel {
            &self.program.kernels()[0]
        }

        fn args<'a>(&'a self, params: &'a [u8; 8], threads: u32) -> LaunchArgs<'a> {
            LaunchArgs {
                kernel: self.kernel(),
                globals: &[],
                grid: [1; 3],
                block: [threads, 1, 1],
                dynamic_shared: 0,
                params,
                cluster: None,
                cooperative: false,
                grid_workspace: 0,
            }
        }

        fn launch(&self, options: &ExecOptions, threads: u32) {
            let params = self.out.base.to_le_bytes();
            launch(&self.args(&params, threads), &self.memory.snapshot(), options, &NoHooks).unwrap();
        }

        /// Returns the form in which a launch would run.
        fn form(&self, threads: u32) -> Option<Form> {
            self.form_of([threads, 1, 1])
        }

        /// The same for blocks of these sizes.
        fn form_of(&self, block: [u32; 3]) -> Option<Form> {
            form_of(&LaunchArgs { block, ..self.args(&[0; 8], 1) }, &ExecOptions::default())
        }
    }

    #[test]
    fn rows_run_a_kernel_if_the_system_refuses_executable_memory() {
        for refuses in [true, false] {
            REFUSES.set(refuses);
            let device = Device::new("mov.u32 %r, 7;");
            device.launch(&ExecOptions { mode: Execution::Compiled, ..ExecOptions::default() }, 1);
            // SAFETY: the region has four bytes, and no kernel runs.
            assert_eq!(unsafe { device.out.host.cast::<u32>().read_unaligned() }, 7);
            assert_eq!(in_form(device.kernel(), Form::Lanes).is_none(), refuses);
            assert!(REFUSED.is_completed());
        }
    }

    #[test]
    fn blocks_of_few_threads_run_as_machine_code_and_large_ones_on_rows() {
        let device = Device::new(&format!(
            "mov.u32 %i, 0; mov.u32 %r, %t;
            L: and.b32 %s, %r, 1023; mad.lo.u32 %s, %s, 4, %w; ld.shared.u32 %r, [%s];
            add.u32 %r, %r, %i; setp.eq.u32 %p, %r, %t; @%p st.shared.u32 [%s], %i;
            add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 20; @%p bra L;
            {}",
            "bar.sync 0;".repeat(6)
        ));
        let forms = [1, 16, 32, 64, 65, 1024, u32::MAX].map(|threads| device.form(threads));
        let [octets, quads] = [Form::Octets, Form::Quads].map(Some);
        assert_eq!(forms, [quads, octets, octets, octets, None, None, None]);
    }

    /// In blocks of several dimensions, eight lanes are neighbors only if the first is a multiple
    /// of eight, and in a small block some may be left over.
    #[test]
    fn eight_lanes_run_together_if_they_are_neighbors_and_have_few_vectors() {
        let body = "mad.lo.u32 %r, %r, %t, %w;".repeat(60) + "xor.b32 %i, %i, %r;";
        let forms = |device: &Device| {
            [[64, 1, 1], [100, 1, 1], [8, 8, 1], [20, 1, 1], [12, 8, 1]].map(|block| device.form_of(block))
        };
        let [octets, quads] = [Form::Octets, Form::Quads].map(Some);
        assert_eq!(forms(&Device::new(&body)), [octets, octets, octets, quads, quads]);
        let local = format!(".local .b32 own; st.local.u32 [own], %t; {body}");
        assert_eq!(forms(&Device::new(&local)), [quads; 5]);
        for (count, form) in [(16, octets), (28, quads), (40, quads)] {
            let each = |text: &str| (0..count).map(|n| text.replace('#', &n.to_string())).collect::<String>();
            let (set, used) = (each("mul.lo.u32 %v#, %t, %t;"), each("xor.b32 %r, %r, %v#;"));
            assert_eq!(Device::new(&format!(".reg .b32 %v<40>; {set} {body} {used}")).form(64), form);
        }
    }

    /// Compilers make calls for rare cases, which a branch skips.
    #[test]
    fn kernels_whose_lanes_may_call_run_together() {
        let function = ".func (.reg .u32 %o) triple(.reg .u32 %a) { mul.lo.u32 %o, %a, 3; ret; }";
        let body =
            |call: &str| format!("{} {call} xor.b32 %r, %r, %i;", "mad.lo.u32 %r, %r, %t, %w;".repeat(60));
        let form = |call: &str| Device::with(function, &body(call)).form(256);
        let rare = "setp.lt.u32 %p, %t, 500; @%p bra L; call (%i), triple, (%t); L:";
        assert_eq!(form(rare), Some(Form::Octets));
        let call = "call (%i), triple, (%t);";
        let [after_exit, in_loop] = [
            format!("setp.gt.u32 %p, %t, 500; @%p bra END; {call} bra M; END: ret; M:"),
            format!(
                "mov.u32 %s, 0; L: setp.gt.u32 %p, %s, 9; @%p bra M; {call} add.u32 %s, %s, 1; bra L; M:"
            ),
        ];
        for always in [call, &after_exit, &in_loop] {
            assert_eq!(form(always), Some(Form::Lanes), "{always}");
        }
    }

    /// A kernel runs on rows for a time in proportion to the time to compile it.
    #[test]
    fn large_kernels_change_to_machine_code_later() {
        let body = |count: usize| "mad.lo.u32 %r, %r, %t, %w; st.global.u32 [%x], %r;".repeat(count);
        let [small, large] = [50, 1500].map(|count| Device::new(&body(count)));
        let effort = |device: &Device| effort(device.kernel(), translation(device.kernel()).unwrap());
        let [least, most] = [effort(&small), effort(&large)];
        assert!(least >= 50 && most > 20 * least, "{least} {most}");
        for device in [small, large] {
            let effort = effort(&device);
            let runs = |instructions: u64| {
                let translation = translation(device.kernel()).unwrap();
                translation.ran.store(instructions, Ordering::Relaxed);
                is_warm(device.kernel())
            };
            let needed = WARM * effort.max(device.kernel().code.len() as u64);
            assert_eq!([runs(needed - 1), runs(needed)], [false, true]);
            let memory = device.memory.snapshot();
            let (params, options, writer) = ([0; 8], ExecOptions::default(), Writer::new());
            let args = device.args(&params, 32);
            let launch = Launch::new(&args, &memory, &options, &NoHooks, &writer, None).unwrap();
            let worth = (WORTH_COMPILING * effort as u32).max(LEAST_WORTH);
            let nearly = worth.saturating_sub(Duration::from_nanos(1));
            assert_eq!([nearly, worth].map(|ran| is_worth_compiling(&launch, ran)), [false, true]);
        }
    }

    /// Single lanes have no vectors of floats, and rows run each path alone.
    #[test]
    fn quads_whose_lanes_part_stay_if_single_lanes_are_slow() {
        let device = Device::new(&format!(
            ".reg .f32 %f; mov.b32 %f, %t; mov.u32 %r, %t; {}
            L: mad.lo.u32 %r, %r, 1664525, 1013904223; shr.u32 %s, %r, 28; setp.ne.u32 %p, %s, 0; @%p bra L;
            mov.b32 %s, %f; xor.b32 %r, %r, %s;",
            "mul.rn.f32 %f, %f, %f;".repeat(200)
        ));
        assert_eq!(device.form(256), Some(Form::Octets));
        let translation = translation(device.kernel()).unwrap();
        translation.ran.store(1 << 40, Ordering::Relaxed);
        device.launch(&ExecOptions::default(), 256);
        assert!(translation.partings.are_many());
        assert_eq!(device.form(256), Some(Form::Octets));
    }

    /// Rows of 32 threads, and of three, into which no eight lanes fit.
    #[test]
    fn octets_whose_lanes_are_in_several_rows_give_way_to_quads() {
        for (divisor, form) in [(8, Form::Octets), (85, Form::Quads)] {
            let device = Device::new(&format!(
                ".reg .b32 %a, %b; mov.u32 %b, %ntid.x; div.u32 %b, %b, {divisor}; mov.u32 %r, %t; mov.u32 %i, 0;
                L: add.u32 %s, %i, %t; div.u32 %a, %s, %b; {}
                add.u32 %i, %i, 256; setp.lt.u32 %p, %i, 25600; @%p bra L;",
                "mad.lo.u32 %r, %r, %a, %w; xor.b32 %r, %r, %s;".repeat(5)
            ));
            assert_eq!(device.form(256), Some(Form::Octets));
            translation(device.kernel()).unwrap().ran.store(1 << 40, Ordering::Relaxed);
            device.launch(&ExecOptions::default(), 256);
            assert_eq!(device.form(256), Some(form));
        }
    }

    /// Of eight neighbors in a small ring, some are often at its other end.
    #[test]
    fn octets_expect_one_row_if_their_lanes_mostly_are_in_one() {
        for (added, mask, expected) in
            [(0, 31, true), (1, 31, false), (8, 31, true), (-1, 7, false), (1, 255, true), (0, 3, false)]
        {
            let device = Device::new(&format!(
                ".reg .b32 %a, %b; add.u32 %a, %t, {added}; and.b32 %b, %a, {mask}; mad.lo.u32 %r, %b, 4, %w;"
            ));
            let code = in_form(device.kernel(), Form::Octets).unwrap();
            assert_eq!(code.has_premises, expected, "{added} {mask}");
        }
    }

    #[test]
    fn quads_whose_lanes_part_again_and_again_give_way_to_single_lanes() {
        let device = Device::new(
            "mov.u32 %i, 0; mov.u32 %r, %t;
            L: mad.lo.u32 %r, %r, 1664525, 1013904223;
            M: shr.u32 %s, %r, 22; mad.lo.u32 %s, %s, 4, %w; st.shared.u32 [%s], %r;
            shl.b32 %r, %r, 1; setp.lt.s32 %p, %r, 0; @%p bra M;
            add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 1000; @%p bra L;",
        );
        assert_eq!(device.form(256), Some(Form::Octets));
        for _ in 0..3 {
            device.launch(&ExecOptions::default(), 256);
        }
        assert_eq!(device.form(256), Some(Form::Lanes));
    }
}
