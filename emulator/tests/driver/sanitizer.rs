//! The reports of compute-sanitizer on the planted bugs on an H200, compared with the checks here.
//!
//! `tests/gpu/sanitizer.sh` records them in `tests/data/goldens/sanitizer.txt`. Each launch is
//! repeated here, with the check that corresponds to the tool. [`DIFFERENCES`] lists the
//! differences, with reasons.

use cuprum_emulator::report::Fault;
use cuprum_sys::{CUcontext, CUresult};
use cuprum_testing::device::{Args, Device};
use cuprum_testing::driver_calls::{self, ok, write};
use cuprum_testing::processes::in_child;

/// Verdict on one launch: clean, or the first finding.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Clean,
    Found {
        /// Source lines, ascending: both accesses of a race.
        lines: Vec<u32>,
        /// The x coordinates of block and thread; racecheck reports none.
        thread: Option<(u32, u32)>,
    },
}

/// Disagreement between the two sides.
#[derive(Debug, PartialEq, Eq)]
enum Difference {
    /// Found here, not by compute-sanitizer.
    OnlyHere,
    /// Found by both, at different positions.
    Place,
}

/// Tool, kernel, difference and reason.
const DIFFERENCES: &[(&str, &str, Difference, &str)] = &[
    ("memcheck", "off_by_one", Difference::OnlyHere, ADJACENT),
    ("memcheck", "oob_write", Difference::OnlyHere, ADJACENT),
    ("memcheck", "oob_read", Difference::OnlyHere, ADJACENT),
    ("memcheck", "freed", Difference::OnlyHere, FREED),
    (
        "memcheck",
        "assert_below",
        Difference::Place,
        "it names the thread and not the line; warps run in another order",
    ),
    ("racecheck", "race_global", Difference::OnlyHere, SHARED_ONLY),
    ("racecheck", "race_message", Difference::OnlyHere, SHARED_ONLY),
    ("racecheck", "race_last_block", Difference::OnlyHere, SHARED_ONLY),
    ("racecheck", "race_lock", Difference::OnlyHere, SHARED_ONLY),
    ("racecheck", "race_grid", Difference::OnlyHere, SHARED_ONLY),
    ("initcheck", "uninitialized_shared", Difference::OnlyHere, GLOBAL_ONLY),
    ("initcheck", "uninitialized_local", Difference::OnlyHere, GLOBAL_ONLY),
    (
        "synccheck",
        "exited_barrier",
        Difference::OnlyHere,
        "hardware no longer expects threads that have exited",
    ),
    ("synccheck", "wrong_mask", Difference::OnlyHere, "it does not look at member masks of shuffles"),
    ("synccheck", "inactive_shuffle", Difference::OnlyHere, "it does not look at where shuffles read from"),
];

const ADJACENT: &str =
    "allocations of 512 bytes lie side by side on the GPU, so the access hits the next one";
const FREED: &str =
    "the module loaded after the free may lie where the buffer was; here freed addresses rest";
const SHARED_ONLY: &str = "racecheck looks at shared memory alone";
const GLOBAL_ONLY: &str = "initcheck looks at global memory alone";

/// Parses the sections of the record: tool, kernel and verdict.
fn recorded() -> Vec<(String, String, Verdict)> {
    let text = include_str!("../../../tests/data/goldens/sanitizer.txt");
    let sections = text.split("\n== ").skip(1);
    let section = |section: &str| {
        let (title, body) = section.split_once('\n').unwrap();
        let (tool, kernel) = title.split_once(' ').unwrap();
        assert!(body.contains("COMPUTE-SANITIZER") && body.contains("status: 0"), "{title} was not recorded");
        (tool.to_owned(), kernel.to_owned(), read_verdict(body))
    };
    sections.map(section).collect()
}

