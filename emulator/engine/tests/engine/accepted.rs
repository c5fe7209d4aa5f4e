//! Rare forms of PTX that NVIDIA's assembler accepts and compilers write: they load, and both modes
//! compute the documented results.

use crate::device::{Args, Device, MODES};
use cuprum_ptx::program::PtxErrorKind;

/// Runs a kernel `k` with a parameter `out` in both modes, with one warp. Returns the results.
pub(crate) fn words(text: &str) -> Vec<u32> {
    let mut device = Device::load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [plain, others @ ..] = MODES.map(|mode| {
        device.options.mode = mode;
        let out = device.buffer(&[0xcccc_ccccu32; 32]);
        let args = Args::default().buffer(&out);
        device.launch("k", 1, 32, &args).unwrap_or_else(|fault| panic!("{mode:?}: {fault}\n{text}"));
        out.read::<u32>()
    });
    others.iter().for_each(|other| assert_eq!(plain, *other, "{text}"));
    plain
}

/// Returns a module for `sm_90` whose kernel stores each thread's `%d`; `%t` is its number.
pub(crate) fn module(declarations: &str, body: &str) -> String {
    format!(
        ".version 8.7
.target sm_90
.address_size 64
{declarations}
.visible .entry k(.param .u64 out)
{{
.reg .b32 %d, %t, %r<10>;
.reg .b64 %o, %at, %l<10>;
.reg .b16 %h<10>;
.reg .f32 %f<4>;
.reg .pred %p<4>;
mov.u32 %t, %tid.x;
mov.u32 %d, 0;
{body}
ld.param.u64 %o, [out];
mul.wide.u32 %at, %t, 4;
add.s64 %at, %o, %at;
st.global.u32 [%at], %d;
ret;
}}
"
    )
}

pub(crate) fn by_lane(of: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(of).collect()
}

#[track_caller]
fn refused(declarations: &str, body: &str) {
    let error = Device::load(&module(declarations, body)).err().expect("refused");
    assert_ne!(error.kind, PtxErrorKind::Unsupported, "{error}");
}

#[test]
fn brain_floats_become_bytes_and_back() {
    // Uses only 8-bit registers, as the header for this type does.
    let body = |ty: &str| {
        format!(
            "cvt.rn.f32.u32 %f0, %t; fma.rn.f32 %f0, %f0, 0f41180000, 0fC1A00000; cvt.rn.bf16.f32 %h0, %f0;
             {{ .reg .b8 byte; cvt.rzi.{ty}.bf16 byte, %h0; mov.b16 %h1, {{byte, 0}}; cvt.rn.bf16.{ty} %h2, byte; }}
             mov.b32 %d, {{%h1, %h2}};"
        )
    };
    let brain = |value: f32| {
        f32::from_bits(value.to_bits().wrapping_add(0x7fff + (value.to_bits() >> 16 & 1)) & !0xffff)
    };
    let result = |lane: u32, low: f32, high: f32| {
        let byte = brain((lane as f32).mul_add(9.5, -20.0)).trunc().clamp(low, high);
        u32::from(byte as i32 as u8) | brain(byte).to_bits()
    };
    assert_eq!(words(&module("", &body("s8"))), by_lane(|lane| result(lane, -128.0, 127.0)));
    assert_eq!(words(&module("", &body("u8"))), by_lane(|lane| result(lane, 0.0, 255.0)));
    refused("", "cvt.rzi.s8.bf16 %h1, %h0;");
    refused("", "cvt.rn.bf16.u8 %h1, %r0;");
}

