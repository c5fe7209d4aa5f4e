//! Linking at run time: inputs that fit, inputs that do not and their errors, and kept values.

use cuprum::context::PrimaryContext;
use cuprum::module::{LinkInput, Linker, LoadOptions, ModuleError};
use cuprum::sys::CUresult;
use cuprum::{Buffer, Current, InOut, LaunchConfig, Module, Stream};

use crate::common::{device, in_context};

const HEAD: &str = ".version 7.0\n.target sm_52\n.address_size 64\n";

/// A kernel that puts twice its second parameter where the first one points, by a function that is
/// not in it.
fn caller() -> String {
    format!(
        "{HEAD}.extern .func (.param .u32 r) twice(.param .u32 a);
.visible .entry put(.param .u64 to, .param .u32 value) {{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    .param .u32 in;
    .param .u32 out;
    ld.param.u64 %rd1, [to];
    cvta.to.global.u64 %rd2, %rd1;
    ld.param.u32 %r1, [value];
    st.param.u32 [in], %r1;
    call (out), twice, (in);
    ld.param.u32 %r2, [out];
    st.global.u32 [%rd2], %r2;
    ret;
}}\n"
    )
}

fn callee() -> String {
    format!(
        "{HEAD}.visible .func (.param .u32 r) twice(.param .u32 a) {{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [a];
    add.u32 %r2, %r1, %r1;
    st.param.u32 [r], %r2;
    ret;
}}\n"
    )
}

fn linker<'ctx>(cx: &Current<'_, 'ctx>) -> Linker<'ctx> {
    Linker::new(cx, &LoadOptions::default()).unwrap()
}

fn assert_doubles(cx: &Current<'_, '_>, module: &Module<'_>) {
    let put = module.function("put").unwrap().bind::<(InOut<u32>, u32)>().unwrap();
    let (mut value, stream) = (Buffer::<u32>::zeroed(cx, 1).unwrap(), Stream::new(cx).unwrap());
    // SAFETY: the kernel writes one element, and the copy comes after it.
    unsafe { put.launch(cx, &stream, LaunchConfig::new(1, 1), (&mut value, 21u32)) }.unwrap();
    assert_eq!(value.to_vec(cx).unwrap(), [42]);
}

#[test]
fn two_texts_are_linked_and_the_module_outlives_the_linker() {
    in_context(|cx| {
        let mut linker = linker(cx);
        linker.add_ptx("caller.ptx", &caller()).unwrap();
        linker.add_ptx("callee.ptx", &(callee() + "\0")).unwrap();
        let linked = linker.complete().unwrap();
        assert!(!linked.as_bytes().is_empty());
        let module = linked.load(cx).unwrap();
        linked.close().unwrap();
        assert_doubles(cx, &module);
    });
}

#[test]
fn code_of_any_form_is_linked() {
    in_context(|cx| {
        let mut linker = linker(cx);
        linker.add_ptx("caller.ptx", &caller()).unwrap();
        let text = callee() + "\0";
        // SAFETY: PTX with a NUL at its end.
        unsafe { linker.add(LinkInput::CU_JIT_INPUT_PTX, "callee.ptx", text.as_bytes()) }.unwrap();
        assert_doubles(cx, &linker.complete().unwrap().load(cx).unwrap());
    });
}

/// The reason why the driver refused an input of this name.
fn reason(refused: ModuleError, input: &str) -> ModuleError {
    let ModuleError::Input { name, error } = refused else { panic!("{refused}") };
    assert_eq!(name, input);
    *error
}

#[test]
fn a_function_without_a_definition_is_named_with_its_input() {
    in_context(|cx| {
        let mut linker = linker(cx);
        linker.add_ptx("caller.ptx", &caller()).unwrap();
        let refused = linker.complete().unwrap_err();
        let ModuleError::Link { error, log, inputs, .. } = &refused else { panic!("{refused}") };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_SOURCE);
        assert!(log.contains("twice") && log.contains("caller.ptx"), "{log}");
        assert_eq!(inputs, &["caller.ptx"]);
        assert!(refused.to_string().contains("linking `caller.ptx`"), "{refused}");
    });
}

