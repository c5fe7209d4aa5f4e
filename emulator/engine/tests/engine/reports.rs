//! One bug of each kind: its exact report, and the corrected kernel, which must pass every check.
//!
//! The texts are in `tests/data/reports.txt`. `CUPRUM_WRITE_REPORTS=1 cargo test -p cuprum-engine
//! --test engine reports` writes them again; read the difference before you commit it.

mod nans;

use crate::device::{Args, Device, MODES};
use cuprum_engine::exec::{ExecOptions, Execution};
use cuprum_engine::report::Fault;
use std::fmt::Write;

type Check = fn(&mut ExecOptions);

const NONE: Check = |_| {};
const INIT: Check = |options| options.check_init = true;
const RACES: Check = |options| options.check_races = true;
const BARRIERS: Check = |options| options.check_barriers = true;
const BUDGET: Check = |options| options.budget = Some(10_000);
/// The corrected kernels must pass all of them.
const ALL: Check = |options| {
    INIT(options);
    RACES(options);
    BARRIERS(options);
    nans::NANS(options);
};

/// All of them that do not inspect each instruction.
const ALL_ON_ROWS: Check = |options| {
    INIT(options);
    RACES(options);
    BARRIERS(options);
};

type Arguments = fn(&Device) -> Args;

struct Case {
    name: &'static str,
    /// A file of the folder `kernels`, or PTX.
    program: Program,
    check: Check,
    wrong: (&'static str, Arguments),
    right: (&'static str, Arguments),
}

enum Program {
    File(&'static str),
    /// The bodies of the kernels `wrong` and `right`, with registers and the pointer `%rd0`.
    Bodies(&'static str, &'static str),
}
use Program::{Bodies, File};

/// Allocates 128 zeros. Buffers live as long as their device.
fn zeros(device: &Device) -> Args {
    Args::default().buffer(&device.buffer(&[0u32; 128]))
}

fn ones_and_zeros(device: &Device) -> Args {
    Args::default().buffer(&device.buffer(&[1u32; 128])).buffer(&device.buffer(&[0u32; 128]))
}

fn two_zeros(device: &Device) -> Args {
    zeros(device).buffer(&device.buffer(&[0u32; 128]))
}

/// Returns the arguments of `oob_write`: address, index, value.
fn write_to(address: u64, index: u64) -> Args {
    Args::default().push(address).push(index).push(1u32)
}

fn one_value(device: &Device, value: u32) -> Args {
    Args::default().buffer(&device.buffer(&[value]))
}

/// Returns a buffer of 129 elements, the last uninitialized, an output buffer, and 128.
fn partly_written(device: &Device) -> Args {
    let input = device.partly_written(&[1u32; 128], 129 * 4);
    Args::default().buffer(&input).buffer(&device.buffer(&[0u32; 128])).push(128u32)
}

const CASES: &[Case] = &[
    Case {
        name: "out of bounds",
        program: File("faults"),
        check: NONE,
        wrong: ("oob_write", |device| write_to(device.buffer(&[0u32; 100]).address(), 102)),
        right: ("oob_write", |device| write_to(device.buffer(&[0u32; 100]).address(), 99)),
    },
    Case {
        name: "out of bounds, one lane of the last warp",
        program: File("bugs"),
        check: NONE,
        wrong: ("off_by_one", |device| Args::default().buffer(&device.buffer(&[0f32; 90])).push(90u32)),
        right: ("off_by_one_fixed", |device| Args::default().buffer(&device.buffer(&[0f32; 90])).push(90u32)),
    },
    Case {
        name: "out of bounds, shared memory",
        program: File("bugs"),
        check: NONE,
        wrong: ("shared_overflow", |device| zeros(device).push(1u32)),
        right: ("shared_overflow_fixed", |device| zeros(device).push(1u32)),
    },
    Case {
        name: "use after free",
        program: File("faults"),
        check: NONE,
        wrong: ("oob_write", |device| {
            let address = device.buffer(&[0u32; 100]).address();
            device.memory.free(address).unwrap();
            write_to(address, 7)
        }),
        right: ("oob_write", |device| write_to(device.buffer(&[0u32; 100]).address(), 7)),
    },
    Case {
        name: "misaligned",
        program: Bodies("st.global.u32 [%rd0+1], 1;", "st.global.u32 [%rd0+4], 1;"),
        check: NONE,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "null pointer",
        program: File("faults"),
        check: NONE,
        wrong: ("oob_write", |_| write_to(0, 5)),
        right: ("oob_write", |device| write_to(device.buffer(&[0u32; 100]).address(), 5)),
    },
    Case {
        name: "host pointer",
        program: File("faults"),
        check: NONE,
        wrong: ("oob_write", |device| write_to(std::ptr::from_ref(device).addr() as u64 & !7, 0)),
        right: ("oob_write", |device| write_to(device.buffer(&[0u32; 100]).address(), 0)),
    },
    Case {
        name: "write to a constant",
        program: Bodies(
            "ld.const.u32 %r0, [table];\nmov.u64 %rd1, table;\ncvta.const.u64 %rd1, %rd1;\nst.u32 [%rd1], 1;",
            "mov.u64 %rd1, table;\ncvta.const.u64 %rd1, %rd1;\nld.u32 %r0, [%rd1];",
        ),
        check: NONE,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "uninitialized global memory",
        program: File("bugs"),
        check: INIT,
        wrong: ("uninitialized_global", partly_written),
        right: ("uninitialized_global_fixed", partly_written),
    },
    Case {
        name: "uninitialized shared memory",
        program: File("bugs"),
        check: INIT,
        wrong: ("uninitialized_shared", zeros),
        right: ("uninitialized_shared_fixed", zeros),
    },
    Case {
        name: "uninitialized local memory",
        program: File("bugs"),
        check: INIT,
        wrong: ("uninitialized_local", |device| zeros(device).push(40u32)),
        right: ("uninitialized_local_fixed", |device| zeros(device).push(40u32)),
    },
    Case {
        name: "race in a block",
        program: File("bugs"),
        check: RACES,
        wrong: ("race_shared", ones_and_zeros),
        right: ("race_shared_fixed", ones_and_zeros),
    },
    Case {
        name: "race between blocks",
        program: File("bugs"),
        check: RACES,
        wrong: ("race_lock", two_zeros),
        right: ("race_lock_fixed", two_zeros),
    },
    Case {
        name: "barrier in half a warp",
        program: File("bugs"),
        check: BARRIERS,
        wrong: ("divergent_barrier", zeros),
        right: ("divergent_barrier_fixed", zeros),
    },
    Case {
        name: "barrier after some threads have exited",
        program: File("bugs"),
        check: BARRIERS,
        wrong: ("exited_barrier", |device| zeros(device).push(40u32)),
        right: ("exited_barrier_fixed", |device| zeros(device).push(40u32)),
    },
    Case {
        name: "different counts at a barrier",
        program: Bodies(
            "setp.lt.u32 %p0, %tid, 32;\n@%p0 barrier.sync 1, 64;\n@!%p0 barrier.sync 1, 96;",
            "setp.lt.u32 %p0, %tid, 32;\n@%p0 barrier.sync 1, 64;\n@!%p0 barrier.sync 1, 64;",
        ),
        check: BARRIERS,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "different barriers",
        program: Bodies(
            "setp.lt.u32 %p0, %tid, 32;\n@%p0 bra ONE;\nbarrier.sync 2;\nbra DONE;\nONE:\nbarrier.sync 1;\nDONE:",
            "setp.lt.u32 %p0, %tid, 32;\n@%p0 bra ONE;\nbarrier.sync 1;\nbra DONE;\nONE:\nbarrier.sync 1;\nDONE:",
        ),
        check: NONE,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "deadlock",
        program: Bodies(
            "and.b32 %r0, %tid, 16;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra SHUFFLE;\nbarrier.sync 0;\nbra DONE;\n\
             SHUFFLE:\nshfl.sync.idx.b32 %r1, %tid, 0, 31, 0xffffffff;\nbarrier.sync 0;\nDONE:",
            "and.b32 %r0, %tid, 16;\nsetp.eq.u32 %p0, %r0, 0;\n@!%p0 bra DONE;\n\
             shfl.sync.idx.b32 %r1, %tid, 0, 31, 0x0000ffff;\nDONE:\nbarrier.sync 0;",
        ),
        check: NONE,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "mask without the thread itself",
        program: File("bugs"),
        check: BARRIERS,
        wrong: ("wrong_mask", zeros),
        right: ("wrong_mask_fixed", zeros),
    },
    Case {
        name: "masks that differ",
        program: Bodies(
            "and.b32 %r0, %tid, 16;\nsetp.eq.u32 %p0, %r0, 0;\nselp.b32 %r1, 0xffff, 0xffffffff, %p0;\n\
             shfl.sync.bfly.b32 %r2, %tid, 1, 31, %r1;",
            "and.b32 %r0, %tid, 16;\nsetp.eq.u32 %p0, %r0, 0;\nselp.b32 %r1, 0xffff, 0xffff0000, %p0;\n\
             shfl.sync.bfly.b32 %r2, %tid, 1, 31, %r1;",
        ),
        check: BARRIERS,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "shuffle from a lane that takes no part",
        program: File("bugs"),
        check: BARRIERS,
        wrong: ("inactive_shuffle", zeros),
        right: ("inactive_shuffle_fixed", zeros),
    },
    Case {
        name: "endless loop",
        program: File("faults"),
        check: BUDGET,
        wrong: ("spin", |device| one_value(device, 0)),
        right: ("spin", |device| one_value(device, 1)),
    },
    Case {
        name: "trap",
        program: File("faults"),
        check: NONE,
        wrong: ("trap_if", |device| one_value(device, 1)),
        right: ("trap_if", |device| one_value(device, 0)),
    },
    Case {
        name: "assert",
        program: File("faults"),
        check: NONE,
        wrong: ("assert_below", |device| zeros(device).push(128u32).push(0u32)),
        right: ("assert_below", |device| zeros(device).push(128u32).push(1u32)),
    },
    Case {
        name: "stack overflow",
        program: File("faults"),
        check: NONE,
        wrong: ("recurse", |device| zeros(device).push(100_000u32)),
        right: ("recurse", |device| zeros(device).push(3u32)),
    },
    Case {
        name: "jump to nowhere",
        program: Bodies(
            "add.u32 %r0, %tid, 1;\nTABLE: .branchtargets ONE, TWO;\nand.b32 %r0, %r0, 3;\n\
             brx.idx %r0, TABLE;\nONE:\nTWO:",
            "and.b32 %r0, %tid, 1;\nTABLE: .branchtargets ONE, TWO;\nbrx.idx %r0, TABLE;\nONE:\nTWO:",
        ),
        check: NONE,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "free of what was not allocated",
        program: Bodies(
            "{ .param .b64 p; st.param.b64 [p], %rd0; call.uni free, (p); }",
            "{ .param .b64 p; st.param.b64 [p], 0; call.uni free, (p); }",
        ),
        check: NONE,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
];

fn cases() -> impl Iterator<Item = &'static Case> {
    CASES.iter().chain(nans::CASES)
}

/// Launches two blocks of 64 threads, which may wait for each other.
fn launch(
    program: &Program,
    mode: Execution,
    check: Check,
    (kernel, arguments): (&str, Arguments),
) -> Result<(), Box<Fault>> {
    let mut device = match program {
        File(name) => Device::load_file_tracked(name).0,
        Bodies(wrong, right) => {
            let mut ptx = String::from(
                ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func free(.param .b64 p);\n\
                 .const .align 4 .u32 table[4] = {1, 2, 3, 4}; \
                 .func (.param .b32 y) root(.param .b32 x) { .reg .b32 %f; ld.param.b32 %f, [x]; \
                 sqrt.rn.f32 %f, %f; st.param.b32 [y], %f; ret; }\n",
            );
            for (name, body) in [("wrong", wrong), ("right", right)] {
                write!(
                    ptx,
                    ".visible .entry {name}(.param .u64 out)\n{{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b32 %tid;\n\
                     .reg .b64 %rd<4>;\nld.param.u64 %rd0, [out];\nmov.u32 %tid, %tid.x;\n{body}\nret;\n}}\n"
                )
                .unwrap();
            }
            Device::load(&ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"))
        }
    };
    device.options.mode = mode;
    check(&mut device.options);
    let args = arguments(&device);
    device.launch_with(kernel, 2, 64, &args, |launch| launch.cooperative = true).map(drop)
}

/// Removes addresses, which differ if the preferred ones are not free.
pub(crate) fn without_addresses(text: &str) -> String {
    let mut pieces = text.split("0x");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.len() - piece.trim_start_matches(|digit: char| digit.is_ascii_hexdigit()).len();
        match digits {
            9.. => plain.push_str("ADDRESS"),
            _ => write!(plain, "0x{}", &piece[..digits]).unwrap(),
        }
        plain.push_str(&piece[digits..]);
    }
    plain
}

/// Returns the reports of all cases in a mode.
fn reports(mode: Execution) -> String {
    let mut said = String::new();
    for case in cases() {
        let fault = launch(&case.program, mode, case.check, case.wrong).expect_err(case.name);
        let text = without_addresses(&fault.to_string());
        writeln!(said, "== {} ({})\n{text}\n", case.name, fault.code().0).unwrap();
    }
    said
}

#[test]
fn reports_say_what_they_should_in_each_mode() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/reports.txt");
    if std::env::var_os("CUPRUM_WRITE_REPORTS").is_some() {
        std::fs::write(path, reports(Execution::Plain)).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    for mode in [Execution::Plain, Execution::Vector] {
        let said = reports(mode);
        for (said, expected) in said.split("== ").zip(expected.split("== ")) {
            assert_eq!(said, expected, "{mode:?}");
        }
        assert_eq!(said, expected, "{mode:?}");
    }
}

/// Cases whose reports begin with the path of a warp that was split last, which may be another.
const BY_PATHS: &[&str] = &["deadlock"];

#[test]
fn machine_code_reports_the_same() {
    for case in cases().filter(|case| !BY_PATHS.contains(&case.name)) {
        let said =
            |mode| launch(&case.program, mode, case.check, case.wrong).expect_err(case.name).to_string();
        let plain = without_addresses(&said(Execution::Plain));
        for mode in [Execution::Compiled, Execution::Quads, Execution::Octets, Execution::Warps] {
            assert_eq!(without_addresses(&said(mode)), plain, "{}, {mode:?}", case.name);
        }
    }
}

/// Behavior that is undefined in PTX, but harmless on hardware.
const HARMLESS: &[&str] = &[
    "barrier in half a warp",
    "barrier after some threads have exited",
    "mask without the thread itself",
    "masks that differ",
    "shuffle from a lane that takes no part",
    "race in a block",
    "race between blocks",
    "uninitialized global memory",
    "uninitialized shared memory",
    "uninitialized local memory",
];

#[test]
fn what_hardware_bears_passes_where_its_check_is_off() {
    for case in CASES.iter().filter(|case| HARMLESS.contains(&case.name)).chain(nans::CASES) {
        for mode in MODES {
            if let Err(fault) = launch(&case.program, mode, NONE, case.wrong) {
                panic!("{}, {mode:?}: {fault}", case.name);
            }
        }
    }
}

#[test]
fn what_is_corrected_passes_every_check() {
    for case in cases() {
        for (mode, check) in MODES.into_iter().flat_map(|mode| [ALL, ALL_ON_ROWS].map(|check| (mode, check)))
        {
            if let Err(fault) = launch(&case.program, mode, check, case.right) {
                panic!("{}, {mode:?}: {fault}", case.name);
            }
        }
    }
}