/// An H100 computes these values.
#[test]
fn vector_registers_are_used_whole_and_by_element() {
    let declarations = ".global .align 16 .u32 table[4] = {11, 22, 33, 44};";
    let sum = "add.u32 %d, q.x, q.y; add.u32 %d, %d, q.z; add.u32 %d, %d, q.w;";
    let cases = [
        (".reg .v4 .u32 q; ld.global.v4.u32 q, [table]; mov.u32 %d, q.z;", 33),
        (".reg .v4 .u32 q; ld.global.v4.u32 q, [table]; mov.u32 %d, q.b;", 33),
        (".reg .v4 .u32 q, p; ld.global.v4.u32 p, [table]; mov.v4.u32 q, p; mov.u32 p.x, 0; SUM", 110),
        (
            ".reg .v4 .u32 q; ld.global.v4.u32 q, [table]; mov.v4.u32 q, {q.y, q.x, q.w, q.z}; mov.u32 %d, q.a;",
            33,
        ),
        (".reg .v4 .u32 q; mov.v4.u32 q, 5; SUM", 5),
        (".reg .v2 .u32 v<3>; mov.u32 v1.x, 7; mov.u32 v1.y, 9; mov.v2.u32 v2, v1; mov.u32 %d, v2.y;", 9),
        (".reg .v2 .u32 v; mov.b64 v, 0x3300000044; mov.u32 %d, v.y;", 0x33),
        (
            ".reg .v2 .u32 v; mov.u32 v.x, 3; mov.u32 v.y, 1; mov.b64 %l0, v; shr.u64 %l0, %l0, 31; cvt.u32.u64 %d, %l0;",
            2,
        ),
        (
            ".reg .v4 .u16 h; .reg .v4 .u16 g; mov.v4.u16 h, {1, 2, 3, 4}; mov.v4.u16 g, h; cvt.u32.u16 %d, g.w;",
            4,
        ),
        (".reg .v2 .f64 w; mov.f64 w.y, 0d4008000000000000; mov.v2.f64 w, w; cvt.rzi.u32.f64 %d, w.y;", 3),
        (
            ".reg .v4 .u32 q; .shared .align 16 .v4 .u32 s[32]; ld.global.v4.u32 q, [table]; mov.u32 %r0, s;
             mad.lo.u32 %r0, %t, 16, %r0; st.shared.v4.u32 [%r0], q; ld.shared.u32 %d, [%r0+12];",
            44,
        ),
        (".reg .v4 .u32 q; mov.v4.u32 q, %ntid; mov.u32 %d, q.x;", 32),
        (".reg .v4 .b8 c; ld.global.v4.u8 c, [table+4]; cvt.u32.u8 %d, c.x;", 22),
    ];
    for (body, expected) in cases {
        let body = body.replace("SUM", sum);
        assert_eq!(words(&module(declarations, &body)), [expected; 32], "{body}");
    }
    refused("", ".reg .v8 .b32 q;");
    refused("", ".reg .v4 .f64 q;");
}