/// The other inputs are still there, and the log of one input is not repeated for the next.
#[test]
fn a_refused_input_is_reported_by_name_and_left_out() {
    in_context(|cx| {
        let mut linker = linker(cx);
        linker.add_ptx("caller.ptx", &caller()).unwrap();
        let bad = |word: &str| format!("{HEAD}.visible .entry k() {{ {word}.u32 %r1; ret; }}\n");
        for word in ["frobnicate", "defenestrate"] {
            let refused = reason(linker.add_ptx("bad.ptx", &bad(word)).unwrap_err(), "bad.ptx");
            let ModuleError::Rejected { error, log, .. } = &refused else { panic!("{refused}") };
            assert_eq!(error.code(), CUresult::CUDA_ERROR_INVALID_PTX);
            assert!(log.contains(word), "{log}");
            assert_eq!(log.contains("frobnicate"), word == "frobnicate", "{log}");
        }
        linker.add_ptx("callee.ptx", &callee()).unwrap();
        assert_doubles(cx, &linker.complete().unwrap().load(cx).unwrap());
    });
}

#[test]
fn text_that_is_no_ptx_does_not_reach_the_driver() {
    in_context(|cx| {
        let mut linker = linker(cx);
        for (text, error) in [
            ("\x7fELF", ModuleError::NotPtx),
            ("__global__ void k() {}", ModuleError::CudaSource),
            (".version 7.0\0\n", ModuleError::InteriorNul { what: "the PTX", position: 12 }),
        ] {
            let refused = linker.add_ptx("x", text).unwrap_err();
            assert_eq!(reason(refused, "x"), error);
        }
        let inside = ModuleError::InteriorNul { what: "the input's name", position: 1 };
        let refused = linker.add_ptx("a\0", &callee()).unwrap_err();
        assert_eq!(reason(refused, "a\0"), inside);
        linker.close().unwrap();
    });
}

#[test]
fn newer_ptx_is_refused_with_advice() {
    in_context(|cx| {
        let text = ".version 99.9\n.target sm_75\n.address_size 64\n";
        let refused = reason(linker(cx).add_ptx("new.ptx", text).unwrap_err(), "new.ptx");
        let ModuleError::Rejected { error, advice, .. } = &refused else { panic!("{refused}") };
        assert_eq!(error.code(), CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
        assert!(advice.as_ref().unwrap().contains("99.9"), "{refused}");
    });
}

#[test]
fn options_reach_the_driver() {
    in_context(|cx| {
        // SAFETY: a number of no option; its value is not read.
        let unknown = unsafe { LoadOptions::default().option(cuprum::sys::CUjit_option(9999), 1) };
        let refused = Linker::new(cx, &unknown).unwrap_err();
        assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        let mut linker = Linker::new(
            cx,
            &LoadOptions { max_registers: Some(32), verbose: true, ..LoadOptions::default() },
        )
        .unwrap();
        linker.add_ptx("callee.ptx", &callee()).unwrap();
        linker.complete().unwrap();
    });
}

/// Code linked in a shared context needs no borrow, on any thread.
#[test]
fn what_is_linked_in_a_shared_context_fits_into_a_struct() {
    struct Code {
        linked: cuprum::module::Linked<'static>,
        module: cuprum::Shared<Module<'static>>,
    }
    let context = PrimaryContext::retain(device()).unwrap().share();
    let code = context.enter(|cx| {
        let mut linker = linker(cx);
        linker.add_ptx("caller.ptx", &caller()).unwrap();
        linker.add_ptx("callee.ptx", &callee()).unwrap();
        let linked = linker.complete().unwrap();
        let module = linked.load(cx).unwrap().share();
        Ok(Code { linked, module })
    });
    drop(context);
    let code = code.unwrap();
    std::thread::spawn(move || {
        let kernel = code.module.kernel::<(InOut<u32>, u32)>("put").unwrap();
        assert!(!code.linked.as_bytes().is_empty());
        drop(code);
        assert!(kernel.function().name().is_ok());
    })
    .join()
    .unwrap();
}
