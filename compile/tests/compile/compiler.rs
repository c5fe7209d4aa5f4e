//! Compiling with an NVRTC under the test's control: its calls, every call failing in turn, missing
//! functions, hostile texts and answers. `releases` has the real ones.

use crate::common::{device, in_context};
use crate::nvrtc::{CUBIN, FUNCTIONS, compiler, lacking, of_tomorrow, state};
use cuprum::device::ComputeCapability;
use cuprum::module::ModuleError;
use cuprum_compile::nvrtc::{FnId, nvrtcResult};
use cuprum_compile::{Architecture, CompileError, Compiler, Options, Output, Severity, Source};

/// A kernel that does nothing, which the fake hands back.
const PTX: &str = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n";

/// A source that uses all that sources have.
fn whole() -> Source<'static> {
    Source::new(PTX).named("k.cu").header("a.h", "int a;").expression("twice<float>")
}

fn options() -> Options {
    Options::new()
        .architecture(Architecture::new(8, 6))
        .define("N", 4)
        .option("--use_fast_math")
        .option("--raw")
}

#[test]
fn one_compilation_makes_these_calls() {
    state(|state| {
        state.log = b"k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n\n".to_vec()
    });
    let code = compiler().compile(&whole(), &options()).unwrap();
    assert_eq!(code.ptx(), Some(PTX), "without the NUL at its end");
    assert_eq!((code.output(), code.architecture()), (Output::Ptx, Some(Architecture::new(8, 6))));
    assert_eq!((code.name("twice<float>"), code.name("twice")), (Some("k"), None));
    let [warning] = &code.diagnostics()[..] else { panic!("{}", code.log()) };
    assert_eq!(
        (warning.severity, warning.file.as_deref(), warning.line),
        (Severity::Warning, Some("k.cu"), Some(3))
    );
    state(|state| {
        use FnId::*;
        let calls = [
            nvrtcCreateProgram,
            nvrtcAddNameExpression,
            nvrtcCompileProgram,
            nvrtcGetLoweredName,
            nvrtcGetPTXSize,
            nvrtcGetPTX,
            nvrtcGetProgramLogSize,
            nvrtcGetProgramLog,
            nvrtcDestroyProgram,
        ];
        assert_eq!(state.calls, calls);
        assert_eq!(state.live, 0);
        assert_eq!(state.options, ["--gpu-architecture=compute_86", "-DN=4", "--use_fast_math", "--raw"]);
        assert_eq!(state.headers, [("a.h".to_owned(), "int a;".to_owned())]);
    });
}

#[test]
fn options_are_passed_in_the_compilers_form() {
    let all = Options::new()
        .include("/some where")
        .option("--std=c++17")
        .option("--fmad=false")
        .option("--maxrregcount=32")
        .option("--generate-line-info")
        .option("--device-debug")
        .option("--relocatable-device-code=true");
    compiler().compile(&Source::new(PTX), &all).unwrap();
    state(|state| {
        let expected = [
            "-I/some where",
            "--std=c++17",
            "--fmad=false",
            "--maxrregcount=32",
            "--generate-line-info",
            "--device-debug",
            "--relocatable-device-code=true",
        ];
        assert_eq!(state.options, expected);
    });
    let lto = Options::new().architecture(Architecture::new(9, 0).specific()).output(Output::LtoIr);
    assert_eq!(compiler().compile(&Source::new(PTX), &lto).unwrap().as_bytes(), b"bitcode");
    state(|state| assert_eq!(state.options, ["--gpu-architecture=compute_90a", "-dlto"]));
    let cubin = Options::new().architecture(Architecture::new(10, 0).family()).output(Output::Cubin);
    let code = compiler().compile(&Source::new(PTX), &cubin).unwrap();
    assert_eq!((code.as_bytes(), code.ptx()), (CUBIN, None));
    state(|state| assert_eq!(state.options, ["--gpu-architecture=sm_100f"]));
}