/// An H100 computes these values.
#[test]
fn operands_are_sums_and_elements_of_arrays() {
    let declarations = ".global .align 8 .u32 gv[8] = {10, 11, 12, 13, 14, 15, 16, 17};
        .global .align 8 .u64 g8[4] = {1, 2, 3, 4}; .global .u64 x; .global .u64 temp;";
    let distance = |what: &str, from: &str| {
        format!("mov.u64 %l0, {from}; mov.u64 %l1, {what}; sub.s64 %l1, %l1, %l0; cvt.u32.u64 %d, %l1;")
    };
    let cases = [
        (distance("gv[1]", "gv"), 4),
        (distance("g8[2]", "g8"), 16),
        (distance("gv[-1]", "gv"), u32::MAX - 3),
        (distance("temp + 2*4", "temp"), 8),
        (distance("temp + 1 + 1", "temp"), 2),
        (distance("temp + -1", "temp"), u32::MAX),
        (format!(".local .align 8 .b8 local0[64]; {}", distance("local0[8]", "local0[0]")), 8),
        (format!(".local .align 8 .u32 w[8]; {}", distance("w[2]", "w")), 8),
        (format!(".shared .align 8 .u32 s[8]; {}", distance("s[3]", "s")), 12),
        ("mov.u32 %r0, 3; mov.u64 %l0, gv[%r0]; mov.u64 %l1, gv; sub.s64 %l0, %l0, %l1; cvt.u32.u64 %d, %l0;".into(), 12),
        ("ld.global.u32 %d, gv[4];".into(), 14),
        ("and.b32 %r0, %t, 0; ld.global.u32 %d, gv[%r0+2];".into(), 12),
        (
            ".shared .align 8 .u32 s[16]; mov.u32 %r1, 77; st.shared.u32 s[4], %r1; mov.u32 %r2, 4;
             ld.shared.u32 %d, s[%r2];"
                .into(),
            77,
        ),
        ("st.u64 [x], temp + 1; bar.sync 0; ld.global.u64 %l0, [x]; mov.u64 %l1, temp; sub.s64 %l0, %l0, %l1; cvt.u32.u64 %d, %l0;".into(), 1),
        ("mov.u64 %l1, 100; mov.u64 %l0, %l1 + 1; cvt.u32.u64 %d, %l0;".into(), 101),
        ("mov.u32 %r1, 50; add.u32 %d, %r1 + 1, 2;".into(), 53),
        ("ld.global.u32 %d, [gv+4*2];".into(), 12),
        ("mov.u64 %l0, gv; ld.global.u32 %d, [%l0+4+4];".into(), 12),
        ("mov.u64 %l0, gv; ld.global.u32 %d, [%l0+4|1+8-1];".into(), 13),
    ];
    for (body, expected) in cases {
        assert_eq!(words(&module(declarations, &body)), [expected; 32], "{body}");
    }
    for body in [
        "ld.global.u32 %d, [%l0-4];",
        "mov.u64 %l0, %l1-1;",
        "mov.u64 %l0, temp[1];",
        "add.u64 %l0, %l0, g8[2];",
        "atom.global.add.u32 %d, gv[4], %t;",
        "mov.b64 %l0, {%r0+1, %r1};",
    ] {
        refused(declarations, body);
    }
}