fn read_verdict(body: &str) -> Verdict {
    let report: Vec<&str> = body.lines().filter(|line| line.starts_with("========= ")).collect();
    let count = |label: &str| report.iter().any(|line| line.contains(label));
    if count("ERROR SUMMARY: 0 errors") || count("SUMMARY: 0 hazards") {
        return Verdict::Clean;
    }
    let first: Vec<&&str> = report.iter().skip(1).take_while(|line| line.trim() != "=========").collect();
    let number =
        |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    let after = |label: &str| first.iter().find_map(|line| Some(number(line.split_once(label)?.1)));
    let mut lines: Vec<u32> =
        first.iter().filter_map(|line| Some(number(line.split_once(".cu:")?.1))).collect();
    lines.sort_unstable();
    let thread = after("by thread (").zip(after("in block (")).map(|(thread, block)| (block, thread));
    Verdict::Found { lines, thread }
}

/// Runs a kernel like `tests/gpu/sanitizer_target.py`, with the check that corresponds to a tool.
fn repeated(tool: &str, kernel: &str) -> Verdict {
    if matches!(kernel.trim_end_matches("_fixed"), "freed" | "leaked") {
        return of_host(kernel);
    }
    let faults = ["oob_write", "oob_read", "misaligned_write", "null_write", "trap_if", "assert_below"];
    let file = if faults.contains(&kernel) { "faults" } else { "bugs" };
    let (mut device, _) = Device::load_file_tracked(file);
    match tool {
        "memcheck" => {}
        "initcheck" => device.options.check_init = true,
        "racecheck" => device.options.check_races = true,
        "synccheck" => device.options.check_barriers = true,
        other => panic!("{other} has no check here"),
    }
    let buffer = |value: u32| device.buffer(&[value; 128]);
    let (ones, out) = (buffer(1), buffer(0));
    let (zeros, more_zeros) = (buffer(0), buffer(0));
    let longer = device.partly_written(&[1u32; 128], 129 * 4);
    let args = Args::default();
    let args = match kernel.trim_end_matches("_fixed") {
        "race_shared" => args.buffer(&ones).buffer(&out),
        "race_message" | "race_grid" => args.buffer(&zeros).buffer(&more_zeros).buffer(&out),
        "race_last_block" => args.buffer(&ones).buffer(&zeros).buffer(&more_zeros).buffer(&out),
        "race_lock" => args.buffer(&zeros).buffer(&out),
        "uninitialized_global" => args.buffer(&longer).buffer(&out).push(128u32),
        "uninitialized_local" => args.buffer(&out).push(32u32),
        "exited_barrier" => args.buffer(&out).push(40u32),
        "off_by_one" => args.buffer(&out).push(128u32),
        "shared_overflow" => args.buffer(&out).push(1u32),
        "oob_write" => args.buffer(&out).push(128u64).push(1u32),
        "oob_read" => args.buffer(&ones).push(128u64).buffer(&out),
        "assert_below" => args.buffer(&ones).push(128u32).push(1u32),
        "trap_if" => args.buffer(&ones),
        "null_write" => args,
        _ => args.buffer(&out),
    };
    let blocks = if kernel.starts_with("off_by_one") { 3u32 } else { 2 };
    // Blocks that wait for each other are resident together on the GPU.
    let launched = device.launch_with(kernel, blocks, 64, &args, |launch| launch.cooperative = true);
    launched.map_or_else(|fault| of_fault(&fault), |_| Verdict::Clean)
}

fn of_fault(fault: &Fault) -> Verdict {
    let sources = fault.related.iter().map(|related| &related.source).chain([&fault.source]);
    let mut lines: Vec<u32> = sources.filter_map(|source| source.as_ref().map(|(_, line)| *line)).collect();
    lines.sort_unstable();
    let race = matches!(fault.kind, cuprum_emulator::report::FaultKind::Race(_));
    if !race {
        lines = fault.source.iter().map(|(_, line)| *line).collect();
    }
    Verdict::Found { lines, thread: (!race).then_some((fault.block[0], fault.thread[0])) }
}

