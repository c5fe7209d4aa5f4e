//! Accesses without a state space whose address is the name of a variable: the assembler uses the
//! variable's space, while a register with the same number is a generic address.

use crate::device::{Args, Device};
use cuprum_engine::exec::{ExecOptions, Execution};
use cuprum_engine::report::FaultKind;

const VARIABLES: &str = ".global .align 16 .b32 g[8] = {10, 11, 12, 13}; .const .align 16 .b32 c[8] = {20, 21};\n\
    .shared .align 16 .b32 outer[8]; .extern .shared .align 16 .b8 dynamic[];";

/// Returns a kernel whose threads store `%d`. `%p0` holds in thread 0; `%t` is the thread's number.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n{VARIABLES}\n\
         .func (.param .b32 r) local_of_function(.param .b32 x) {{ .local .align 8 .b32 mine[4]; .reg .b32 %a;\n\
         ld.param.b32 %a, [x]; st.b32 [mine+8], %a; ld.b32 %a, [mine+8]; st.param.b32 [r], %a; ret; }}\n\
         .visible .entry k(.param .u64 out, .param .u32 number)\n{{\n\
         .reg .b64 %o, %at, %l<4>; .reg .b32 %d, %t, %r<12>; .reg .b16 %h; .reg .pred %p<3>; .reg .b128 %q;\n\
         .shared .align 16 .b32 sh[64]; .local .align 16 .b32 lo[8]; .shared .align 8 .b64 bar;\n\
         mov.u32 %t, %tid.x; setp.eq.u32 %p0, %t, 0; mov.u32 %d, 0;\n{body}\n\
         ld.param.u64 %o, [out]; mul.wide.u32 %at, %t, 4; add.u64 %at, %o, %at; st.global.u32 [%at], %d; ret;\n}}\n"
    )
}

fn run(options: ExecOptions, body: &str) -> Result<Vec<u32>, FaultKind> {
    let mut device = Device::load(&kernel(body)).unwrap_or_else(|error| panic!("{error}\n{body}"));
    device.options = options;
    let out = device.buffer(&[u32::MAX; 32]);
    let args = Args::default().buffer(&out).push(7u32);
    let launched = device.launch_with("k", 1, 32, &args, |launch| launch.dynamic_shared = 64);
    launched.map(|_| out.read()).map_err(|fault| fault.kind)
}

fn ways() -> [ExecOptions; 4] {
    let plain = ExecOptions { mode: Execution::Plain, ..ExecOptions::default() };
    let checked = ExecOptions { check_init: true, check_races: true, ..ExecOptions::default() };
    let compiled = ExecOptions { mode: Execution::Compiled, ..ExecOptions::default() };
    [plain, ExecOptions::default(), compiled, checked]
}

#[track_caller]
fn assert_computes(body: &str, expected: impl Fn(u32) -> u32) {
    for options in ways() {
        assert_eq!(run(options.clone(), body), Ok((0..32).map(&expected).collect()), "{body}\n{options:?}");
    }
}

