//! Programs from the PTX grammar: each directive, space, type, width and operand in each position.
//!
//! A program is a correct frame with one statement that may be invalid, to locate disagreements.

use cuprum_testing::random::Random;

const LINKAGES: [&str; 6] = ["", "", ".visible ", ".extern ", ".weak ", ".common "];
const SPACES: [&str; 8] = [".global", ".const", ".shared", ".local", ".reg", ".param", ".global", ".reg"];
const ALIGNMENTS: [&str; 6] = ["", "", "", " .align 4", " .align 16", " .align 3"];
const VECTORS: [&str; 6] = ["", "", "", " .v2", " .v4", " .v8"];
const TYPES: [&str; 20] = [
    "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2",
    "bf16", "f32", "f64", "pred", "texref",
];
const NAMES: [&str; 8] = ["n", "n", "n[3]", "n[]", "n[2][2]", "n<3>", "n, m", "n[0]"];
const VALUES: [&str; 13] = [
    "",
    "",
    "",
    " = 1",
    " = {1, 2}",
    " = {{1, 2}, {3, 4}}",
    " = 1.5",
    " = 0f3F800000",
    " = garray",
    " = garray + 4 * 2",
    " = {garray, garray+1+1}",
    " = -1",
    " = generic(garray)",
];

/// Operations with the number of their operands, their types, and other words that may follow.
const OPERATIONS: [(&str, usize, &[&str]); 34] = [
    ("mov", 2, &["b16", "b32", "b64", "b128", "u32", "s64", "f32", "f64", "pred", "u16"]),
    ("mov.v2", 2, &["u32", "b32", "f64", "u64", "b16"]),
    ("mov.v4", 2, &["u32", "b32", "f32", "u16"]),
    ("add", 3, &["u16", "u32", "s64", "f32", "f64", "f16", "u64"]),
    ("sub", 3, &["s16", "s32", "u64", "f32", "f64"]),
    ("mul.lo", 3, &["u16", "u32", "s64"]),
    ("mul.wide", 3, &["u16", "u32", "s32"]),
    ("mul", 3, &["f32", "f64"]),
    ("mad.lo", 4, &["u16", "u32", "s64"]),
    ("fma.rn", 4, &["f32", "f64", "f16x2"]),
    ("min", 3, &["u32", "s64", "f32", "f16"]),
    ("neg", 2, &["s32", "f32", "f64", "s16"]),
    ("and", 3, &["b16", "b32", "b64", "pred"]),
    ("not", 2, &["b16", "b32", "b64", "pred"]),
    ("shl", 3, &["b16", "b32", "b64"]),
    ("shr", 3, &["u16", "s32", "u64", "b32"]),
    ("setp.lt", 3, &["u16", "s32", "u64", "f32", "f64"]),
    ("set.gt.u32", 3, &["s32", "f32", "u16"]),
    ("selp", 4, &["b16", "b32", "u64", "f32", "f64"]),
    (
        "cvt",
        2,
        &["u32.u16", "u64.u32", "s32.s8", "rn.f32.u32", "rzi.s32.f32", "f64.f32", "u8.u32", "u16.b32"],
    ),
    ("cvta.global", 2, &["u64"]),
    ("cvta.to.shared", 2, &["u64"]),
    (
        "ld.global",
        2,
        &["u8", "s16", "b32", "u64", "f32", "f64", "v2.u32", "v4.f32", "v2.u64", "v4.u64", "v8.b32"],
    ),
    ("ld.shared", 2, &["u8", "s16", "b32", "u64", "v2.u32", "v4.u8"]),
    ("ld.local", 2, &["u8", "b32", "u64", "v4.u32"]),
    ("ld.const", 2, &["b32", "u64", "v2.u16"]),
    ("ld.volatile.global", 2, &["u32", "v2.f32"]),
    ("ld.param", 2, &["u64", "b32"]),
    ("ld", 2, &["u32", "v4.u32"]),
    ("st.global", 2, &["u8", "s16", "b32", "u64", "f32", "f64", "v2.u32", "v4.f32", "v4.u32"]),
    ("st.shared", 2, &["u8", "b32", "v2.u64"]),
    ("st.local", 2, &["u16", "b32", "v4.u32"]),
    ("atom.global.add", 3, &["u32", "u64", "f32", "s64"]),
    ("shfl.sync.idx", 5, &["b32", "u32", "b64"]),
];

