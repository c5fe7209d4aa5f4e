//! Values narrower than their registers: conversions, loads and comparisons extend them by the type
//! of the instruction, as in the table of relaxed destinations in the PTX ISA.

use crate::device::{Args, Device, MODES};

/// An integer type: its name, its bytes, and true if it is signed.
const TYPES: [(&str, u32, bool); 8] = [
    ("u8", 1, false),
    ("s8", 1, true),
    ("u16", 2, false),
    ("s16", 2, true),
    ("u32", 4, false),
    ("s32", 4, true),
    ("u64", 8, false),
    ("s64", 8, true),
];

const VALUES: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8042,
    0xffff,
    0x1392_31c2,
    0x8000_0000,
    0x0123_4567_89ab_cdef,
    u64::MAX,
];

/// Returns the low bytes of a value as a number of this type.
fn number(bits: u64, bytes: u32, signed: bool) -> i128 {
    let unused = 64 - 8 * bytes;
    if signed { i128::from((bits << unused) as i64 >> unused) } else { i128::from(bits << unused >> unused) }
}

/// Returns the nearest number in the range of a type.
fn clamped(value: i128, bytes: u32, signed: bool) -> i128 {
    let bits = 8 * bytes - u32::from(signed);
    let least = if signed { -(1 << bits) } else { 0 };
    value.clamp(least, (1 << bits) - 1)
}

/// Kernels that store registers, eight bytes each, zero-extended.
struct Cases {
    statements: Vec<(String, u64)>,
}

impl Cases {
    /// Runs all in both modes, each also under a guard.
    fn check(&self, declarations: &str, start: &str) {
        for guard in ["", "@%always "] {
            for chunk in self.statements.chunks(200) {
                let mut body = String::new();
                for (index, (statement, _)) in chunk.iter().enumerate() {
                    let statement = statement.replace("GUARD ", guard);
                    body += &format!("{{ {statement} st.global.u64 [%o+{}], %stored; }}\n", 8 * index);
                }
                let text = format!(
                    ".version 8.1\n.target sm_90\n.address_size 64\n{declarations}\n.visible .entry k(.param .u64 out)\n{{\n\
                     .reg .b64 %o, %stored, %source64; .reg .b32 %source32, %t; .reg .b16 %source16; .reg .pred %always;\n\
                     ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; setp.lt.u32 %always, %t, 4096;\n{start}\n{body}ret;\n}}\n"
                );
                let mut device = Device::load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                for mode in MODES {
                    device.options.mode = mode;
                    let out = device.buffer(&vec![0x5555_5555_5555_5555u64; chunk.len()]);
                    device.launch("k", 1, 32, &Args::default().buffer(&out)).unwrap();
                    for ((statement, expected), found) in chunk.iter().zip(out.read::<u64>()) {
                        assert_eq!(found, *expected, "{found:#x} for {expected:#x}, {mode:?}: {statement}");
                    }
                }
            }
        }
    }

    /// Adds a statement whose result is in a register of this size, called `%x`.
    fn add(&mut self, statement: &str, register: u32, value: i128) {
        let (bits, whole) = (8 * register, value as u64);
        let kept = if bits == 64 { whole } else { whole & ((1 << bits) - 1) };
        let store = match bits {
            16 => "mov.b64 %stored, {%x, 0, 0, 0};",
            32 => "mov.b64 %stored, {%x, 0};",
            _ => "mov.b64 %stored, %x;",
        };
        self.statements.push((format!(".reg .b{bits} %x; {statement} {store}"), kept));
    }
}

#[test]
fn conversions_between_integers_extend_by_the_type_of_the_result() {
    let mut cases = Cases { statements: Vec::new() };
    for (from, source, from_signed) in TYPES {
        for (to, bytes, signed) in TYPES {
            for value in VALUES {
                for holder in [2, 4, 8].into_iter().filter(|holder| *holder >= source) {
                    let given = number(value, source, from_signed);
                    for register in [2, 4, 8].into_iter().filter(|register| *register >= bytes) {
                        // The source register's bits above the type have no effect.
                        let set = format!(
                            "mov.b64 %source64, {value:#x}; cvt.u32.u64 %source32, %source64; cvt.u16.u64 %source16, %source64;"
                        );
                        let convert = |sat: &str| {
                            format!("{set} GUARD cvt{sat}.{to}.{from} %x, %source{};", 8 * holder)
                        };
                        cases.add(&convert(""), register, number(given as u64, bytes, signed));
                        if clamped(i128::from(i64::MIN), source, from_signed)
                            != clamped(clamped(i128::from(i64::MIN), source, from_signed), bytes, signed)
                            || clamped(1 << 70, source, from_signed)
                                != clamped(clamped(1 << 70, source, from_signed), bytes, signed)
                        {
                            cases.add(&convert(".sat"), register, clamped(given, bytes, signed));
                        }
                    }
                }
            }
        }
    }
    assert!(cases.statements.len() > 5000, "{}", cases.statements.len());
    cases.check("", "");
}

