//! Kernels whose registers share rows have the same results as with a row per register.

use crate::committed::{Outcome, run_case, run_checked};
use crate::device::{Args, Device, MODES};
use crate::kernels::cases;
use cuprum_engine::exec::Execution;
use cuprum_engine::report::FaultKind;
use std::fmt::Write;

/// More registers than ever have their own rows.
const MANY: usize = 1100;

/// Uses many registers for one instruction each, so that all further ones share rows.
fn padding() -> String {
    let mut text = format!("\n.reg .b32 %many<{MANY}>;\n");
    for index in 0..MANY {
        writeln!(text, "mov.u32 %many{index}, %tid.x;").unwrap();
    }
    text
}

fn padded(ptx: &str, kernel: &str) -> String {
    let entry = ptx.find(&format!(".entry {kernel}(")).expect("the kernel");
    let body = entry + ptx[entry..].find('{').expect("its body") + 1;
    format!("{}{}{}", &ptx[..body], padding(), &ptx[body..])
}

#[test]
fn committed_kernels_do_the_same() {
    for case in cases::all() {
        let results = |outcome: Outcome| outcome.map(|(buffers, ..)| buffers);
        let own = results(run_case(&case, case.ptx, Execution::Plain));
        let text = padded(case.ptx, case.kernel);
        assert_ne!(text, case.ptx);
        for mode in MODES {
            assert!(own == results(run_case(&case, &text, mode)), "{} in the mode {mode:?}", case.name);
        }
        assert!(own == results(run_checked(&case, &text)), "{} with the check of registers", case.name);
    }
}

fn entry(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.func (.reg .b32 out) sum(.reg .b32 n)\n{{\n{}\
         .reg .b32 %a, %b, %c; .reg .pred %p;\nmov.u32 %a, 1;\nadd.u32 %b, n, %a;\nmov.u32 out, 0;\n\
         setp.eq.u32 %p, n, 0;\n@%p bra END;\nsub.u32 %c, n, %a;\ncall (out), sum, (%c);\n\
         sub.u32 %b, %b, 1;\nadd.u32 out, out, %b;\nEND:\nret;\n}}\n\
         .visible .entry k(.param .u64 out)\n{{\n{}.reg .b64 %out, %at; .reg .b32 %t, %r<9>; .reg .pred %p<4>;\n\
         ld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %at, %t, 4;\nadd.u64 %at, %out, %at;\n{body}\
         st.global.u32 [%at], %r0;\nret;\n}}\n",
        padding(),
        padding(),
    )
}

fn run(body: &str, mode: Execution) -> Vec<u32> {
    let mut device = Device::load(&entry(body)).unwrap_or_else(|error| panic!("{error}"));
    device.options.mode = mode;
    let out = device.buffer(&[0u32; 64]);
    device.launch("k", 1, 64, &Args::default().buffer(&out)).unwrap_or_else(|fault| panic!("{fault}"));
    out.read()
}

/// Lanes on other paths keep their values, in loops that lanes leave at different times.
#[test]
fn lanes_that_part_keep_their_values() {
    let body = "mov.u32 %r1, 0;\nmov.u32 %r2, 7;\nmov.u32 %r0, 0;\nLOOP:\nadd.u32 %r3, %r1, %r2;\nxor.b32 %r2, %r3, %t;\n\
                and.b32 %r4, %t, 1;\nsetp.eq.u32 %p0, %r4, 0;\n@%p0 bra EVEN;\nmul.lo.u32 %r5, %r3, 3;\n\
                add.u32 %r0, %r0, %r5;\nbra.uni NEXT;\nEVEN:\nadd.u32 %r6, %r3, 5;\nsub.u32 %r0, %r0, %r6;\nNEXT:\n\
                add.u32 %r1, %r1, 1;\nsetp.le.u32 %p1, %r1, %t;\n@%p1 bra LOOP;\nadd.u32 %r0, %r0, %r2;\n";
    let expected: Vec<u32> = (0u32..64)
        .map(|lane| {
            let (mut carried, mut sum) = (7u32, 0u32);
            for turn in 0..=lane {
                let value = turn.wrapping_add(carried);
                carried = value ^ lane;
                sum = match lane % 2 {
                    0 => sum.wrapping_sub(value.wrapping_add(5)),
                    _ => sum.wrapping_add(value.wrapping_mul(3)),
                };
            }
            sum.wrapping_add(carried)
        })
        .collect();
    for mode in MODES {
        assert_eq!(run(body, mode), expected, "{mode:?}");
    }
}

#[test]
fn a_function_that_calls_itself_keeps_its_values() {
    let expected: Vec<u32> = (0..64).map(|lane| lane * (lane + 1) / 2).collect();
    for mode in MODES {
        assert_eq!(run("call (%r0), sum, (%t);\n", mode), expected, "{mode:?}");
    }
}

/// A register that some lanes have not written never shows another's value; the check reports it.
#[test]
fn a_register_that_nobody_wrote_is_still_one() {
    let body = "add.u32 %r1, %t, 9;\nst.global.u32 [%at], %r1;\nsetp.gt.u32 %p0, %t, 3;\n@%p0 bra L;\nmov.u32 %r0, 5;\nL:\n";
    for mode in MODES {
        let expected: Vec<u32> = (0..64).map(|lane| if lane > 3 { 0 } else { 5 }).collect();
        assert_eq!(run(body, mode), expected, "{mode:?}");
    }
    let mut device = Device::load(&entry(body)).unwrap_or_else(|error| panic!("{error}"));
    device.options.check_init = true;
    let out = device.buffer(&[0u32; 64]);
    let fault = device.launch("k", 1, 64, &Args::default().buffer(&out)).expect_err("a report");
    assert_eq!(fault.kind, FaultKind::UninitializedRegister);
}