const OPERANDS: [&str; 58] = [
    "%h1",
    "%h2",
    "%r1",
    "%r2",
    "%d1",
    "%d2",
    "%f1",
    "%f2",
    "%g1",
    "%g2",
    "%p1",
    "%p2",
    "%q1",
    "v2",
    "v4",
    "w2",
    "w4",
    "v4.x",
    "v2.y",
    "w4.a",
    "v2.z",
    "x4",
    "x4.w",
    "{%r1, %r2}",
    "{%r1, %r2, %r1, %r2}",
    "{%h1, %h2}",
    "{%d1, %d2}",
    "{%f1, %f2, %f1, %f2}",
    "{%r1, 0}",
    "0",
    "1",
    "-1",
    "4 * 2",
    "(1 << 3) | 1",
    "1.5",
    "0f3F800000",
    "0d3FF0000000000000",
    "_",
    "!%p1",
    "-%r1",
    "%tid.x",
    "%clock64",
    "%laneid",
    "WARP_SZ",
    "garray",
    "garray + 4",
    "garray[1]",
    "sarray[%r1]",
    "larray[2]",
    "function",
    "%r1 + 1",
    "%d1 + 4 * 2",
    "[garray]",
    "[garray+4*2]",
    "[%d1]",
    "[%d1+8]",
    "[sarray+8]",
    "[larray+4]",
];

/// Whole statements with special operands.
const STATEMENTS: [&str; 30] = [
    "bra END;",
    "@%p1 bra END;",
    "@!%p1 bra.uni END;",
    "{ bra INNER; INNER: }",
    "bra INNER; { INNER: }",
    "call (%r1), function, (%r2);",
    "call (%r1), function, (7);",
    "call (_), function, (%r2);",
    "call.uni (%r1), function, (%r2), ;",
    "call (%d1), wide, (%d2);",
    "call (%d1), wide, (5);",
    "call (%d1), wide, (%r1);",
    "call nothing;",
    "call nothing, ();",
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), function, (a); ld.param.b32 %r2, [b]; }",
    "{ .param .b64 a; st.param.b64 [a], %d1; call (%d2), wide, (a); }",
    "{ .param .b32 a; st.param.b32 [a], %r1; }",
    "T: .branchtargets END; brx.idx %r1, T;",
    "bar.sync 0;",
    "bar.sync 0, 32;",
    "bar.warp.sync 0xffffffff;",
    "vote.sync.ballot.b32 %r1, %p1, -1;",
    "exit;",
    "@%p2 ret;",
    ".pragma \"nounroll\";",
    ".loc 1 2 3",
    ".reg .b32 %r1;",
    "{ .reg .b32 %r1; mov.u32 %r1, 3; }",
    "{ { .reg .pred p; setp.eq.u32 p, %r1, 0; @p bra END; } }",
    ";",
];

pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) statement: String,
}

fn pick<'t>(random: &mut Random, list: &[&'t str]) -> &'t str {
    list[random.below(list.len())]
}

fn declaration(random: &mut Random, linkage: bool) -> String {
    let linkage = if linkage { pick(random, &LINKAGES) } else { "" };
    format!(
        "{linkage}{}{}{} .{} {}{};",
        pick(random, &SPACES),
        pick(random, &ALIGNMENTS),
        pick(random, &VECTORS),
        pick(random, &TYPES),
        pick(random, &NAMES),
        pick(random, &VALUES),
    )
}

/// Returns an instruction with operands of any form, mostly plausible ones.
fn instruction(random: &mut Random) -> String {
    let (opcode, count, types) = OPERATIONS[random.below(OPERATIONS.len())];
    let ty = pick(random, types);
    let of_type: &[&str] = match ty.rsplit('.').next().unwrap_or(ty) {
        "pred" => &["%p1", "%p2", "!%p1"],
        "b128" => &["%q1", "%q2"],
        "f32" => &["%f1", "%f2", "0f3F800000", "x4.x"],
        "f64" => &["%g1", "%g2", "1.5"],
        "u64" | "s64" | "b64" => &["%d1", "%d2", "7", "%d1 + 4"],
        "u8" | "s8" | "b8" | "u16" | "s16" | "b16" | "f16" => &["%h1", "%h2"],
        _ => &["%r1", "%r2", "v4.y", "%r1 + 1", "12"],
    };
    let mut operands = Vec::new();
    for index in 0..count {
        let address = matches!(
            (opcode.split('.').next(), index),
            (Some("ld"), 1) | (Some("st"), 0) | (Some("atom"), 1)
        );
        let vector = ty.starts_with('v') || opcode.contains(".v");
        let form = match random.below(10) {
            0..=2 => pick(random, &OPERANDS),
            _ if address => {
                pick(random, &["[%d1]", "[garray+8]", "[%d1+16]", "garray[0]", "[sarray]", "[larray]"])
            }
            _ if vector => {
                pick(random, &["v2", "v4", "w2", "x4", "w4", "{%r1, %r2}", "{%r1, %r2, %r3, %r4}"])
            }
            _ if index == 0 && opcode.starts_with("setp") => "%p1",
            _ if index == 3 && opcode == "selp" => "%p2",
            _ => pick(random, of_type),
        };
        operands.push(form);
    }
    let guard = pick(random, &["", "", "", "@%p1 ", "@!%p2 "]);
    format!("{guard}{opcode}.{ty} {};", operands.join(", "))
}