#[test]
fn shared_variables_by_name() {
    for name in ["sh", "outer", "dynamic"] {
        let body = |text: &str| text.replace("NAME", name);
        let fill = "@%p0 st.b32 [NAME], 5; @%p0 st.v2.b32 [NAME+8], {6, 7}; bar.sync 0;";
        assert_computes(&body(&format!("{fill} ld.b32 %d, [NAME];")), |_| 5);
        assert_computes(&body(&format!("{fill} ld.b32 %d, [NAME+12];")), |_| 7);
        assert_computes(&body(&format!("{fill} ld.volatile.b32 %d, [NAME+8];")), |_| 6);
        assert_computes(&body(&format!("{fill} ld.relaxed.gpu.u8 %d, [NAME+8];")), |_| 6);
        assert_computes(
            &body(&format!("{fill} ld.v2.b32 {{%r1, %r2}}, [NAME+8]; sub.u32 %d, %r2, %r1;")),
            |_| 1,
        );
        assert_computes(
            &body(&format!("{fill} red.add.u32 [NAME], 2; bar.sync 0; ld.b32 %d, [NAME];")),
            |_| 69,
        );
        assert_computes(
            &body(&format!(
                "{fill} @%p0 atom.add.u32 %d, [NAME+12], 3; bar.sync 0; @!%p0 ld.u32 %d, [NAME+12];"
            )),
            |t| {
                if t == 0 { 7 } else { 10 }
            },
        );
        assert_computes(
            &body(&format!(
                "{fill} @%p0 atom.cas.b32 %d, [NAME+4+4], 6, 9; bar.sync 0; @!%p0 ld.u32 %d, [NAME+8];"
            )),
            |t| {
                if t == 0 { 6 } else { 9 }
            },
        );
    }
    // Elements of an array, with a number and with a register.
    let each = "st.b32 sh[%t], %t; bar.sync 0; xor.b32 %r0, %t, 1;";
    assert_computes(&format!("{each} ld.b32 %d, sh[%r0];"), |t| t ^ 1);
    assert_computes(&format!("{each} ld.b32 %d, sh[9];"), |_| 9);
    // Instructions for shared memory only.
    let barrier = "@%p0 mbarrier.init.b64 [bar], 32; bar.sync 0; mbarrier.arrive.b64 %l0, [bar];
        WAIT: mbarrier.test_wait.b64 %p1, [bar], %l0; @!%p1 bra WAIT; mov.u32 %d, 4;";
    assert_computes(barrier, |_| 4);
    let matrix = "stmatrix.sync.aligned.m8n8.x1.b16 [sh], {%t}; bar.sync 0; ldmatrix.sync.aligned.m8n8.x1.b16 {%d}, [sh];";
    let rows = "mul.lo.u32 %r0, %t, 16; st.b32 sh[%t], %t; bar.sync 0;";
    assert!(run(ExecOptions::default(), matrix).is_ok());
    assert_computes(&format!("{rows} ldmatrix.sync.aligned.m8n8.x1.b16 {{%d}}, [sh];"), |t| t % 4);
}

#[test]
fn local_variables_by_name() {
    assert_computes("st.b32 [lo+4], %t; ld.b32 %d, [lo+4];", |t| t);
    assert_computes("st.v2.b32 [lo+8], {%t, 3}; ld.u32 %d, [lo+12];", |_| 3);
    assert_computes("st.local.b32 [lo], %t; ld.volatile.u32 %d, [lo];", |t| t);
    assert_computes("st.u64 [lo], 0x100000002; ld.local.b32 %d, [lo+4];", |_| 1);
    assert_computes("st.b32 lo[3], %t; ld.b32 %d, [lo+12];", |t| t);
    let call =
        "{ .param .b32 a, b; st.param.b32 [a], %t; call (b), local_of_function, (a); ld.param.b32 %d, [b]; }";
    assert_computes(call, |t| t);
}

#[test]
fn global_variables_by_name() {
    assert_computes("ld.b32 %d, [g+4];", |_| 11);
    assert_computes("and.b32 %r0, %t, 3; ld.b32 %d, g[%r0];", |t| 10 + t % 4);
    assert_computes("@%p0 st.b32 [g], 50; bar.sync 0; ld.b32 %d, [g];", |_| 50);
    assert_computes("red.add.u32 [g+8], 1; bar.sync 0; ld.volatile.b32 %d, [g+8];", |_| 12 + 32);
}