/// An H100 computes these values.
#[test]
fn functions_take_and_give_registers() {
    let functions = ".func (.reg .u32 a, .reg .u32 b) both(.reg .u32 i, .reg .u32 j)
        { add.u32 a, i, j; sub.u32 b, i, j; mov.u32 i, 0; ret; }
        .func (.reg .b64 o) next(.reg .b64 i) { add.u64 o, i, 1; ret; }
        .func (.reg .v4 .u32 o) swapped(.reg .v4 .u32 i) { mov.v4.u32 o, {i.w, i.z, i.y, i.x}; ret; }
        .func (.reg .b128 o) same(.reg .b128 i) { mov.b128 o, i; ret; }
        .func (.reg .u32 o) early(.reg .u32 i)
        { .reg .pred p; mov.u32 o, 1; setp.lt.u32 p, i, 8; @p ret; mov.u32 o, 2; ret; }
        .func (.param .b32 o) old(.param .b32 i) { .reg .b32 a; ld.param.b32 a, [i]; st.param.b32 [o], a; ret; }";
    /// A body, and its result by lane.
    type Case = (&'static str, fn(u32) -> u32);
    let cases: [Case; 9] = [
        ("mov.u32 %r2, 100; call (%r3, %r4), both, (%r2, %t); mad.lo.u32 %d, %r3, 1000, %r4; add.u32 %d, %d, %r2;", |t| {
            (100 + t) * 1000 + 200 - t
        }),
        ("call (%l0), next, (0x1ffffffff); shr.u64 %l0, %l0, 32; cvt.u32.u64 %d, %l0;", |_| 2),
        ("cvt.u64.u32 %l1, %t; call (%l0), next, (%l1); cvt.u32.u64 %d, %l0;", |t| t + 1),
        (
            ".reg .v4 .u32 v, w; mov.v4.u32 v, {%t, 2, 3, 4}; call (w), swapped, (v); mad.lo.u32 %d, w.w, 10, w.x;",
            |t| 10 * t + 4,
        ),
        (
            ".reg .b128 q, r; cvt.u64.u32 %l0, %t; mov.u64 %l1, 5; mov.b128 q, {%l1, %l0}; call (r), same, (q);
             mov.b128 {%l2, %l3}, r; add.u64 %l2, %l2, %l3; cvt.u32.u64 %d, %l2;",
            |t| t + 5,
        ),
        ("call (%d), early, (%t);", |t| if t < 8 { 1 } else { 2 }),
        ("call (%d), old, (%t);", |t| t),
        ("call (_), old, (%t); call (_), next, (3); mov.u32 %d, 6;", |_| 6),
        (
            "{ .param .b64 i; .param .b64 o; cvt.u64.u32 %l0, %t; st.param.b64 [i], %l0; call (o), next, (i);
             ld.param.b64 %l1, [o]; } cvt.u32.u64 %d, %l1;",
            |t| t + 1,
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(words(&module(functions, body)), by_lane(expected), "{body}");
    }
    // An H100 refuses these.
    for (ty, register) in [("pred", "%p0"), ("u16", "%h0"), ("s16", "%h0"), ("u8", "%b"), ("s8", "%b")] {
        let body = |call: &str| format!(".reg .b8 %b; {call}");
        refused(&format!(".func f(.reg .{ty} i) {{ ret; }}"), &body(&format!("call f, ({register});")));
        refused(&format!(".func (.reg .{ty} o) f() {{ ret; }}"), &body(&format!("call ({register}), f;")));
    }
    let error = Device::load(&module("", "").replace(".param .u64 out", ".reg .u64 out")).err().unwrap();
    assert_eq!(error.kind, PtxErrorKind::Syntax, "{error}");
}

#[test]
fn parameters_and_results_of_functions_have_addresses() {
    let function = |body: &str| {
        format!(
            ".func (.param .align 8 .b8 o[16]) f(.param .align 8 .b8 i[16]) {{ .reg .b64 p, q; .reg .b32 a, b; .reg .pred c;
             ld.param.b32 a, [i]; ld.param.b32 b, [i+8]; mov.u64 p, o; mov.u64 q, i; {body} ret; }}"
        )
    };
    let call =
        "{ .param .align 8 .b8 i[16]; .param .align 8 .b8 o[16]; st.param.b32 [i], %t; st.param.b32 [i+8], 7;
        call (o), f, (i); ld.param.b32 %d, [o+8]; ld.param.b32 %r0, [o]; mad.lo.u32 %d, %d, 1000, %r0; }";
    type ByLane = fn(u32) -> u32;
    let cases: [(&str, ByLane); 7] = [
        ("st.param.b32 [p], a; st.param.b32 [p+8], b;", |t| 7000 + t),
        ("st.param.b32 [o], a; st.param.b32 [o+8], b; ld.param.b32 a, [p+8]; st.param.b32 [p], a;", |_| 7007),
        ("st.local.b32 [p], b; st.param.b32 [o+8], a;", |t| 1000 * t + 7),
        ("cvta.local.u64 p, p; st.b32 [p], b; st.b32 [p+8], b; st.param.b32 [o], a;", |t| 7000 + t),
        ("st.param.v2.b32 [p+8], {a, b}; st.param.b64 [p], 0; st.param.b8 [o+1], 1;", |t| 1000 * t + 256),
        // On an H100 (driver 580) all cases give this but the next, where its assembler loses the
        // store of 2.
        (
            "st.param.b32 [p], 1; st.param.b32 [p+8], 2; setp.lt.u32 c, a, 8; @c ret; st.param.b32 [p], a;",
            |t| if t < 8 { 2001 } else { 2000 + t },
        ),
        ("st.local.b32 [q], b; ld.param.b32 a, [i]; st.param.b32 [p], a; st.param.b32 [p+8], a;", |_| 7007),
    ];
    for (body, expected) in cases {
        assert_eq!(words(&module(&function(body), call)), by_lane(expected), "{body}");
    }
    // A caller's own parameters have no address.
    refused(&function(""), "{ .param .b32 i; mov.u64 %l0, i; }");
}