#[test]
fn each_call_fails_in_turn() {
    let in_compilations: Vec<_> =
        FUNCTIONS.iter().filter(|call| !call.to_string().contains("SupportedArchs")).collect();
    let mut failed = 0;
    for &&call in &in_compilations {
        for result in (1..=19).map(nvrtcResult).chain([nvrtcResult(0x7FFF_FFFF)]) {
            for output in [Output::Ptx, Output::Cubin, Output::LtoIr] {
                state(|state| (state.fail, state.live) = (Some((call, result)), 0));
                let compiled = compiler().compile(&whole(), &options().output(output));
                state(|state| state.fail = None);
                let live = state(|state| state.live);
                let was_called = state(|state| std::mem::take(&mut state.calls).contains(&call));
                if call == FnId::nvrtcDestroyProgram {
                    assert!(
                        compiled.is_ok() && live == 1,
                        "what destroying answers is swallowed: {compiled:?}"
                    );
                    continue;
                }
                assert_eq!(live, 0, "{call} {result:?}");
                assert_eq!(compiled.is_err(), was_called, "{call} {result:?}: {compiled:?}");
                let Err(error) = compiled else { continue };
                failed += 1;
                match &error {
                    CompileError::Rejected { .. } => assert_eq!(result, nvrtcResult::NVRTC_ERROR_COMPILATION),
                    CompileError::Option { .. } => {
                        assert_eq!(result, nvrtcResult::NVRTC_ERROR_INVALID_OPTION)
                    }
                    CompileError::Expression { expression, .. } => {
                        assert_eq!(result, nvrtcResult::NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
                        assert_eq!(expression, "twice<float>");
                    }
                    CompileError::Nvrtc { call: told, result: answered, .. } => {
                        assert_eq!((*told, *answered), (call, result));
                        assert!(error.to_string().contains(&call.to_string()), "{error}");
                    }
                    other => panic!("{call} {result:?}: {other:?}"),
                }
            }
        }
    }
    assert!(failed > 300, "{failed}");
}

#[test]
fn asking_for_architectures_fails_as_nvrtc_says() {
    for call in [FnId::nvrtcGetNumSupportedArchs, FnId::nvrtcGetSupportedArchs] {
        state(|state| state.fail = Some((call, nvrtcResult::NVRTC_ERROR_INTERNAL_ERROR)));
        let error = compiler().architectures().unwrap_err();
        assert!(matches!(error, CompileError::Nvrtc { call: told, .. } if told == call), "{error}");
    }
    state(|state| state.fail = None);
    let known = compiler().architectures().unwrap();
    assert_eq!(known.last(), Some(&ComputeCapability { major: 9, minor: 0 }));
}

#[test]
fn a_function_missing_in_an_older_nvrtc_is_an_error_with_its_version() {
    for &function in FUNCTIONS {
        let compiler = lacking(&[function]);
        let compiled = [Output::Ptx, Output::Cubin, Output::LtoIr]
            .map(|output| compiler.compile(&whole(), &options().output(output)).err());
        let asked = compiler.architectures().err();
        let missing: Vec<_> = compiled.into_iter().chain([asked]).flatten().collect();
        if function == FnId::nvrtcDestroyProgram {
            // There is no release without it; the program is leaked.
            assert!(missing.is_empty(), "{missing:?}");
            state(|state| state.live = 0);
            continue;
        }
        assert!(!missing.is_empty(), "{function}");
        for error in missing {
            let text = error.to_string();
            assert!(matches!(&error, CompileError::Missing(it) if it.function == function), "{error:?}");
            assert!(text.contains(&function.since().to_string()) && text.contains("12.4"), "{text}");
        }
        assert_eq!(state(|state| state.live), 0, "{function}");
    }
}

#[test]
fn the_log_is_in_the_error_with_file_and_line() {
    let log =
        "in a warning\nk.cu(7): error: identifier \"x\" is undefined\n\n1 error detected in \"k.cu\".\n";
    state(|state| state.log = log.into());
    let error = compiler().compile(&Source::new("refused").named("k.cu"), &Options::new()).unwrap_err();
    let CompileError::Rejected { log: told } = &error else { panic!("{error:?}") };
    assert_eq!(told.text(), log.trim_end());
    let [first] = &error.diagnostics()[..] else { panic!("{error}") };
    assert_eq!((first.file.as_deref(), first.line), (Some("k.cu"), Some(7)));
    let text = error.to_string();
    assert!(
        text.starts_with("the source does not compile: k.cu:7: error: identifier \"x\" is undefined\n"),
        "{text}"
    );
    assert!(text.contains("1 error detected"), "{text}");
}

#[test]
fn the_error_of_a_missing_header_says_how_to_add_it() {
    state(|state| state.log = b"k.cu(1): catastrophic error: cannot open source file \"none.h\"\n".to_vec());
    let text = compiler().compile(&Source::new("refused"), &Options::new()).unwrap_err().to_string();
    assert!(text.ends_with("with Options::include, or its text with Source::header"), "{text}");
    state(|state| state.log = b"k.cu(1): error: identifier \"x\" is undefined\n".to_vec());
    let text = compiler().compile(&Source::new("refused"), &Options::new()).unwrap_err().to_string();
    assert!(!text.contains("Options::include"), "{text}");
}

#[test]
fn a_log_in_another_encoding_is_still_a_log() {
    state(|state| state.log = b"k.cu(1): error: \xFF\xFEodd".to_vec());
    let error = compiler().compile(&Source::new("refused"), &Options::new()).unwrap_err();
    assert_eq!(error.diagnostics()[0].message, "\u{FFFD}\u{FFFD}odd");
    // A log without a NUL where it should have one, and one that claims more than there is.
    state(|state| state.log = b"x\0y".to_vec());
    let error = compiler().compile(&Source::new("refused"), &Options::new()).unwrap_err();
    assert_eq!(error.log().unwrap().text(), "x");
}

#[test]
fn sizes_beyond_all_memory_are_errors() {
    for (call, output) in [
        (FnId::nvrtcGetPTXSize, Output::Ptx),
        (FnId::nvrtcGetCUBINSize, Output::Cubin),
        (FnId::nvrtcGetProgramLogSize, Output::Ptx),
    ] {
        for size in [usize::MAX, isize::MAX as usize, usize::MAX / 2 + 2] {
            state(|state| state.lie = Some((call, size)));
            let error = compiler().compile(&whole(), &options().output(output)).unwrap_err();
            assert!(matches!(error, CompileError::OutOfMemory { bytes } if bytes == size), "{error}");
            assert_eq!(state(|state| state.live), 0);
        }
    }
    state(|state| state.lie = Some((FnId::nvrtcGetCUBINSize, 0)));
    let error = compiler().compile(&whole(), &options().output(Output::Cubin)).unwrap_err();
    assert!(matches!(error, CompileError::Unsupported(_)), "code of no bytes is not loaded: {error}");
}

#[test]
fn texts_with_a_nul_are_refused_before_a_call() {
    let refused = |source: Source<'_>, options: Options, expected: &str, at: usize| {
        let error = compiler().compile(&source, &options).unwrap_err();
        let CompileError::InteriorNul { what, position } = &error else { panic!("{error:?}") };
        assert_eq!((what.as_str(), *position), (expected, at));
    };
    refused(Source::new("int x\0;"), Options::new(), "the source", 5);
    refused(Source::new("").named("\0"), Options::new(), "the source's name", 0);
    refused(Source::new("").header("a\"\n.h", "x\0"), Options::new(), "the header `a\\\"\\n.h`", 1);
    refused(Source::new("").header("a\0b", "x"), Options::new(), "a header's name", 1);
    refused(Source::new("").expression("f<\0>"), Options::new(), "a name expression", 2);
    refused(Source::new(""), Options::new().define("A\0", 1), "an option", 3);
    state(|state| assert_eq!(state.calls, []));
}