#[test]
fn conversions_from_floats_extend_by_the_type_of_the_result() {
    let mut cases = Cases { statements: Vec::new() };
    for (to, bytes, signed) in TYPES {
        for value in [-1.0f64, -40.0, 200.0, 40000.0, -40000.0, 5e9, -5e9] {
            for register in [2, 4, 8].into_iter().filter(|register| *register >= bytes) {
                let expected = clamped(value as i128, bytes, signed);
                for (from, bits) in [
                    (
                        "f32",
                        format!(
                            "mov.b32 %source32, {:#x}; GUARD cvt.rzi.{to}.f32 %x, %source32;",
                            (value as f32).to_bits()
                        ),
                    ),
                    (
                        "f64",
                        format!(
                            "mov.b64 %source64, {:#x}; GUARD cvt.rzi.{to}.f64 %x, %source64;",
                            value.to_bits()
                        ),
                    ),
                ] {
                    let exact = from == "f64" || f64::from(value as f32) == value;
                    assert!(exact);
                    cases.add(&bits, register, expected);
                }
            }
        }
    }
    cases.check("", "");
}

#[test]
fn loads_extend_by_the_type_of_the_instruction() {
    let mut cases = Cases { statements: Vec::new() };
    let bits = 0x8191_a1b1_c1d1_e1f1;
    let start = "mov.b64 %source64, table; cvta.global.u64 %source64, %source64; { .reg .b64 %v; ld.global.u64 %v, [table]; \
                 st.shared.u64 [sh], %v; st.local.u64 [lo], %v; }";
    for (ty, bytes, signed) in TYPES {
        for register in [2, 4, 8].into_iter().filter(|register| *register >= bytes) {
            let value = number(bits, bytes, signed);
            for place in [
                "ld.global.TY %x, [table]",
                "ld.TY %x, [%source64]",
                "ld.shared.TY %x, [sh]",
                "ld.local.TY %x, [lo]",
                "ld.const.TY %x, [constant]",
                "ld.volatile.global.TY %x, [table]",
                "ld.global.nc.TY %x, [%source64]",
            ] {
                cases.add(&format!("GUARD {};", place.replace("TY", ty)), register, value);
            }
            if bytes < 8 {
                let second = number(bits >> (8 * bytes), bytes, signed);
                cases.add(
                    &format!(".reg .b{} %y; GUARD ld.global.v2.{ty} {{%y, %x}}, [table];", 8 * register),
                    register,
                    second,
                );
            }
        }
    }
    let declarations = format!(
        ".global .align 8 .u64 table = {bits:#x}; .const .align 8 .u64 constant = {bits:#x}; .shared .align 8 .b8 sh[8];"
    );
    cases.check(&declarations, &format!(".local .align 8 .b8 lo[8]; {start}"));
}

#[test]
fn parameters_extend_by_the_type_of_the_load() {
    let bits = 0x8191_a1b1_c1d1_e1f1u64;
    for (ty, bytes, signed) in TYPES {
        for register in [2, 4, 8].into_iter().filter(|register| *register >= bytes) {
            let store = match register {
                2 => "mov.b64 %stored, {%x, 0, 0, 0};",
                4 => "mov.b64 %stored, {%x, 0};",
                _ => "mov.b64 %stored, %x;",
            };
            // In a kernel, and in a function that is called.
            let text = format!(
                ".version 8.1\n.target sm_90\n.address_size 64\n\
                 .func (.param .b64 r) f(.param .b64 p) {{ .reg .b{0} %x; .reg .b64 %stored; ld.param.{ty} %x, [p]; {store}\n\
                 st.param.b64 [r], %stored; ret; }}\n\
                 .visible .entry k(.param .u64 out, .param .u64 value)\n{{\n\
                 .reg .b64 %o, %stored; .reg .b{0} %x; ld.param.u64 %o, [out];\n\
                 ld.param.{ty} %x, [value]; {store} st.global.u64 [%o], %stored;\n\
                 {{ .param .b64 p, r; ld.param.u64 %stored, [value]; st.param.b64 [p], %stored; call (r), f, (p);\n\
                 ld.param.b64 %stored, [r]; st.global.u64 [%o+8], %stored; }}\nret;\n}}\n",
                8 * register
            );
            let mut device = Device::load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let expected = number(bits, bytes, signed) as u64 & (u64::MAX >> (64 - 8 * register));
            for mode in MODES {
                device.options.mode = mode;
                let out = device.buffer(&[0u64; 2]);
                device.launch("k", 1, 32, &Args::default().buffer(&out).push(bits)).unwrap();
                assert_eq!(out.read::<u64>(), [expected; 2], "{ty} to {register} bytes, {mode:?}");
            }
        }
    }
}