/// Targets from `sm_100` on have the maximum and minimum of three numbers.
#[test]
fn extrema_of_three_numbers() {
    let numbers = [1.5, -2.0, f32::NAN, 0.0, -0.0, 1e-40, -3e38, f32::INFINITY];
    let at = |index: u32| numbers[index as usize % 8];
    let table: Vec<String> = numbers.iter().map(|number| format!("{:#x}", number.to_bits())).collect();
    let declarations = format!(".const .b32 numbers[8] = {{{}}};", table.join(", "));
    for (opcode, maximum) in [("max", true), ("min", false)] {
        for [ftz, nan, abs] in (0..8u32).map(|bits| [0, 1, 2].map(|bit| bits >> bit & 1 != 0)) {
            let modifiers = [(ftz, ".ftz"), (nan, ".NaN"), (abs, ".abs")];
            let modifiers: String = modifiers.iter().filter(|(on, _)| *on).map(|(_, text)| *text).collect();
            let body = format!(
                ".reg .b32 %i, %j, %k; and.b32 %i, %t, 7; shr.u32 %j, %t, 1; and.b32 %j, %j, 7; mad.lo.u32 %k, %t, 5, 3; and.b32 %k, %k, 7;
                 ld.const.f32 %f0, numbers[%i]; ld.const.f32 %f1, numbers[%j]; ld.const.f32 %f2, numbers[%k];
                 {opcode}{modifiers}.f32 %f3, %f0, %f1, %f2; mov.b32 %d, %f3;"
            );
            let expected = by_lane(|lane| {
                let given = [at(lane), at(lane / 2), at(lane * 5 + 3)].map(|x| {
                    let x = if abs { x.abs() } else { x };
                    if ftz && x.is_subnormal() { 0f32.copysign(x) } else { x }
                });
                let some: Vec<f32> = given.into_iter().filter(|x| !x.is_nan()).collect();
                if some.is_empty() || nan && some.len() < 3 {
                    return 0x7fff_ffff;
                }
                let ordered = |a: &f32, b: &f32| a.total_cmp(b);
                let found =
                    if maximum { some.into_iter().max_by(ordered) } else { some.into_iter().min_by(ordered) };
                found.unwrap().to_bits()
            });
            let text = module(&declarations, &body).replace("sm_90", "sm_100").replace("8.7", "8.8");
            assert_eq!(words(&text), expected, "{opcode}{modifiers}");
        }
    }
    for wrong in [
        "max.f64 %l0, %l1, %l2, %l3;",
        "max.s32 %r0, %r1, %r2, %r3;",
        "max.xorsign.abs.f32 %f0, %f1, %f2, %f3;",
    ] {
        let text = module("", wrong).replace("sm_90", "sm_100").replace("8.7", "8.8");
        assert!(Device::load(&text).is_err(), "{wrong}");
    }
    for (target, version) in [("sm_90", "8.8"), ("sm_100", "8.7")] {
        let text = module("", "max.f32 %f0, %f1, %f2, %f3;").replace("sm_90", target).replace("8.7", version);
        assert!(Device::load(&text).is_err(), "{target} {version}");
    }
}

/// Functions, a body that calls them, and its result by lane.
type Narrow = (&'static str, &'static str, fn(u32) -> u32);

