//! Compiling with `nvcc`: a script in its place that records its arguments.

use std::fs;
use std::path::{Path, PathBuf};

use crate::child::in_children;
use crate::scratch;
use cuprum::device::ComputeCapability;
use cuprum::sys::Version;
use cuprum_compile::{Architecture, CompileError, Compiler, Options, Output, Severity, Source};

/// The script, below the folder in which tests run.
fn script() -> PathBuf {
    std::env::current_dir().unwrap().join("tests/compile/nvcc.sh")
}

pub(crate) fn compiler() -> Compiler {
    // SAFETY: the output of the script is not loaded.
    unsafe { Compiler::nvcc_at(script()) }.unwrap()
}

#[test]
fn it_tells_its_version_and_architectures() {
    assert_eq!(compiler().version(), Version::new(12, 4));
    assert_eq!(compiler().to_string(), "nvcc 12.4");
    let known = compiler().architectures().unwrap();
    assert_eq!(known.iter().map(ComputeCapability::to_string).collect::<Vec<_>>(), ["5.0", "7.5", "9.0"]);
    let device = ComputeCapability { major: 8, minor: 6 };
    assert_eq!(compiler().architecture_for(device, Output::Ptx).unwrap(), Architecture::new(7, 5));
}

#[test]
fn it_gets_the_same_options_the_source_and_the_headers() {
    let log = scratch("nvcc-arguments");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let name = concat!(module_path!(), "::it_gets_the_same_options_the_source_and_the_headers");
    in_children(name, &[&[("NVCC_LOG", log.to_str().unwrap())]], || {
        let options =
            Options::new().architecture(Architecture::new(9, 0)).define("N", "a b").option("--use_fast_math");
        let source = Source::new("int x;\n").named("mine.cu").header("sub/a.h", "int a;\n");
        let code = compiler().compile(&source, &options).unwrap();
        assert_eq!(code.ptx(), Some("int x;\n// int a;\n"));
        let [warning] = &code.diagnostics()[..] else { panic!("{}", code.log()) };
        assert_eq!((warning.file.as_deref(), warning.severity), (Some("mine.cu"), Severity::Warning));
        let given = fs::read_to_string(&log).unwrap();
        let given: Vec<_> = given.lines().collect();
        let [kind, _, output, _, headers, architecture, define, math, text] = given[..] else {
            panic!("{given:?}")
        };
        assert_eq!((kind, architecture), ("--ptx", "--gpu-architecture=compute_90"));
        assert_eq!((define, math), ("-DN=a b", "--use_fast_math"));
        let folder = Path::new(text).parent().unwrap();
        assert!(Path::new(output).starts_with(folder) && Path::new(headers).starts_with(folder));
        assert!(!folder.exists(), "the folder goes with the compilation");
        compiler().compile(&source, &options.output(Output::Cubin)).unwrap();
        let given = fs::read_to_string(&log).unwrap();
        assert!(given.starts_with("--cubin\n") && given.contains("=sm_90\n"), "{given}");
    });
}

#[test]
fn its_text_is_in_the_error() {
    let source = Source::new("refused").named("mine.cu").header("a.h", "");
    let error = compiler().compile(&source, &Options::new()).unwrap_err();
    let CompileError::Nvcc { program, status, .. } = &error else { panic!("{error:?}") };
    assert_eq!((program.as_path(), status.as_str()), (script().as_path(), "exit status: 2"));
    let shown: Vec<_> = error.diagnostics().iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["a.h:1: note: here", "mine.cu:3: error: identifier \"x\" is undefined"]);
    let text = error.to_string();
    assert!(text.contains("exit status: 2: mine.cu:3: error: identifier"), "{text}");
    let nothing = compiler().compile(&Source::new("writes-nothing"), &Options::new()).unwrap_err();
    assert!(matches!(nothing, CompileError::File { .. }), "{nothing:?}");
}

#[test]
fn unsupported_requests_are_errors() {
    let compile = |source: Source<'_>, output| compiler().compile(&source, &Options::new().output(output));
    let unsupported = |result: Result<_, CompileError>| matches!(result, Err(CompileError::Unsupported(_)));
    assert!(unsupported(compile(Source::new("").expression("f<int>"), Output::Ptx)));
    assert!(unsupported(compile(Source::new(""), Output::LtoIr)));
    for name in ["../a.h", "/a.h", "a/../../b.h", "", "a\0b"] {
        assert!(unsupported(compile(Source::new("").header(name, "x"), Output::Ptx)), "{name:?}");
    }
}

#[test]
fn a_program_that_is_no_nvcc_is_refused() {
    // SAFETY: nothing is compiled with it.
    let at = |path: &str| unsafe { Compiler::nvcc_at(path) }.unwrap_err();
    assert!(matches!(at("/nowhere/nvcc"), CompileError::File { what: "cannot be run", .. }));
    assert!(matches!(at("/bin/echo"), CompileError::Nvcc { .. }));
    assert!(matches!(at("/bin/false"), CompileError::Nvcc { status, .. } if status == "exit status: 1"));
}

/// A folder with the script as `bin/nvcc`.
fn toolkit() -> PathBuf {
    let root = scratch("nvcc-toolkit");
    let link = root.join("bin/nvcc");
    fs::create_dir_all(root.join("bin")).unwrap();
    if !link.exists() {
        // Another test may be faster.
        let _ = std::os::unix::fs::symlink(script(), &link);
    }
    root
}

#[test]
fn it_is_found_in_toolkits_and_in_the_path() {
    let root = toolkit();
    let (root, bin) = (root.to_str().unwrap(), root.join("bin"));
    let usual = std::env::var("PATH").unwrap_or_default();
    let in_path = format!("{}:{usual}", bin.to_str().unwrap());
    let none: [(&str, &str); 3] = [("CUPRUM_NVCC", ""), ("CUDA_HOME", ""), ("CUDA_PATH", "")];
    let with = |variable, value| [none[0], none[1], none[2], (variable, value)];
    in_children(
        concat!(module_path!(), "::it_is_found_in_toolkits_and_in_the_path"),
        &[
            &with("CUPRUM_NVCC", script().to_str().unwrap()),
            &with("CUDA_HOME", root),
            &with("CUDA_PATH", root),
            &with("PATH", &in_path),
        ],
        || assert_eq!(Compiler::nvcc().unwrap().to_string(), "nvcc 12.4"),
    );
}

#[test]
fn without_nvcc_the_error_says_where_it_was_looked_for() {
    let variables = [("CUPRUM_NVCC", ""), ("CUDA_HOME", "/nowhere"), ("CUDA_PATH", ""), ("PATH", "/empty")];
    in_children(
        concat!(module_path!(), "::without_nvcc_the_error_says_where_it_was_looked_for"),
        &[&variables],
        || {
            if Path::new("/usr/local/cuda/bin/nvcc").exists() {
                // There is one in the last place: the first that is found.
                assert!(Compiler::nvcc().is_ok());
                return;
            }
            let error = Compiler::nvcc().unwrap_err();
            let CompileError::NoNvcc { looked } = &error else { panic!("{error:?}") };
            let looked: Vec<_> = looked.iter().map(|path| path.to_str().unwrap()).collect();
            assert_eq!(looked, ["/nowhere/bin/nvcc", "/empty/nvcc", "/usr/local/cuda/bin/nvcc"]);
            let text = error.to_string();
            assert!(
                text.contains("/nowhere/bin/nvcc, /empty/nvcc") && text.contains("CUPRUM_NVCC"),
                "{text}"
            );
        },
    );
}
