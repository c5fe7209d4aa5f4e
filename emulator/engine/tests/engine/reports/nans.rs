//! NaNs that a kernel computes and stores, which a GPU does not report.

use super::Program::Bodies;
use super::{Arguments, Case, Check, launch, zeros};
use crate::device::Args;
use cuprum_engine::exec::Execution;

pub(super) const NANS: Check = |options| options.check_nans = true;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "root of a negative number",
        program: Bodies(
            "cvt.rn.f32.u32 %r0, %tid;\nsub.f32 %r0, 0f41200000, %r0;\nsqrt.rn.f32 %r1, %r0;\n\
             mad.wide.u32 %rd1, %tid, 4, %rd0;\nst.global.f32 [%rd1], %r1;",
            "cvt.rn.f32.u32 %r0, %tid;\nsub.f32 %r0, 0f41200000, %r0;\nsqrt.rn.f32 %r1, %r0;\n\
             setp.ge.f32 %p0, %r0, 0f00000000;\nselp.f32 %r1, %r1, 0f00000000, %p0;\n\
             mad.wide.u32 %rd1, %tid, 4, %rd0;\nst.global.f32 [%rd1], %r1;",
        ),
        check: NANS,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "sum of a warp with a NaN of one thread",
        program: Bodies(
            "sub.u32 %r0, %tid, 3;\ncvt.rn.f32.s32 %r0, %r0;\ndiv.rn.f32 %r0, %r0, %r0;\n\
             shfl.sync.bfly.b32 %r1, %r0, 2, 31, 0xffffffff;\nadd.f32 %r0, %r0, %r1;\n\
             shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffffffff;\nadd.f32 %r0, %r0, %r1;\n\
             setp.eq.u32 %p0, %tid, 0;\n@%p0 st.global.f32 [%rd0], %r0;",
            "add.u32 %r0, %tid, 3;\ncvt.rn.f32.s32 %r0, %r0;\ndiv.rn.f32 %r0, %r0, %r0;\n\
             shfl.sync.bfly.b32 %r1, %r0, 2, 31, 0xffffffff;\nadd.f32 %r0, %r0, %r1;\n\
             shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffffffff;\nadd.f32 %r0, %r0, %r1;\n\
             setp.eq.u32 %p0, %tid, 0;\n@%p0 st.global.f32 [%rd0], %r0;",
        ),
        check: NANS,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "difference of infinities in the upper half of a pair",
        program: Bodies(
            "mov.b32 %r0, 0x7c007c00;\nmov.b32 %r1, 0x7c003c00;\nsub.f16x2 %r2, %r0, %r1;\n\
             st.global.b32 [%rd0], %r2;",
            "mov.b32 %r0, 0x7c007c00;\nmov.b32 %r1, 0x3c003c00;\nsub.f16x2 %r2, %r0, %r1;\n\
             st.global.b32 [%rd0], %r2;",
        ),
        check: NANS,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "product of matrices with infinities and zeros",
        program: Bodies(
            "mov.b64 %rd1, 0d7FF0000000000000;\nmov.b64 %rd2, 0d0000000000000000;\nmov.b64 %rd3, %rd2;\n\
             mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd2, %rd3}, {%rd1}, {%rd2}, {%rd2, %rd3};\n\
             atom.global.exch.b64 %rd2, [%rd0], %rd3;",
            "mov.b64 %rd1, 0d3FF0000000000000;\nmov.b64 %rd2, 0d0000000000000000;\nmov.b64 %rd3, %rd2;\n\
             mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd2, %rd3}, {%rd1}, {%rd2}, {%rd2, %rd3};\n\
             atom.global.exch.b64 %rd2, [%rd0], %rd3;",
        ),
        check: NANS,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
    Case {
        name: "NaN from a function",
        program: Bodies(
            "mov.b32 %r0, 0fBF800000;\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; \
             call.uni (b), root, (a); ld.param.b32 %r1, [b]; }\nst.global.b32 [%rd0], %r1;",
            "mov.b32 %r0, 0f3F800000;\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; \
             call.uni (b), root, (a); ld.param.b32 %r1, [b]; }\nst.global.b32 [%rd0], %r1;",
        ),
        check: NANS,
        wrong: ("wrong", zeros),
        right: ("right", zeros),
    },
];

/// A NaN from memory, from a constant, or already stored by the kernel is not a bug.
#[test]
fn a_nan_that_the_kernel_has_not_made_is_not_reported() {
    let body = "ld.global.f32 %r0, [%rd0];\nadd.f32 %r0, %r0, 0f3F800000;\nst.global.f32 [%rd0], %r0;\n\
                mov.b32 %r1, 0f7FFFFFFF;\nmul.f32 %r1, %r1, %r1;\nst.global.f32 [%rd0], %r1;";
    let nan: Arguments = |device| Args::default().buffer(&device.buffer(&[f32::NAN.to_bits(); 128]));
    if let Err(fault) = launch(&Bodies(body, body), Execution::Automatic, NANS, ("wrong", nan)) {
        panic!("{fault}");
    }
}