/// Elements of vectors of any type are passed separately, and untyped registers of 8 and 16 bits as
/// they are. With a function of several results in the module, so are predicates and integers of 8
/// and 16 bits.
#[test]
fn functions_take_and_give_narrow_registers() {
    let functions = ".func (.reg .b16 o) plus(.reg .b16 i, .reg .b8 j)
        { .reg .u16 a; cvt.u16.u8 a, j; add.u16 o, i, a; ret; }
        .func (.reg .v4 .u16 o) turned(.reg .v4 .u16 i) { mov.v4.u16 o, {i.y, i.z, i.w, i.x}; ret; }
        .func (.reg .u32 o) bytes(.reg .v2 .u8 i, .reg .v2 .f64 j)
        { .reg .u32 a; .reg .f64 f; cvt.u32.u8 o, i.x; cvt.u32.u8 a, i.y; mad.lo.u32 o, a, 256, o;
          add.f64 f, j.x, j.y; cvt.rzi.u32.f64 a, f; add.u32 o, o, a; ret; }";
    let several = ".func (.reg .pred even, .reg .u16 half) halved(.reg .u16 i)
        { .reg .b16 a; and.b16 a, i, 1; setp.eq.u16 even, a, 0; shr.u16 half, i, 1; ret; }
        .func (.reg .u32 o) chosen(.reg .pred p, .reg .s8 i)
        { .reg .pred q; cvt.u32.s8 o, i; @p ret; mov.u32 o, 100; ret; }";
    let bytes =
        ".reg .v2 .u8 %b; .reg .v2 .f64 %w; mov.u32 %r1, 0x17; cvt.u8.u32 %b.x, %t; cvt.u8.u32 %b.y, %r1;
        mov.v2.f64 %w, {0d3FF0000000000000, 0d4010000000000000};";
    let cases: [Narrow; 7] = [
        (
            functions,
            ".reg .b8 %b; cvt.u16.u32 %h0, %t; cvt.u8.u32 %b, 200; call (%h1), plus, (%h0, %b); cvt.u32.u16 %d, %h1;",
            |t| t + 200,
        ),
        (functions, ".reg .b8 %b; mov.b16 %h0, {1, 2}; call (%h1), plus, (0xffff, 3); cvt.u32.u16 %d, %h1;", |_| 2),
        (
            functions,
            ".reg .v4 .u16 %v, %w; cvt.u16.u32 %h0, %t; mov.v4.u16 %v, {%h0, 2, 3, 4}; call (%w), turned, (%v);
             mov.b64 %l0, {%w.x, %w.y, %w.z, %w.w}; shr.u64 %l1, %l0, 32; cvt.u32.u64 %d, %l1;",
            |t| t << 16 | 4,
        ),
        (functions, "BYTES call (%d), bytes, (%b, %w);", |t| 0x1700 + t + 5),
        (
            several,
            "cvt.u16.u32 %h0, %t; call (%p1, %h1), halved, (%h0); cvt.u32.u16 %d, %h1; @%p1 add.u32 %d, %d, 1000;",
            |t| t / 2 + if t % 2 == 0 { 1000 } else { 0 },
        ),
        (
            several,
            "cvt.u16.u32 %h0, %t; setp.lt.u32 %p1, %t, 9; @%p1 call (%p1, _), halved, (%h0); @%p1 mov.u32 %d, 1;",
            |t| u32::from(t < 9 && t % 2 == 0),
        ),
        (
            several,
            ".reg .b8 %b; cvt.s8.u32 %b, %t; setp.lt.u32 %p1, %t, 9; call (%d), chosen, (%p1, %b);",
            |t| if t < 9 { t } else { 100 },
        ),
    ];
    for (functions, body, expected) in cases {
        assert_eq!(words(&module(functions, &body.replace("BYTES", bytes))), by_lane(expected), "{body}");
    }
    for (functions, body) in [
        (several, "call (%d), chosen, (%t, 2);"),
        (several, "call (%r1, %h1), halved, (%h0);"),
        (several, "call (%p1, %h1), halved, (%t);"),
        (functions, "call (%h1), plus, (%t, 3);"),
        (functions, ".reg .v2 .u64 %v; call (%v), turned, (%v);"),
        (functions, ".reg .v2 .u16 %v; .reg .v4 .u16 %w; call (%w), turned, (%v);"),
        (functions, ".reg .v2 .u16 %v; .reg .v4 .u16 %w; call (%v), turned, (%w);"),
    ] {
        refused(functions, body);
    }
    refused(several, "call (%d), chosen, (1, 2);");
}