#[test]
fn expressions_that_denote_nothing_are_named() {
    for expression in ["nothing", "null"] {
        let error =
            compiler().compile(&Source::new(PTX).expression(expression), &Options::new()).unwrap_err();
        assert!(
            matches!(&error, CompileError::Expression { expression: told, .. } if told == expression),
            "{error:?}"
        );
        assert!(error.to_string().contains(&format!("`{expression}`")), "{error}");
    }
    assert_eq!(state(|state| state.live), 0);
}

#[test]
fn the_architecture_is_the_devices_or_the_newest_that_both_know() {
    let device = device();
    let capability = device.compute_capability().unwrap();
    let compile = |options: Options| compiler().compile_for(device, &Source::new(PTX), &options).unwrap();
    let chosen = compile(Options::new()).architecture().unwrap();
    let newest = compiler().architectures().unwrap().into_iter().filter(|one| *one <= capability).max();
    assert_eq!(Some(chosen.capability()), newest);
    assert_eq!(
        compile(Options::new().architecture(Architecture::new(5, 2))).architecture().unwrap().to_string(),
        "52"
    );
    let old = ComputeCapability { major: 3, minor: 5 };
    let error = compiler().architecture_for(old, Output::Ptx).unwrap_err();
    assert_eq!(
        error.to_string(),
        "NVRTC 12.4 makes no PTX that a device of compute capability 3.5 runs: it knows 5.2, 7.5, 8.6, 9.0"
    );
}