/// Makes the mistakes of host code, through the driver.
fn of_host(kernel: &str) -> Verdict {
    let fixed = kernel.ends_with("_fixed");
    let mut context = CUcontext::null();
    ok!(cuInit(0));
    ok!(cuDevicePrimaryCtxRetain(&mut context, 0));
    ok!(cuCtxSetCurrent(context));
    let leaks_before = cuprum_emulator::leaks().len();
    let buffer = driver_calls::alloc(512);
    write(buffer, &[0u32; 128]);
    let free = || ok!(cuMemFree_v2(buffer));
    if kernel.starts_with("leaked") {
        if fixed {
            free();
        }
        ok!(cuDevicePrimaryCtxReset_v2(0));
        let found = cuprum_emulator::leaks().len() - leaks_before;
        return if found == 0 { Verdict::Clean } else { Verdict::Found { lines: vec![], thread: None } };
    }
    let text = std::ffi::CString::new(include_str!("../../../kernels/faults.ptx")).unwrap();
    let mut module = cuprum_sys::CUmodule::null();
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    let mut function = cuprum_sys::CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, c"oob_write".as_ptr()));
    if !fixed {
        free();
    }
    let (mut address, mut index, mut value) = (buffer, 0u64, 1u32);
    let mut params: [*mut core::ffi::c_void; 3] =
        [(&raw mut address).cast(), (&raw mut index).cast(), (&raw mut value).cast()];
    let (stream, params, extra) = (cuprum_sys::CUstream::null(), params.as_mut_ptr(), core::ptr::null_mut());
    ok!(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, stream, params, extra));
    let code = driver_calls::code!(cuCtxSynchronize());
    if fixed {
        free();
    }
    ok!(cuDevicePrimaryCtxReset_v2(0));
    if code == CUresult::CUDA_SUCCESS {
        return Verdict::Clean;
    }
    of_fault(&cuprum_emulator::last_fault().expect("the code says that there is one"))
}

fn difference(theirs: &Verdict, ours: &Verdict) -> Option<Difference> {
    match (theirs, ours) {
        (Verdict::Clean, Verdict::Clean) => None,
        (Verdict::Clean, Verdict::Found { .. }) => Some(Difference::OnlyHere),
        (Verdict::Found { .. }, Verdict::Clean) => panic!("found on the GPU and not here: {theirs:?}"),
        (theirs, ours) => (theirs != ours).then_some(Difference::Place),
    }
}

#[test]
fn verdicts_are_those_of_compute_sanitizer_or_explained() {
    in_child("sanitizer::verdicts_are_those_of_compute_sanitizer_or_explained", &[], compare_verdicts);
}

fn compare_verdicts() {
    let mut wrong = Vec::new();
    let mut met = Vec::new();
    for (tool, kernel, theirs) in recorded() {
        let ours = repeated(&tool, &kernel);
        let found = difference(&theirs, &ours);
        let listed = DIFFERENCES.iter().position(|(other, name, ..)| (*other, *name) == (&tool, &kernel));
        let expected = listed.map(|index| &DIFFERENCES[index].2);
        if found.as_ref() != expected {
            wrong.push(format!("{tool} {kernel}: {theirs:?} there, {ours:?} here, listed as {expected:?}"));
        }
        met.extend(listed);
        if kernel.ends_with("_fixed") {
            assert_eq!(ours, Verdict::Clean, "{tool} {kernel}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    met.sort_unstable();
    assert_eq!(
        met,
        (0..DIFFERENCES.len()).collect::<Vec<_>>(),
        "differences that no longer exist are listed"
    );
}

#[test]
fn the_record_is_read_right() {
    let recorded = recorded();
    let verdict = |kernel: &str| &recorded.iter().find(|(_, name, _)| name == kernel).unwrap().2;
    let found = |lines: &[u32], thread| Verdict::Found { lines: lines.to_vec(), thread };
    assert_eq!(*verdict("misaligned_write"), found(&[28], Some((0, 0))));
    assert_eq!(*verdict("uninitialized_global"), found(&[76], Some((1, 63))));
    assert_eq!(*verdict("race_shared"), found(&[53, 54], None));
    assert_eq!(*verdict("race_shared_fixed"), Verdict::Clean);
    assert_eq!(*verdict("leaked"), found(&[], None));
    assert_eq!(recorded.len(), 48);
}
