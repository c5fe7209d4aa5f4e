//! Subnormal numbers that reach an operation which replaces them by zeros (`.ftz`), on all ways.

use crate::device::{Args, Device, MODES};
use cuprum_engine::exec::Execution;

/// A kernel that changes a number in each round of a loop, and then adds its products with a large
/// one: they are zero for a subnormal number.
const KERNEL: &str = "
.version 8.0\n.target sm_90\n.address_size 64
.func (.param .f32 r) same(.param .f32 v)
{ .reg .f32 %f; ld.param.f32 %f, [v]; st.param.f32 [r], %f; ret; }
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .b64 %i, %o, %w; .reg .b32 %t, %n, %b; .reg .pred %p, %q; .reg .f32 %x, %y, %z, %s, %m;
    ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    mul.wide.u32 %w, %t, 4; add.u64 %o, %o, %w; add.u64 %w, %i, %w;
    ld.global.f32 %x, [%w]; ld.global.f32 %y, [%w+256]; abs.ftz.f32 %z, %y;
    mov.f32 %s, 0f00000000; mov.u32 %n, 4;
LOOP:
    mul.ftz.f32 %m, %x, 0f7e000000; fma.rn.ftz.f32 %s, %s, 0f3f000000, %m;
    max.ftz.f32 %m, %x, %s; add.ftz.f32 %m, %m, %x; xor.b32 %b, %b, %m;
    shr.u32 %b, %t, %n; and.b32 %b, %b, 1; setp.ne.u32 %q, %b, 0;
    CHANGE
    sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra LOOP;
    mul.ftz.f32 %m, %x, 0f7e000000; add.f32 %s, %s, %m;
    setp.gt.ftz.f32 %p, %x, 0f00000000; @%p add.f32 %s, %s, 0f3f800000;
    st.global.f32 [%o], %s; ret;
}";

const CHANGES: &[&str] = &[
    "neg.ftz.f32 %x, %x;",
    "@%q neg.ftz.f32 %x, %x;",
    "@%q mov.f32 %x, %y;",
    "mov.f32 %x, %z;",
    "@%q mov.f32 %x, %z;",
    "mov.f32 %z, %y; mov.f32 %x, %z;",
    "selp.f32 %x, %z, %y, %q;",
    "selp.f32 %x, %z, 0f3f800000, %q;",
    "selp.f32 %x, %y, 0f3f800000, %q;",
    "selp.f32 %x, %z, 0f00000001, %q;",
    "@%q bra SKIP; mul.f32 %x, %x, 0f3f000000; SKIP:",
    "@%q bra SKIP; add.ftz.f32 %x, %x, %y; SKIP:",
    "@%q bra SKIP; bar.sync 0; neg.ftz.f32 %x, %x; bra JOIN; SKIP: bar.sync 0; JOIN:",
    "shfl.sync.bfly.b32 %x, %y, 1, 31, -1;",
    "ld.global.f32 %x, [%w+256];",
    "cvt.rn.f32.u32 %x, %t;",
    "cvt.rn.f32.s32 %y, %n; mul.f32 %x, %y, 0f00000100;",
    "sqrt.approx.f32 %x, %x; mul.f32 %x, %x, 0f00800000;",
    "min.ftz.f32 %x, %x, %y; mov.b32 %b, %x; mov.b32 %x, %b;",
    "{ .param .f32 v; .param .f32 r; st.param.f32 [v], %y; call (r), same, (v); ld.param.f32 %x, [r]; }",
];

#[test]
fn subnormal_numbers_are_replaced_on_all_ways() {
    let numbers = [1, 0x7f_ffff, 0x8000_0003, 0x40_0000, 0x80_0000, 0, 0x8000_0000, 0x3f80_0000, 0x7f80_0000];
    let input: Vec<u32> = (0..128).map(|index| numbers[index * index / 3 % numbers.len()]).collect();
    for change in CHANGES {
        let mut device = Device::load(&KERNEL.replace("CHANGE", change))
            .unwrap_or_else(|error| panic!("{change}: {error}"));
        let mut run = |mode| {
            device.options.mode = mode;
            let (from, to) = (device.buffer(&input), device.buffer(&[0u32; 64]));
            for _ in 0..2 {
                device.launch("k", 1, 64, &Args::default().buffer(&from).buffer(&to)).unwrap();
            }
            to.read::<u32>()
        };
        let expected = run(Execution::Plain);
        assert!(expected.iter().any(|sum| *sum != expected[0]), "{change}: all are {:x}", expected[0]);
        for mode in MODES {
            assert_eq!(run(mode), expected, "{change} {mode:?}");
        }
    }
}