#[test]
fn a_compiler_that_is_newer_than_the_driver_makes_machine_code() {
    let known = of_tomorrow().architectures().unwrap();
    let device = device();
    if device.driver().version().major() != 13 || !known.contains(&device.compute_capability().unwrap()) {
        // A GPU with another driver, or of another architecture than the fake knows.
        assert!(crate::common::on_gpu());
        return;
    }
    let code = of_tomorrow().compile_for(device, &Source::new(PTX), &Options::new()).unwrap();
    assert_eq!(code.output(), Output::Cubin);
    state(|state| assert!(state.options[0].starts_with("--gpu-architecture=sm_"), "{:?}", state.options));
    let ptx = of_tomorrow().compile_for(device, &Source::new(PTX), &Options::new().output(Output::Ptx));
    assert_eq!(ptx.unwrap().output(), Output::Ptx);
}

#[test]
fn machine_code_needs_an_architecture() {
    let error = compiler().compile(&Source::new(PTX), &Options::new().output(Output::Cubin)).unwrap_err();
    assert!(matches!(error, CompileError::Unsupported(what) if what.contains("architecture")), "{error}");
}

#[test]
fn functions_are_found_by_their_expressions() {
    in_context(|cx| {
        let code = compiler().compile(&whole(), &options()).unwrap();
        let module = code.load(cx).unwrap();
        module.function("twice<float>").unwrap().bind::<()>().unwrap();
        module.function("k").unwrap();
        let missing = module.function("twice<int>").unwrap_err();
        assert!(matches!(missing, ModuleError::NoFunction { name, .. } if name == "twice<int>"));
        let lto = compiler().compile(&whole(), &options().output(Output::LtoIr)).unwrap();
        assert!(matches!(lto.load(cx), Err(CompileError::NotLoadable)));
    });
}

#[test]
fn many_threads_compile_at_once() {
    let compiler = compiler();
    let compile = |i: usize| {
        let text = format!("{PTX}// {i}");
        let code = compiler.compile(&Source::new(&text), &Options::new()).unwrap();
        assert_eq!(code.ptx(), Some(text.as_str()));
        assert_eq!(state(|state| state.live), 0);
    };
    std::thread::scope(|scope| {
        (0..16).for_each(|i| {
            scope.spawn(move || compile(i));
        });
    });
}

#[test]
fn compilers_and_code_can_be_sent_and_shared() {
    fn sendable<T: Send + Sync + 'static>() {}
    sendable::<Compiler>();
    sendable::<Options>();
    sendable::<cuprum_compile::Compiled>();
    sendable::<CompileError>();
}
