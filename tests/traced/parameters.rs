//! The parameters of kernels as drivers tell them, and as this crate reads them from PTX for
//! drivers that do not: the same, or it says that it does not know.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::launch::Mismatch;
use cuprum::sys::FnId;
use cuprum::{Driver, Module};

use crate::tracer::{Backing, Build};

/// Lists of parameters that the emulator, and NVIDIA's assembler, take.
const READ: &[&str] = &[
    "",
    ".param .u32 a",
    ".param.u32 a",
    ".param.u64 a,.param.u8 b",
    ".param .u8 a, .param .u16 b, .param .u32 c, .param .u64 d, .param .f32 e, .param .f64 f",
    ".param .s8 a, .param .s16 b, .param .s32 c, .param .s64 d, .param .b8 e, .param .b16 f, .param .b32 g, .param .b64 h",
    ".param .u64 .ptr a, .param .u64 .ptr .global .align 16 b, .param .u64 .ptr .const c",
    ".param .align 8 .b8 a[24]",
    ".param .align 16 .b8 a[3], .param .u8 b",
    ".param .b8 a[010]",
    ".param .b8 a[0x10]",
    ".param .b8 a[0b101]",
    ".param .b8 a[16U]",
    ".param .b8 a[2 + 2], .param .u64 b",
    ".param .b8 a[2*3]",
    ".param .b8 a[9-2]",
    ".param .b32 a[4][3]",
    ".param .u32 a /* , .param .u64 x */, // )\n .param .u64 b",
    ".param .u64 .ptr .global .align 4 a, .param .align 16 .b8 b[24], /* , .param .u64 x */ .param .b32 c",
];

/// Lists that one of the two need not take; where both do, they agree.
const MAY_BE_READ: &[&str] = &[
    ".param .v4 .f32 a",
    ".param .v2 .u32 a, .param .u8 b",
    ".param .b8 a[2 + 2 * 2]",
    ".param .b8 a[(2)]",
    ".param .f16 a",
    ".param .f16x2 a",
    ".param .bf16 a",
    ".param .b128 a",
    ".param .texref a",
    ".param .pred a",
    ".param .align 4 .u8 a, .param .u8 b",
];

fn ptx(parameters: &str) -> String {
    format!(".version 8.3\n.target sm_70\n.address_size 64\n.visible .entry k({parameters})\n{{ ret; }}\n")
}

/// Offsets and sizes of the kernel's parameters; a text where the module or they are not known.
fn layout(driver: Driver, parameters: &str) -> Result<Vec<(usize, usize)>, String> {
    let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let module = Module::load_ptx(&cx, &ptx(parameters)).map_err(|error| error.to_string())?;
    let function = module.function("k").unwrap();
    let count = function.parameter_count().map_err(|error| error.to_string())?;
    (0..count).map(|index| function.parameter(index).map_err(|error| error.to_string())).collect()
}

fn old() -> Driver {
    let lacking = &[FnId::cuFuncGetParamInfo, FnId::cuFuncGetParamCount];
    Build { lacking, ..Build::of(Backing::Emulator) }.driver()
}

fn without_count() -> Driver {
    Build { lacking: &[FnId::cuFuncGetParamCount], ..Build::of(Backing::Emulator) }.driver()
}

#[test]
fn parameters_read_from_ptx_agree_with_the_driver() {
    for parameters in READ {
        let told = layout(Backing::Emulator.driver(), parameters)
            .unwrap_or_else(|why| panic!("{parameters}: {why}"));
        assert_eq!(layout(without_count(), parameters).as_ref(), Ok(&told), "{parameters}");
        assert_eq!(layout(old(), parameters), Ok(told), "{parameters}");
    }
}

#[test]
fn unread_parameters_are_not_guessed() {
    let mut unknown = 0;
    for parameters in MAY_BE_READ {
        match (layout(Backing::Emulator.driver(), parameters), layout(old(), parameters)) {
            (Ok(told), Ok(read)) => assert_eq!(told, read, "{parameters}"),
            (Ok(_), Err(why)) => {
                assert!(why.contains("cuFuncGetParamCount") || why.contains("cuFuncGetParamInfo"), "{why}");
                unknown += 1;
            }
            (Err(_), _) => {}
        }
    }
    assert!(unknown > 0, "every form was read or refused: this test shows nothing");
}

#[test]
fn binding_names_the_word_that_is_not_known() {
    let driver = old();
    let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    for (parameters, at) in [(".param .b8 a[2 + 2 * 2]", "* 2])"), (".param .b8 a[(2)]", "(2)])")] {
        let module = Module::load_ptx(&cx, &ptx(parameters)).unwrap();
        let error = module.function("k").unwrap().bind::<([u8; 6],)>().unwrap_err();
        assert!(error.to_string().starts_with("kernel `k`: "), "{error}");
        assert_eq!(error.reason, Mismatch::Unreadable { at: at.into() });
    }
}

/// Functions, comments and strings are not kernels.
#[test]
fn the_parameters_of_every_kernel_are_found() {
    let driver = old();
    let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let module = Module::load_ptx(
        &cx,
        ".version 8.3\n.target sm_75, debug\n.address_size 64\n.file 1 \" .entry three(.param .u8 a) // \"\n\
         .func (.param .b32 r) f(.param .b32 a) { ret; }\n// .entry three(.param .u8 a)\n\
         .entry one() { ret; }\n.entry two\n{ ret; }\n\
         .entry three(.param .u32 a, .param .b8 b[4][3], .param .u64 c) .maxntid 32 { ret; }\n",
    )
    .unwrap();
    module.function("one").unwrap().bind::<()>().unwrap();
    module.function("two").unwrap().bind::<()>().unwrap();
    module.function("three").unwrap().bind::<(u32, [u8; 12], u64)>().unwrap();
    assert!(module.function("three").unwrap().bind::<(u8,)>().is_err());
}