#[test]
fn functions_have_variables_of_global_memory() {
    let declarations = ".global .u32 outer = 9; .global .u32 same = 1;
        .func (.param .b32 o) counts() { .global .u32 same = 40; .reg .b32 a; atom.global.add.u32 a, [same], 1;
        st.param.b32 [o], a; ret; }";
    let cases = [
        (".global .u32 g = 5; ld.global.u32 %d, [g];", 5),
        (".global .align 4 .b8 g[4] = {1, 2, 3, 4}; mov.u64 %l0, g; ld.global.u32 %d, [%l0];", 0x0403_0201),
        (".const .u32 g[2] = {6, 7}; ld.const.u32 %d, g[1];", 7),
        (".global .u32 g; ld.global.u32 %d, [g];", 0),
        (
            "{ .global .u32 same = 2; ld.global.u32 %r0, [same]; } ld.global.u32 %d, [same]; shl.b32 %r0, %r0, 4; or.b32 %d, %d, %r0;",
            0x21,
        ),
        (".global .u64 g = outer; ld.global.u64 %l0, [g]; ld.global.u32 %d, [%l0];", 9),
    ];
    for (body, expected) in cases {
        assert_eq!(words(&module(declarations, body)), [expected; 32], "{body}");
    }
    // One variable for all calls.
    let counted = "{ .param .b32 o; call (o), counts, (); ld.param.b32 %d, [o]; } bar.warp.sync -1;
         { .param .b32 o; call (o), counts, (); ld.param.b32 %r0, [o]; } sub.u32 %d, %r0, %d;";
    assert_eq!(words(&module(declarations, counted)), [32; 32]);
    for declaration in [
        ".shared .u32 s = 5;",
        ".local .u32 s = 5;",
        ".reg .u32 s = 5;",
        ".shared .u32 s[];",
        ".global .f32 s = 1;",
        ".global .u32 s = 1.5;",
        ".global .f16 s = 0x3c00;",
        ".global .bf16 s;",
        ".reg .bf16 s;",
    ] {
        refused("", declaration);
    }
}

/// Devices from `sm_100` on have pairs of single-precision numbers in a 64-bit register.
#[test]
fn pairs_of_single_precision_are_computed_half_by_half() {
    let pairs = "mov.b64 %l0, {0x3fc00000, 0x40000000};
        cvt.rn.f32.u32 %f0, %t;
        mov.b32 %r0, %f0;
        mov.b64 %l1, {%r0, 0x3e800000};";
    // 1.5 and 2 with the thread's number and a quarter.
    /// The operations on the low halves and on the high halves.
    type Pair = [fn(f32, f32) -> f32; 2];
    let halves = |of: Pair| {
        by_lane(move |lane| {
            let (low, high) = (of[0](1.5, lane as f32), of[1](2.0, 0.25));
            low.to_bits() ^ high.to_bits()
        })
    };
    let cases: [(&str, Pair); 4] = [
        ("add.f32x2 %l2, %l0, %l1;", [|a, b| a + b; 2]),
        ("sub.rn.f32x2 %l2, %l0, %l1;", [|a, b| a - b; 2]),
        ("mul.rz.ftz.f32x2 %l2, %l0, %l1;", [|a, b| a * b; 2]),
        ("fma.rn.f32x2 %l2, %l0, %l1, %l0;", [|a, b| a.mul_add(b, a); 2]),
    ];
    for (body, of) in cases {
        let text = module("", &format!("{pairs}\n{body}\nmov.b64 {{%r1, %r2}}, %l2;\nxor.b32 %d, %r1, %r2;"));
        assert_eq!(words(&text.replace("sm_90", "sm_100")), halves(of), "{body}");
        assert!(Device::load(&text).is_err(), "sm_90 has no pairs");
    }
    for wrong in [
        "add.sat.f32x2 %l2, %l0, %l1;",
        "fma.f32x2 %l2, %l0, %l1, %l0;",
        "min.f32x2 %l2, %l0, %l1;",
        "add.f32x2 %l2, %l0, 1;",
    ] {
        let text = module("", &format!("{pairs}\n{wrong}")).replace("sm_90", "sm_100");
        assert!(Device::load(&text).is_err(), "{wrong}");
    }
}
