//! Declarations, directives and calls that are no PTX, or that are although they look wrong.
//!
//! Each line of `declarations.txt` is a module without its header. `+` precedes one that NVIDIA's
//! assembler accepts, `-` one that it refuses; the test in `ptxas` asks it. An H200 answered alike
//! (driver 580, 2026-11-29), but for four lines: its driver ends with a fault on a variable with
//! the name of a function and on a local variable at module scope, and takes a register there.

use crate::device::{Args, Device};
use cuprum_ptx::program::{LoadOptions, Program};

/// Returns all modules, and whether each is correct.
pub(crate) fn all() -> Vec<(String, bool)> {
    let modules = include_str!("declarations.txt").lines().map(|line| {
        let text = line.strip_prefix("+ ").or(line.strip_prefix("- ")).expect("a sign before each module");
        (format!(".version 8.4\n.target sm_90\n.address_size 64\n{text}\n"), line.starts_with('+'))
    });
    modules.collect()
}

#[test]
fn correct_declarations_load_and_others_are_refused() {
    let mut wrong = String::new();
    for (text, is_correct) in all() {
        let error = Program::load(&text, &LoadOptions::default()).err();
        if error.is_none() != is_correct {
            wrong += &format!("{error:?}\n{text}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Names of inner blocks hide numbered registers, and numbered ones hide names. An H200 computes
/// the same (driver 580, 2026-11-29).
#[test]
fn names_belong_to_the_innermost_block() {
    let device = Device::load(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .func (.reg .b32 %r7) twice(.reg .b32 %r9) { .reg .b32 %r<3>; add.u32 %r1, %r9, %r9; mov.u32 %r7, %r1; ret; }\n\
         .visible .entry k(.param .u64 %p1) {\n\
         .reg .b32 %r<8>; .reg .b64 %rd<2>; .reg .b32 %s1;\n\
         ld.param.u64 %rd1, [%p1];\nmov.u32 %r3, 5;\nmov.u32 %s1, 1;\n\
         { .reg .b32 %r3; mov.u32 %r3, 7; mov.u32 %r4, %r3; { .reg .b32 %r<4>; mov.u32 %r3, 9; mov.u32 %r5, %r3; } add.u32 %r4, %r4, %r3; }\n\
         { .reg .b32 %s<4>; mov.u32 %s1, 3; mov.u32 %r6, %s1; }\n\
         call (%r7), twice, (%r6);\n\
         st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %s1};\nst.global.v2.u32 [%rd1+16], {%r6, %r7};\nret;\n}\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let out = device.buffer(&[0u32; 6]);
    device.launch("k", 1, 1, &Args::default().buffer(&out)).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(out.read::<u32>(), [5, 14, 9, 1, 3, 6]);
}
