//! The library in PTX, as far as a program uses it.

use core::fmt::Write;

use super::calls::{Call, ERROR_BITS, FUNCTIONS, Function, Param};
use super::errors::{ALL, Error, UNKNOWN};

/// Groups of all threads of a grid, in the form that device code uses before CUDA 11.2. The handle
/// is the address of the grid's workspace, whose second word is the barrier. Each block adds one,
/// except the first: it adds a number such that the highest bit flips when all blocks have arrived.
const GRID_GROUPS: &str = include_str!("grid_groups.ptx");

/// `cudaMalloc` and `cudaFree`, which are the device's `malloc` and `free`.
const HEAP: &str = include_str!("heap.ptx");

/// The prefix of each name in device code, since CUDA 12.0.
const PREFIX: &str = "__cudaCDP2";

/// Words of a call of the driver: its number and the longest list of arguments.
const WORDS: usize = 16;

/// Returns the PTX of the library for programs with this text.
pub(in crate::driver::code) fn ptx_for(program: &str) -> String {
    let mut text = GRID_GROUPS.to_owned();
    if !program.contains(PREFIX) {
        return text;
    }
    let words = (0..WORDS).map(|word| format!(".param .b32 w{word}")).collect::<Vec<_>>().join(", ");
    text += &format!(".extern .func (.param .b64 answer) __cuprum_runtime({words});\n");
    let uses_heap = ["Malloc", "Free"].iter().any(|name| program.contains(&format!("{PREFIX}{name}")));
    for (number, function) in FUNCTIONS.iter().enumerate() {
        if program.contains(function.name) || uses_heap && function.call == Call::Fail {
            // Writing to a string cannot fail.
            let _ = define(&mut text, number, function);
        }
    }
    if uses_heap {
        text += HEAP;
    }
    if program.contains("GetErrorName") {
        let _ = define_texts(&mut text, "GetErrorName", |error| error.name);
    }
    if program.contains("GetErrorString") {
        let _ = define_texts(&mut text, "GetErrorString", |error| error.text);
    }
    text
}

/// Writes a function that passes its arguments to the driver.
fn define(out: &mut String, number: usize, function: &Function) -> core::fmt::Result {
    let declared = |(index, param): (usize, &Param)| match param {
        Param::Word => format!(".param .b32 p{index}"),
        Param::Sides => format!(".param .align 4 .b8 p{index}[12]"),
        Param::Double | Param::Out | Param::OutDouble => format!(".param .b64 p{index}"),
    };
    let params = function.params.iter().enumerate().map(declared).collect::<Vec<_>>().join(", ");
    let result = if function.call.returns_address() { "b64" } else { "b32" };
    writeln!(out, ".visible .func (.param .{result} result) {PREFIX}{}({params})", function.name)?;
    writeln!(out, "{{\n.reg .pred %p;\n.reg .b32 %r<{WORDS}>;\n.reg .b64 %rd<3>;")?;
    let mut word = 1;
    writeln!(out, "mov.u32 %r0, {number};")?;
    for (index, param) in function.params.iter().enumerate() {
        let words = match param {
            Param::Word => 1,
            Param::Double => 2,
            Param::Sides => 3,
            Param::Out | Param::OutDouble => {
                writeln!(out, "ld.param.u64 %rd1, [p{index}];")?;
                0
            }
        };
        for part in 0..words {
            writeln!(out, "ld.param.u32 %r{word}, [p{index}+{}];", 4 * part)?;
            word += 1;
        }
    }
    (word..WORDS).try_for_each(|word| writeln!(out, "mov.u32 %r{word}, 0;"))?;
    writeln!(out, "{{\n.param .b64 answer;")?;
    for word in 0..WORDS {
        writeln!(out, ".param .b32 w{word};\nst.param.b32 [w{word}], %r{word};")?;
    }
    let words = (0..WORDS).map(|word| format!("w{word}")).collect::<Vec<_>>().join(", ");
    writeln!(out, "call.uni (answer), __cuprum_runtime, ({words});\nld.param.b64 %rd0, [answer];\n}}")?;
    writeln!(out, "shr.u64 %rd2, %rd0, {ERROR_BITS};")?;
    writeln!(out, "cvt.u32.u64 %r0, %rd0;\nand.b32 %r0, %r0, {};", (1 << ERROR_BITS) - 1)?;
    writeln!(out, "setp.eq.u32 %p, %r0, 0;")?;
    match function.params.first() {
        Some(Param::Out) => writeln!(out, "cvt.u32.u64 %r1, %rd2;\n@%p st.u32 [%rd1], %r1;")?,
        Some(Param::OutDouble) => writeln!(out, "@%p st.u64 [%rd1], %rd2;")?,
        _ => {}
    }
    let returned = if result == "b64" { "%rd2" } else { "%r0" };
    writeln!(out, "st.param.{result} [result], {returned};\nret;\n}}")
}

/// Writes a function from the number of an error to a text about it.
fn define_texts(out: &mut String, name: &str, of: fn(&Error) -> &'static str) -> core::fmt::Result {
    let known = ALL.iter().map(|error| (Some(error.code), of(error)));
    let texts: Vec<_> = known.chain([(None, UNKNOWN)]).collect();
    for (index, (_, text)) in texts.iter().enumerate() {
        let bytes = text.bytes().chain([0]).map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
        writeln!(out, ".global .align 1 .b8 __cuprum_{name}{index}[{}] = {{{bytes}}};", text.len() + 1)?;
    }
    writeln!(out, ".visible .func (.param .b64 result) {PREFIX}{name}(.param .b32 code)")?;
    writeln!(out, "{{\n.reg .pred %p;\n.reg .b32 %r;\n.reg .b64 %rd;\nld.param.u32 %r, [code];")?;
    // The text for other numbers comes first, and each known number replaces it.
    for (index, (code, _)) in texts.iter().enumerate().rev() {
        let guard = match code {
            Some(code) => {
                writeln!(out, "setp.eq.u32 %p, %r, {code};")?;
                "@%p "
            }
            None => "",
        };
        writeln!(out, "{guard}mov.u64 %rd, __cuprum_{name}{index};")?;
    }
    writeln!(out, "cvta.global.u64 %rd, %rd;\nst.param.b64 [result], %rd;\nret;\n}}")
}