fn function(random: &mut Random) -> String {
    let spaces = [".param", ".reg", ".param", ".local"];
    let mut parameter = |name: &str| {
        let (space, vector) = (pick(random, &spaces), pick(random, &VECTORS[2..]));
        format!("{space}{vector} .{} {name}{}", pick(random, &TYPES), pick(random, &["", "", "", "[8]"]))
    };
    let (result, argument) = (parameter("n"), parameter("m"));
    let kind = pick(random, &[".func", ".visible .func", ".weak .func", ".entry"]);
    match kind {
        ".entry" => format!(".entry other({argument}) {{ ret; }}"),
        kind => format!("{kind} ({result}) other({argument}) {{ ret; }}"),
    }
}

impl Program {
    pub(crate) fn random(random: &mut Random) -> Program {
        let (mut module, mut body, mut callee) = (String::new(), String::new(), String::new());
        let statement = match random.below(10) {
            0..=2 => declaration(random, true),
            3 => function(random),
            4 => pick(random, &STATEMENTS).to_owned(),
            _ => instruction(random),
        };
        let is_declaration =
            statement.starts_with('.') && statement.contains(" n") && !statement.contains("other");
        match random.below(4) {
            _ if statement.contains(" other(") => module.clone_from(&statement),
            0 | 1 if is_declaration => module.clone_from(&statement),
            2 if is_declaration => callee.clone_from(&statement),
            3 => body = format!("{{ {statement} }}"),
            _ => body.clone_from(&statement),
        }
        Program { text: frame(&module, &callee, &body), statement }
    }
}

/// Initializes registers of all kinds before the statement, and stores them after it.
fn frame(module: &str, callee: &str, body: &str) -> String {
    format!(
        ".version 8.7
.target sm_90
.address_size 64
.global .align 32 .u32 garray[64];
.const .align 16 .u32 carray[4] = {{1, 2, 3, 4}};
.func (.reg .b32 out) function(.reg .b32 in) {{ {callee} add.u32 out, in, 1; ret; }}
.func (.param .b64 out) wide(.param .b64 in) {{ .reg .b64 a; ld.param.b64 a, [in]; st.param.b64 [out], a; ret; }}
.func nothing() {{ ret; }}
{module}
.visible .entry k(.param .u64 out)
{{
.reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>; .reg .f64 %g<4>; .reg .pred %p<4>;
.reg .b128 %q<3>; .reg .v2 .u32 v2; .reg .v4 .u32 v4; .reg .v2 .f64 w2; .reg .v4 .u16 w4; .reg .v4 .f32 x4;
.shared .align 16 .u32 sarray[64]; .local .align 16 .u32 larray[16];
mov.u32 %r1, %tid.x; mul.lo.u32 %r1, %r1, 4; mov.u32 %r2, 17; mov.u64 %d1, garray; mov.u64 %d2, garray+128;
mov.f32 %f1, 0f40490FDB; cvt.rn.f32.u32 %f2, %r1; cvt.f64.f32 %g1, %f1; cvt.f64.f32 %g2, %f2;
cvt.u16.u32 %h1, %r1; mov.u16 %h2, 9; setp.lt.u32 %p1, %r1, 30; setp.gt.u32 %p2, %r1, 60;
mov.v2.u32 v2, {{%r1, %r2}}; mov.v4.u32 v4, {{%r1, %r2, %r1, %r2}}; mov.v4.u16 w4, {{%h1, %h2, %h1, %h2}};
mov.v2.f64 w2, {{%g1, %g2}}; mov.v4.f32 x4, {{%f1, %f2, %f1, %f2}}; mov.b128 %q1, {{%d2, %d2}}; mov.b128 %q2, %q1;
st.shared.u32 [sarray], %r1; st.local.u32 [larray], %r2; bar.sync 0;
{body}
END:
ld.param.u64 %d7, [out]; mov.u32 %r7, %tid.x; mul.wide.u32 %d6, %r7, 128; add.u64 %d7, %d7, %d6;
selp.u32 %r5, 1, 0, %p1; selp.u32 %r6, 2, 0, %p2; or.b32 %r5, %r5, %r6; mov.b128 {{%d5, %d6}}, %q1;
st.global.v2.u32 [%d7], {{%r1, %r5}}; st.global.u16 [%d7+8], %h1; st.global.u64 [%d7+16], %d1;
st.global.f32 [%d7+24], %f1; st.global.f64 [%d7+32], %g1; st.global.v2.u64 [%d7+48], {{%d5, %d6}};
st.global.v2.u32 [%d7+64], v2; st.global.v4.u16 [%d7+72], w4; st.global.v4.u32 [%d7+80], v4;
st.global.v4.f32 [%d7+96], x4; st.global.f64 [%d7+112], w2.x;
ret;
}}
"
    )
}