/// The assembler also refuses these: constants and parameters have no generic accesses by name.
#[test]
fn other_spaces_have_to_be_named() {
    for refused in [
        "ld.b32 %d, [c];",
        "ld.b32 %d, c[1];",
        "st.b32 [c], %t;",
        "atom.add.u32 %d, [c], 1;",
        "ld.b32 %d, [number];",
        "st.b32 [number], %t;",
        "atom.add.u32 %d, [number], 1;",
        "atom.add.u32 %d, [lo], 1;",
        "red.add.u32 [lo], 1;",
        "mbarrier.init.b64 [lo], 1;",
        "mbarrier.init.b64 [g], 1;",
        "ld.global.b32 %d, [sh];",
        "ld.shared.b32 %d, [lo];",
        "{ .param .b32 a; st.b32 [a], %t; }",
    ] {
        assert!(Device::load(&kernel(refused)).is_err(), "{refused}");
    }
}

/// The address of a shared variable in a register is not a generic address before `cvta`.
#[test]
fn addresses_in_registers_are_generic() {
    for body in [
        "mov.u64 %l0, sh; ld.b32 %d, [%l0];",
        "mov.u64 %l0, sh; st.b32 [%l0+4], %t;",
        "mov.u64 %l0, lo; ld.b32 %d, [%l0];",
        "mov.u64 %l0, sh; atom.add.u32 %d, [%l0], 1;",
        // Loads of a matrix fragment use the name as a generic address.
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [sh];",
    ] {
        for options in ways() {
            assert_eq!(run(options, body), Err(FaultKind::NullPointer), "{body}");
        }
    }
    assert_computes("cvta.shared.u64 %l0, sh; @%p0 st.b32 [%l0], 3; bar.sync 0; ld.b32 %d, [sh];", |_| 3);
}

#[test]
fn vectors_of_one_name_have_sizes_of_their_own() {
    let device = Device::load(
        "\
        .version 8.0 .target sm_75 .address_size 64
        .visible .entry k(.param .u64 out) {
            .reg .b64 %x; .reg .v2 .u32 %v<2>;
            ld.param.u64 %x, [out];
            { .reg .v4 .u32 %v1; ld.global.v4.u32 %v1, [%x]; st.global.v4.u32 [%x+16], %v1; }
            ld.global.v2.u32 %v1, [%x+8]; st.global.v2.u32 [%x+32], %v1;
            ret;
        }",
    )
    .unwrap();
    let out = device.buffer(&[1u32, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0]);
    device.launch("k", 1, 1, &Args::default().buffer(&out)).unwrap();
    assert_eq!(out.read::<u32>(), [1, 2, 3, 4, 1, 2, 3, 4, 3, 4, 0]);
}

#[test]
fn numbered_variables_of_every_space() {
    let device = Device::load(
        "\
        .version 8.0 .target sm_75 .address_size 64
        .visible .global .u32 g<3>;
        .const .align 8 .u32 c<2>;
        .visible .entry k(.param .u64 out) {
            .reg .b32 %r<2>, %r, %sum; .reg .b64 %x;
            .local .v2 .u32 l<2>; .shared .u32 s<2>, other;
            ld.param.u64 %x, [out];
            st.global.u32 [g2], 1; st.global.u32 [g1], 2;
            st.local.u32 [l1+4], 4; st.local.u32 [l0+4], 8;
            st.shared.u32 [s1], 16; st.shared.u32 [s0], 32; st.shared.u32 [other], 64;
            ld.global.u32 %sum, [g2];
            ld.local.u32 %r, [l1+4]; add.u32 %sum, %sum, %r;
            ld.shared.u32 %r, [s1]; add.u32 %sum, %sum, %r;
            ld.shared.u32 %r, [other]; add.u32 %sum, %sum, %r;
            ld.const.u32 %r, [c1]; add.u32 %sum, %sum, %r;
            mov.u32 %r1, 128; add.u32 %sum, %sum, %r1;
            st.global.u32 [%x], %sum;
            ret;
        }",
    )
    .unwrap();
    let out = device.buffer(&[0u32]);
    device.launch("k", 1, 1, &Args::default().buffer(&out)).unwrap();
    assert_eq!(out.read::<u32>(), [1 + 4 + 16 + 64 + 128]);
}
