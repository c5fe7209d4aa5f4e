//! The parser: accepted PTX, error messages for other text, and no panic for any text.

use cuprum_ptx::program::{LoadOptions, Program, PtxErrorKind};
use cuprum_ptx::ptx::{Initializer, Linkage, Operand, Space, Statement, parse};
use cuprum_testing::clock;
use cuprum_testing::random::Random;

const HEADER: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

fn committed() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for folder in ["", "dialect_100/", "corpus/", "clients/"] {
        let path = format!("{}/../../kernels/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                texts.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    texts.sort();
    texts
}

#[test]
fn a_module_becomes_a_tree() {
    let text = ".version 8.10 // a comment
        .target sm_90a, texmode_independent
        .address_size 64
        .file 1 \"a.cu\", 1, 2
        .global .align 8 .u64 table[2] = {generic(f)+8, 0xFF(g)};
        .visible .const .f32 one = 0f3F800000;
        .weak .global .attribute(.managed) .v2 .u16 pairs[2][3];
        .extern .shared .align 16 .b8 dynamic[];
        .visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[12]) .maxntid 128, 2 .minnctapersm 1
        {
            .reg .pred %p<3>;
            .loc 1 7 3, function_name $L0, inlined_at 1 2 3
            @!%p1 ld.global.nc.v2.f32 {%f1, _}, [%rd1+-8];
            { L: bra.uni L; }
            shfl.sync.up.b32 %r1|%p2, %r2, 1, (1 << 4) + 3, -1;
            tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
            call (r), f, (a, 3), proto;
        }
        .section .debug_str { .b8 1, { 2 } }";
    let module = parse(text).unwrap();
    assert_eq!(module.version, (8, 10));
    assert_eq!(module.target, ["sm_90a", "texmode_independent"]);
    assert_eq!(module.files, [(1, "a.cu")]);
    let [table, one, pairs, dynamic] = module.variables.as_slice() else { panic!("{:?}", module.variables) };
    let Some(Initializer::List(items)) = &table.initializer else { panic!("{table:?}") };
    assert!(matches!(
        items[0],
        Initializer::Address { symbol: "f", offset: 8, generic: true, mask: None, .. }
    ));
    assert!(matches!(items[1], Initializer::Address { symbol: "g", generic: false, mask: Some(0xff), .. }));
    assert_eq!((one.linkage, one.space), (Linkage::Visible, Space::Const));
    assert_eq!(one.initializer, Some(Initializer::Single(1f32.to_bits())));
    assert!(pairs.managed && pairs.vector == 2 && pairs.dimensions == [Some(2), Some(3)]);
    assert_eq!((dynamic.linkage, dynamic.dimensions.as_slice()), (Linkage::Extern, [None].as_slice()));
    let kernel = &module.functions[0];
    assert_eq!(kernel.directives, [("maxntid", vec![128, 2]), ("minnctapersm", vec![1])]);
    assert_eq!((kernel.params[0].name, kernel.params[1].align), ("p", Some(8)));
    let instructions: Vec<_> = kernel.body.as_ref().unwrap().iter().collect();
    let Statement::Instruction(load) = instructions[2] else { panic!("{:?}", instructions[2]) };
    assert_eq!(load.guard, Some(("%p1", true)));
    assert_eq!((load.opcode, load.modifiers.as_slice()), ("ld", ["global", "nc", "v2", "f32"].as_slice()));
    assert_eq!(load.operands[1], Operand::Memory(vec![Operand::Offset("%rd1", -8)]));
    assert_eq!(load.text, "@!%p1 ld.global.nc.v2.f32 {%f1, _}, [%rd1+-8];");
    assert_eq!(load.position.line, 13);
    let Statement::Instruction(shuffle) = instructions[4] else { panic!("{:?}", instructions[4]) };
    assert!(matches!(shuffle.operands[0], Operand::Pair(..)));
    assert_eq!(shuffle.operands[3..], [Operand::Int(19), Operand::Int(u64::MAX)]);
    let Statement::Instruction(call) = instructions[6] else { panic!("{:?}", instructions[6]) };
    assert_eq!(call.operands[2], Operand::List(vec![Operand::Name("a"), Operand::Int(3)]));
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let cases = [
        ("", 1, 1, "expected `.version`"),
        (".version eight", 1, 10, "expected a version"),
        (".version 8.0\n.target sm_90\nadd.s32 a, b, c;", 3, 1, "expected a directive"),
        (".version 8.0\n.visible .entry k( .param .u32 )", 2, 32, "expected a name, found `)`"),
        (".version 8.0\n.entry k() {\n  add.s32 %r1 %r2;\n}", 3, 15, "expected `,` or `;`, found `%r2`"),
        (".version 8.0\n.entry k() {\n  mov.f32 %f, 0f12;\n}", 3, 15, "expected 8 hexadecimal digits"),
        (".version 8.0\n.entry k() {\n", 3, 1, "found the end of the text"),
        (".version 8.0\n/* never closed", 2, 1, "this comment has no end"),
        (".version 8.0\n.global .u32 x = 99999999999999999999;", 2, 18, "is not an integer of 64 bits"),
        (".version 8.0\n.entry k() { \u{e9} }", 2, 14, "does not belong in PTX"),
    ];
    for (text, line, column, message) in cases {
        let error = parse(text).unwrap_err();
        assert_eq!((error.position.line, error.position.column), (line, column), "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

#[test]
fn what_cannot_run_is_refused_with_its_line() {
    let kernel = |body: &str| {
        format!(
            "{HEADER}.visible .entry k() {{\n.reg .b32 %r<9>; .reg .b64 %x; .reg .pred %p;\n{body}\nret; }}"
        )
    };
    let cases = [
        (
            "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%x, {%r1, %r2}], [%r3];",
            PtxErrorKind::Unsupported,
            "cp.async.bulk.tensor",
        ),
        ("alloca.b64 %x, 32;", PtxErrorKind::Unsupported, "alloca.b64"),
        ("alloca.u64 %x, %r1;", PtxErrorKind::Syntax, "`%r1` of type B32 does not fit"),
        ("alloca.u64 %x, 32, 24;", PtxErrorKind::Syntax, "a power of two up to 2^23"),
        ("alloca.u64 %x, 32, 16777216;", PtxErrorKind::Syntax, "a power of two up to 2^23"),
        ("alloca.u64 _, 32;", PtxErrorKind::Syntax, "expected a register"),
        ("stacksave.u64 %r1;", PtxErrorKind::Syntax, "`%r1` of type B32 does not fit"),
        ("stackrestore.u64 8;", PtxErrorKind::Syntax, "expected a register"),
        ("wgmma.fence.sync.aligned;", PtxErrorKind::Unsupported, "an instruction of `.target sm_90a`"),
        ("add.rz.s32 %r1, %r2, %r3;", PtxErrorKind::Unsupported, "add.rz.s32"),
        ("add.s32.whatever %r1, %r2, %r3;", PtxErrorKind::Unsupported, "`.whatever`"),
        ("add.s32 %r1, %r2;", PtxErrorKind::Syntax, "too few operands"),
        ("add.s32 %r1, %r2, %r3, %r4;", PtxErrorKind::Syntax, "too many operands"),
        ("add.s32 %r1, %r2, %r99;", PtxErrorKind::Unresolved, "`%r99` is not declared"),
        ("add.s64 %x, %r2, %x;", PtxErrorKind::Syntax, "`%r2` of type B32 does not fit"),
        ("add.s32 %r1, %r2, %x;", PtxErrorKind::Syntax, "`%x` of type B64 does not fit"),
        ("shl.b64 %x, %x, %x;", PtxErrorKind::Syntax, "`%x` of type B64 does not fit"),
        ("mov.f32 %r1, 1;", PtxErrorKind::Syntax, "an integer does not fit"),
        ("add.s32 %r1, %r2, 1.5;", PtxErrorKind::Syntax, "a floating-point number does not fit"),
        ("add.s32 %r1, %tid.x, 1;", PtxErrorKind::Syntax, "expected a `mov` from `%tid.x`"),
        ("add.s32 _, %r1, 1;", PtxErrorKind::Syntax, "`_` does not fit"),
        (".reg .f32 %r3;", PtxErrorKind::Syntax, "`%r3` is declared twice"),
        (".reg .f32 %r<3>;", PtxErrorKind::Syntax, "`%r` is declared twice"),
        ("bar.sync 16;", PtxErrorKind::Syntax, "a block has 16 barriers"),
        ("setp.lo.s32 %p, %r1, %r2;", PtxErrorKind::Unsupported, "setp.lo.s32"),
        ("bra NOWHERE;", PtxErrorKind::Unresolved, "`NOWHERE` is not defined"),
        ("call nobody, ();", PtxErrorKind::Unresolved, "`nobody` is no function"),
    ];
    for (body, kind, message) in cases {
        let error = Program::load(&kernel(body), &LoadOptions::default()).unwrap_err();
        assert_eq!((error.kind, error.line), (kind, 6), "{body}: {error}");
        assert!(error.message.contains(message), "{body}: {error}");
    }
    let error = Program::load(".version 99.0\n.target sm_90\n", &LoadOptions::default()).unwrap_err();
    assert_eq!(error.kind, PtxErrorKind::Version);
    for target in ["sm_100", "sm_80a"] {
        let text = format!(".version 8.6\n.target {target}\n.address_size 64\n");
        let error = Program::load(&text, &LoadOptions { compute_capability: 90, ..LoadOptions::default() })
            .unwrap_err();
        assert_eq!(error.kind, PtxErrorKind::Target, "{target}");
    }
}

/// As in driver 580 on an H100.
#[test]
fn a_version_knows_the_targets_of_its_time() {
    let targets = [
        (["sm_10", "sm_11", "sm_12", "sm_13", "compute_10"].as_slice(), (1, 4)),
        (&["sm_20", "sm_21"], (2, 0)),
        (&["sm_30", "sm_35"], (3, 0)),
        (&["sm_32", "sm_50"], (4, 0)),
        (&["sm_37"], (4, 1)),
        (&["sm_90"], (7, 8)),
    ];
    for (names, least) in targets {
        for (name, version) in names.iter().flat_map(|name| {
            [(1, 0), (1, 4), (2, 0), (2, 3), (3, 0), (3, 1), (4, 0), (4, 1), (7, 8)]
                .map(|version| (*name, version))
        }) {
            let text =
                format!(".version {}.{}\n.target {name}\n.entry k() {{ exit; }}\n", version.0, version.1);
            let loaded =
                Program::load(&text, &LoadOptions { compute_capability: 90, ..LoadOptions::default() });
            assert_eq!(loaded.is_ok(), version >= least, "{name} {version:?}: {:?}", loaded.err());
        }
    }
}

/// As NVIDIA's assembler.
#[test]
fn a_header_has_its_directives_in_order() {
    let load = |header: &str| {
        let text = format!(".version 7.0 {header} .visible .entry f() {{ ret; }}");
        Program::load(&text, &LoadOptions::default()).map(drop).map_err(|error| error.kind)
    };
    for header in [
        ".target sm_75",
        ".target sm_75 .address_size 64",
        ".target sm_75, texmode_unified .address_size 64",
        ".target sm_75, sm_70",
        ".target sm_75 .target texmode_independent .address_size 64",
    ] {
        assert_eq!(load(header), Ok(()), "{header}");
    }
    for (header, kind) in [
        ("", PtxErrorKind::Syntax),
        (".address_size 64 .target sm_75", PtxErrorKind::Syntax),
        (".target sm_75 .address_size 64 .address_size 64", PtxErrorKind::Syntax),
        (".target sm_75 .file 1 \"a\" .address_size 64", PtxErrorKind::Syntax),
        (".target sm_75 .address_size 64 .visible .entry g() { ret; } .target sm_75", PtxErrorKind::Syntax),
        (".target sm_75 .address_size 32", PtxErrorKind::Unsupported),
        (".target sm_75, nonsense", PtxErrorKind::Target),
        (".target sm_75, map_f64_to_f32", PtxErrorKind::Target),
    ] {
        assert_eq!(load(header), Err(kind), "{header}");
    }
}

#[test]
fn constant_expressions_have_the_operators_of_c() {
    let cases = [
        ("(1 << 4) | 3", 19),
        ("3 > 2 ? 7 : 1", 7),
        ("1 == 2 || 3 != 4 && !0", 1),
        ("WARP_SZ * 2 - 1", 63),
        ("(.s64) -1 >= 0", 0),
        ("-7 / 2 + 0x10 % 7 ^ 1", u64::MAX ^ 1),
    ];
    for (expression, value) in cases {
        let text = format!("{HEADER}.entry k() {{ mov.u64 %x, {expression}; }}");
        let module = parse(&text).unwrap_or_else(|error| panic!("{expression}: {error}"));
        let Statement::Instruction(mov) = &module.functions[0].body.as_ref().unwrap()[0] else { panic!() };
        assert_eq!(mov.operands[1], Operand::Int(value), "{expression}");
    }
}

/// Changes part of a text: cuts, doubles, moves, or replaces it by text valid elsewhere.
fn mutate(text: &str, random: &mut Random) -> String {
    const PIECES: [&str; 24] = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        ".",
        "@",
        "|",
        "\"",
        "/*",
        "//",
        "0x",
        "0f",
        "-",
        ".reg .b32 %r<4000000000>;",
        "<",
        ".b8 x[18446744073709551615];",
        "\u{20ac}",
        "99999999999999999999",
        ".entry",
        "(((((((((((((((((((((((((((((((((((((",
    ];
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let at = boundary(random.below(text.len()));
    let end = boundary((at + random.below(40)).min(text.len()));
    let (before, cut, after) = (&text[..at], &text[at..end], &text[end..]);
    match random.below(5) {
        0 => format!("{before}{after}"),
        1 => format!("{before}{cut}{cut}{after}"),
        2 => format!("{before}{}{cut}{after}", PIECES[random.below(PIECES.len())]),
        3 => format!("{before}{}{after}", PIECES[random.below(PIECES.len())]),
        _ => {
            let from = boundary(random.below(text.len()));
            let to = boundary((from + random.below(60)).min(text.len()));
            format!("{before}{}{after}", &text[from..to])
        }
    }
}

/// Damaged PTX is either refused or loaded. The seed is fixed; `CUPRUM_FUZZ_SEED` and
/// `CUPRUM_FUZZ_ROUNDS` change it and the number of rounds.
#[test]
fn damaged_text_never_panics() {
    let setting = |name: &str, default: u64| {
        std::env::var(name)
            .map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
    };
    let seed = setting("CUPRUM_FUZZ_SEED", 20_261_121);
    let rounds = setting("CUPRUM_FUZZ_ROUNDS", 1500);
    println!("CUPRUM_FUZZ_SEED={seed}");
    let texts = committed();
    assert!(texts.len() >= 20);
    let mut random = Random::new(seed);
    let mut refused = 0;
    for _ in 0..rounds {
        let (_, original) = &texts[random.below(texts.len())];
        let mut text = mutate(original, &mut random);
        for _ in 0..random.below(3) {
            text = mutate(&text, &mut random);
        }
        let options = LoadOptions { compute_capability: 120, ..LoadOptions::default() };
        match std::panic::catch_unwind(|| Program::load(&text, &options).err()) {
            Ok(Some(error)) => {
                refused += 1;
                let lines = text.lines().count() as u32 + 1;
                assert!(error.line >= 1 && error.line <= lines, "{error} in a text of {lines} lines");
            }
            Ok(None) => {}
            Err(_) => panic!("seed {seed} panics with this text:\n{text}"),
        }
    }
    assert!(refused > rounds / 3, "only {refused} of {rounds} were refused");
}

#[test]
fn time_to_refuse_deep_nesting_grows_with_the_text_alone() {
    let text = |nested: usize| {
        let open = "(".repeat(nested);
        format!(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\nadd.u32 %r1, {open}")
    };
    let time = |text: &str| {
        let start = clock::Start::now();
        assert!(parse(text).is_err());
        start.elapsed()
    };
    let (short, long) = (text(10_000), text(1_000_000));
    time(&short);
    // It would take 200 times as long, some 10 s, if each level visited all others.
    let long = time(&long);
    assert!(long < std::time::Duration::from_secs(1), "{long:?}");
}

#[test]
fn lists_of_operands_hold_arithmetic() {
    let text = format!("{HEADER}.visible .entry k()\n{{\ncall f, (1, ((4)), -(2 + 3));\nret;\n}}\n");
    let module = parse(&text).unwrap();
    let Some([Statement::Instruction(call), _]) = module.functions[0].body.as_deref() else {
        panic!("{module:?}")
    };
    let numbers = [1, 4, 5u64.wrapping_neg()].map(Operand::Int).to_vec();
    assert_eq!(call.operands[1], Operand::List(numbers));
}

#[test]
fn messages_quote_no_more_than_a_line() {
    let long = "x".repeat(1 << 20);
    for body in [
        format!("add.u32 %{long}, 1, 2;"),
        format!("{long}.u32 %r1, 1, 2;"),
        format!("add.u32 %r1, 1,\n\n\n{long} {long};"),
        format!("add.u32.{long}\n.{long} %r1, 1, 2;"),
        format!("mov.u32 %r1, 1{};", "1".repeat(1 << 20)),
        "bra L;\n\n".to_owned(),
    ] {
        let text = format!("{HEADER}.visible .entry k()\n{{\n.reg .u32 %r<4>;\n{body}\nret;\n}}\n");
        let error = Program::load(&text, &LoadOptions::default()).unwrap_err();
        assert!(error.message.len() <= 1000, "{} bytes", error.message.len());
        assert!(!error.message.contains('\n'), "{}", error.message);
    }
}
