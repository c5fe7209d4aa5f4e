//! From CUDA C++ to results, with every line of NVRTC that pip has, on the software device.
//!
//! `cargo test -p cuprum --test compile -- --ignored`: fetches the wheels on the first run (x86-64
//! Linux, pip, network) and fails when it cannot. Each release is tried in a process of its own.

use std::path::PathBuf;
use std::process::Command;

use crate::child::in_children;
use crate::common::{device, in_context};
use crate::nvrtc_releases::RELEASES;
use cuprum::sys::Version;
use cuprum::{Buffer, Current, In, InOut, LaunchConfig, Module, Stream};
use cuprum_compile::{Architecture, CompileError, Compiler, Options, Output, Severity, Source};

/// The repository, of which tests run in the folder of this crate. It may be a copy at another path
/// than the one that they were built at.
fn root() -> PathBuf {
    std::env::current_dir().unwrap().join("..")
}

fn fetched((package, version, library): (&str, &str, &str)) -> String {
    let script = root().join("sys/tests/fetch/wheel.sh");
    let wheels = root().join(".cache/wheels");
    let output = Command::new(script).arg(wheels).args([package, version]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    format!("{}/nvidia/{library}", String::from_utf8(output.stdout).unwrap().trim())
}

/// Runs `body` in one child per release.
fn with_each_release(name: &str, body: impl FnOnce()) {
    if std::env::var_os("CUPRUM_TEST_CHILD").is_some() {
        return body();
    }
    let paths: Vec<_> = RELEASES.iter().map(|release| fetched(*release)).collect();
    let variables: Vec<_> = paths.iter().map(|path| [("CUPRUM_NVRTC", path.as_str())]).collect();
    let variables: Vec<&[(&str, &str)]> = variables.iter().map(|one| &one[..]).collect();
    in_children(name, &variables, body);
}

/// As above, for the newest alone.
fn with_the_newest(name: &str, more: &[(&str, &str)], body: impl FnOnce()) {
    if std::env::var_os("CUPRUM_TEST_CHILD").is_some() {
        return body();
    }
    let path = fetched(RELEASES[RELEASES.len() - 1]);
    let variables: Vec<_> = more.iter().copied().chain([("CUPRUM_NVRTC", path.as_str())]).collect();
    in_children(name, &[&variables], body);
}

const SAXPY: &str = include_str!("../../../kernels/saxpy.cu");

type Saxpy = (u32, f32, In<f32>, InOut<f32>);

#[test]
#[ignore = "needs NVRTC"]
fn three_lines_from_source_to_a_bound_kernel() {
    with_each_release(concat!(module_path!(), "::three_lines_from_source_to_a_bound_kernel"), || {
        in_context(|cx| {
            let module = cuprum_compile::compile(cx, SAXPY).unwrap();
            let saxpy = module.function("saxpy").unwrap().bind::<Saxpy>().unwrap();
            let x = Buffer::from_slice(cx, &[1.0f32; 1000]).unwrap();
            let mut y = Buffer::from_slice(cx, &[2.0f32; 1000]).unwrap();
            let (stream, config) = (Stream::default_in(cx), LaunchConfig::for_elements(1000, 256));
            // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; the copy below comes after
            // it.
            unsafe { saxpy.launch(cx, &stream, config, (1000, 3.0, &x, &mut y)) }.unwrap();
            assert_eq!(y.to_vec(cx).unwrap(), [5.0; 1000]);
            let kernel =
                cuprum_compile::compile(cx, SAXPY).unwrap().share().kernel::<Saxpy>("saxpy").unwrap();
            // SAFETY: as above.
            unsafe { kernel.launch(cx, &stream, config, (1000, 3.0, &x, &mut y)) }.unwrap();
            assert_eq!(y.to_vec(cx).unwrap(), [8.0; 1000]);
        });
    });
}

const TEMPLATE: &str = "
#include \"inner/scale.h\"
namespace n { template <class T, int K> __global__ void fill(T *out, T value) { out[threadIdx.x] = SCALE * value + K; } }
template <class T> __device__ T table[4];
__global__ void plain(int *out) { out[0] = table<int>[2]; }
";

/// The result of `fill` with `expression` for `value`.
fn filled<T>(cx: &Current<'_, '_>, module: &Module<'_>, expression: &str, value: T) -> Vec<T>
where
    T: cuprum::memory::DeviceData + cuprum::launch::Argument<T> + PartialEq + std::fmt::Debug,
{
    let fill = module.function(expression).unwrap().bind::<(InOut<T>, T)>().unwrap();
    let mut out = Buffer::<T>::from_slice(cx, &[value; 8]).unwrap();
    // SAFETY: each of the 8 threads writes the element of its number.
    unsafe { fill.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 8), (&mut out, value)) }.unwrap();
    out.to_vec(cx).unwrap()
}

#[test]
#[ignore = "needs NVRTC"]
fn templates_headers_in_memory_and_options() {
    with_each_release(concat!(module_path!(), "::templates_headers_in_memory_and_options"), || {
        in_context(|cx| {
            let source = Source::new(TEMPLATE)
                .named("template.cu")
                .header("inner/scale.h", "#include <more.h>\n#define SCALE (MORE + EXTRA)")
                .header("more.h", "#define MORE 2")
                .expression("n::fill<int, 7>")
                .expression("n::fill<double, 0>")
                .expression("&table<int>")
                .expression("plain");
            let options =
                Options::new().define("EXTRA", 1).option("--std=c++17").option("--generate-line-info");
            let code = Compiler::load().unwrap().compile_for(device(), &source, &options).unwrap();
            assert!(code.name("n::fill<int, 7>").unwrap().starts_with("_ZN1n4fill"));
            assert!(code.ptx().unwrap().contains(".loc"), "line information was asked for");
            let module = code.load(cx).unwrap();
            assert_eq!(filled(cx, &module, "n::fill<int, 7>", 5), [22; 8]);
            assert_eq!(filled(cx, &module, "n::fill<double, 0>", 0.5), [1.5; 8]);
            let mut table = module.global::<i32>("&table<int>").unwrap();
            cx.copy(&mut table, &[1, 2, 3, 4]).unwrap();
            let plain = module.function("plain").unwrap().bind::<(InOut<i32>,)>().unwrap();
            let mut out = Buffer::<i32>::zeroed(cx, 1).unwrap();
            // SAFETY: one thread writes one element.
            unsafe { plain.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 1), (&mut out,)) }
                .unwrap();
            assert_eq!(out.to_vec(cx).unwrap(), [3]);
        });
    });
}

#[test]
#[ignore = "needs NVRTC"]
fn machine_code_and_code_for_linking() {
    with_each_release(concat!(module_path!(), "::machine_code_and_code_for_linking"), || {
        let compiler = Compiler::load().unwrap();
        let options = Options::new().architecture(Architecture::new(8, 0));
        let compile = |output| compiler.compile(&Source::new(SAXPY), &options.clone().output(output));
        assert!(compile(Output::Cubin).unwrap().as_bytes().starts_with(b"\x7FELF"));
        match compile(Output::LtoIr) {
            Ok(code) => {
                assert!(compiler.version() >= Version::new(12, 0) && code.as_bytes().len() > 500);
                in_context(|cx| assert!(matches!(code.load(cx), Err(CompileError::NotLoadable))));
            }
            Err(error) => {
                assert!(compiler.version() < Version::new(12, 0), "{error}");
                let text = error.to_string();
                assert!(text.contains("nvrtcGetLTOIR needs NVRTC 12.0, this is 11."), "{text}");
            }
        }
    });
}

#[test]
#[ignore = "needs NVRTC"]
fn errors_are_reported_with_file_and_line() {
    with_each_release(concat!(module_path!(), "::errors_are_reported_with_file_and_line"), || {
        let compiler = Compiler::load().unwrap();
        let compile = |source: Source<'_>, options: Options| compiler.compile(&source, &options);
        let at = |error: &CompileError| {
            let first = error.diagnostics().into_iter().find(|one| one.severity == Severity::Error);
            first.and_then(|first| Some((first.file?, first.line?))).unwrap_or_else(|| panic!("{error}"))
        };
        let text = "__global__ void f(int *y) {\n  y[0] = x;\n}";
        let error = compile(Source::new(text).named("dir/a.cu"), Options::new()).unwrap_err();
        assert!(matches!(error, CompileError::Rejected { .. }), "{error:?}");
        assert_eq!(at(&error), ("dir/a.cu".to_owned(), 2));
        assert!(error.to_string().contains("identifier \"x\" is undefined"), "{error}");
        let nested = Source::new("#include \"h.h\"").header("h.h", "\n\nint f() { return 1 }");
        assert_eq!(at(&compile(nested, Options::new()).unwrap_err()), ("h.h".to_owned(), 3));
        let absent = compile(Source::new("\n#include <no/such.h>\n"), Options::new()).unwrap_err();
        assert_eq!(at(&absent), ("source.cu".to_owned(), 2));
        assert!(absent.to_string().contains("no/such.h"), "{absent}");

        let warned = compile(Source::new("__global__ void f() { int a = 1; }"), Options::new()).unwrap();
        let [warning] = &warned.diagnostics()[..] else { panic!("{}", warned.log()) };
        assert_eq!((warning.severity, warning.line), (Severity::Warning, Some(1)));
        assert_eq!(compile(Source::new(SAXPY), Options::new()).unwrap().log(), "");

        let option = compile(Source::new(""), Options::new().option("--no-such-option")).unwrap_err();
        assert!(
            matches!(&option, CompileError::Option { log } if log.text().contains("no-such-option")),
            "{option}"
        );
        let gone =
            compile(Source::new(""), Options::new().architecture(Architecture::new(1, 3))).unwrap_err();
        assert!(matches!(&gone, CompileError::Option { log } if log.text().contains("arch")), "{gone}");
        let nothing = Source::new(SAXPY).expression("saxpy").expression("no::such<int>");
        let nothing = compile(nothing, Options::new()).unwrap_err();
        let CompileError::Expression { expression, .. } = &nothing else { panic!("{nothing:?}") };
        assert_eq!(expression, "no::such<int>");
        assert!(
            nothing.to_string().starts_with("the name expression `no::such<int>` denotes nothing"),
            "{nothing}"
        );
    });
}

#[test]
#[ignore = "needs NVRTC"]
fn odd_texts_are_no_trouble() {
    with_each_release(concat!(module_path!(), "::odd_texts_are_no_trouble"), || {
        let compiler = Compiler::load().unwrap();
        let compile = |source: Source<'_>| compiler.compile(&source, &Options::new());
        compile(Source::new("")).unwrap();
        compile(Source::new(b"// \xFF\xFE\n__global__ void f() {}".as_slice())).unwrap();
        let error = compile(Source::new(b"int x = \xFF\xFE;".as_slice())).unwrap_err();
        assert!(!error.diagnostics().is_empty(), "{error}");
        compile(Source::new("int x\0;")).unwrap_err();
        let same = Source::new("#include \"a.h\"").header("a.h", "int a;").header("a.h", "int b;");
        let _whichever = compile(same);
        let itself = Source::new("#include \"a.h\"").header("a.h", "#include \"a.h\"");
        compile(itself).unwrap_err();
    });
}

/// 100 MB, most of them comments; then a word of 100 MB.
#[test]
#[ignore = "needs NVRTC"]
fn a_source_of_100_megabytes() {
    with_the_newest(concat!(module_path!(), "::a_source_of_100_megabytes"), &[], || {
        let mut text = SAXPY.to_owned();
        while text.len() < 100_000_000 {
            text.push_str(
                "\n// a line of a comment that says nothing and is followed by a million others like it",
            );
        }
        let code = Compiler::load().unwrap().compile(&Source::new(&text), &Options::new()).unwrap();
        assert!(code.ptx().unwrap().contains(".entry saxpy"));
    });
}

#[test]
#[ignore = "needs NVRTC"]
fn two_threads_compile_at_once() {
    with_each_release(concat!(module_path!(), "::two_threads_compile_at_once"), || {
        let compiler = Compiler::load().unwrap();
        let compile = |thread: usize| {
            for i in 0..5 {
                let text = format!("extern \"C\" __global__ void k{thread}_{i}() {{}}");
                let code = compiler.compile(&Source::new(&text), &Options::new()).unwrap();
                assert!(code.ptx().unwrap().contains(&format!(".entry k{thread}_{i}(")));
                let text = format!("__global__ void f() {{ e{thread} = 1; }}");
                let error = compiler.compile(&Source::new(&text), &Options::new()).unwrap_err();
                assert!(error.to_string().contains(&format!("e{thread}")), "{error}");
            }
        };
        std::thread::scope(|scope| {
            (0..2).for_each(|thread| {
                scope.spawn(move || compile(thread));
            });
        });
    });
}

#[test]
#[ignore = "needs NVRTC"]
fn the_architecture_follows_the_software_device() {
    let name = concat!(module_path!(), "::the_architecture_follows_the_software_device");
    // Device, and the architecture that NVRTC 13.5 takes for it.
    for (device, expected) in [("7.5", "75"), ("8.6", "86"), ("9.0", "90"), ("12.1", "121"), ("7.0", "")] {
        let variables = [("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", device), ("EXPECTED", expected)];
        with_the_newest(name, &variables, || {
            let expected = std::env::var("EXPECTED").unwrap();
            let device = crate::common::device();
            let compiled =
                Compiler::load().unwrap().compile_for(device, &Source::new(SAXPY), &Options::new());
            match compiled {
                Ok(code) => {
                    assert_eq!(code.architecture().unwrap().to_string(), expected);
                    in_context(|cx| drop(code.load(cx).unwrap()));
                }
                Err(error) => {
                    assert!(matches!(error, CompileError::NoArchitecture { .. }), "{error}");
                    assert_eq!(expected, "", "{error}");
                }
            }
        });
    }
}

/// Each release knows the software device's architecture, or one below.
#[test]
#[ignore = "needs NVRTC"]
fn each_release_compiles_for_the_architectures_that_it_knows() {
    with_each_release(
        concat!(module_path!(), "::each_release_compiles_for_the_architectures_that_it_knows"),
        || {
            let compiler = Compiler::load().unwrap();
            let known = compiler.architectures().unwrap();
            let capability = device().compute_capability().unwrap();
            let chosen = compiler.architecture_for(capability, Output::Ptx).unwrap();
            assert_eq!(
                Some(chosen.capability()),
                known.iter().copied().filter(|one| *one <= capability).max()
            );
            assert!(known.len() > 5 && known.is_sorted(), "{known:?}");
            let newest = Architecture::from(*known.last().unwrap());
            compiler.compile(&Source::new(SAXPY), &Options::new().architecture(newest)).unwrap();
        },
    );
}

#[test]
#[ignore = "needs NVRTC"]
fn the_examples_run() {
    with_the_newest(concat!(module_path!(), "::the_examples_run"), &[], || {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        for (example, says) in [
            ("10_from_source", ["NVRTC 13.5 made PTX for", "all right"]),
            ("18_from_c", ["1000 sums", "every one right"]),
        ] {
            let ran = Command::new(&cargo)
                .args(["run", "--quiet", "--package", "cuprum", "--example", example])
                .env("CUPRUM_DEVICE", "emulator")
                .output()
                .unwrap();
            let out = String::from_utf8_lossy(&ran.stdout);
            assert!(ran.status.success(), "{out}{}", String::from_utf8_lossy(&ran.stderr));
            assert!(says.iter().all(|words| out.contains(words)), "{out}");
        }
    });
}

/// NVIDIA's own `nvcc`, of the packages that the clients of the software `libcuda.so.1` need.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_makes_code_that_runs() {
    let found = root().join(".cache/clients/venv/lib").read_dir().expect("emulator/libcuda/clients/run.sh");
    let inside = |python: PathBuf| python.join("site-packages/nvidia/cu13/bin/nvcc");
    let nvcc = found.map(|entry| inside(entry.unwrap().path())).find(|path| path.exists()).expect("nvcc");
    // SAFETY: it is NVIDIA's own.
    let compiler = unsafe { Compiler::nvcc_at(nvcc) }.unwrap();
    let source =
        Source::new("#include \"n.h\"\nextern \"C\" __global__ void f(int *p) { p[threadIdx.x] = N * M; }")
            .named("mine.cu")
            .header("n.h", "#define N 7");
    in_context(|cx| {
        let options = Options::new().define("M", 6).option("--std=c++17");
        let code = compiler.compile_for(device(), &source, &options).unwrap();
        let module = code.load(cx).unwrap();
        let f = module.function("f").unwrap().bind::<(InOut<i32>,)>().unwrap();
        let mut out = Buffer::<i32>::zeroed(cx, 4).unwrap();
        // SAFETY: each of the 4 threads writes the element of its number.
        unsafe { f.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 4), (&mut out,)) }.unwrap();
        assert_eq!(out.to_vec(cx).unwrap(), [42; 4]);
        let error =
            compiler.compile_for(device(), &Source::new("\nint f() { return x; }"), &options).unwrap_err();
        assert_eq!(error.diagnostics()[0].to_string(), "source.cu:2: error: identifier \"x\" is undefined");
        #[cfg(feature = "cache")]
        its_code_is_kept(&compiler, &source, &options);
    });
}

/// NVIDIA's `nvcc` reports the host compiler that it calls, so its code is cached.
#[cfg(feature = "cache")]
fn its_code_is_kept(compiler: &Compiler, source: &Source<'_>, options: &Options) {
    use cuprum_compile::cache::{Cache, CacheUse};

    let folder = crate::scratch("nvcc-kept");
    let _ = std::fs::remove_dir_all(&folder);
    let cached = compiler.clone().with_cache(Cache::new(&folder));
    let uses = [(); 2].map(|()| {
        let start = std::time::Instant::now();
        let code = cached.compile_for(device(), source, options).unwrap();
        println!("{compiler}, {:?} in {:?}", code.cache_use(), start.elapsed());
        code.cache_use().clone()
    });
    assert_eq!(uses, [CacheUse::Stored, CacheUse::Hit]);
}

#[test]
fn without_nvrtc_it_is_said_what_was_tried_and_how_to_get_it() {
    let name = concat!(module_path!(), "::without_nvrtc_it_is_said_what_was_tried_and_how_to_get_it");
    in_children(name, &[&[("CUPRUM_NVRTC", "/nowhere/libnvrtc.so.12")]], || {
        in_context(|cx| {
            let error = cuprum_compile::compile(cx, SAXPY).unwrap_err();
            assert!(matches!(error, CompileError::NoNvrtc(_)), "{error:?}");
            let text = error.to_string();
            for part in
                ["/nowhere/libnvrtc.so.12", "cannot open", "pip install nvidia-cuda-nvrtc", "CUPRUM_NVRTC"]
            {
                assert!(text.contains(part), "{text}");
            }
        });
    });
}

/// The purpose of the cache: the second process does not compile.
#[cfg(feature = "cache")]
#[test]
#[ignore = "needs NVRTC"]
fn the_cache_separates_the_code_of_each_release() {
    use cuprum_compile::cache::{Cache, CacheUse};

    let folder = crate::scratch("releases");
    if std::env::var_os("CUPRUM_TEST_CHILD").is_none() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    let name = concat!(module_path!(), "::the_cache_separates_the_code_of_each_release");
    with_each_release(name, || {
        let start = std::time::Instant::now();
        let compiler = Compiler::load().unwrap().with_cache(Cache::new(&folder));
        let source =
            Source::new(TEMPLATE).header("inner/scale.h", "#define SCALE 3").expression("n::fill<int, 7>");
        let options = Options::new().architecture(Architecture::new(7, 5)).option("--std=c++17");
        let load = start.elapsed();
        let made = compiler.compile(&source, &options).unwrap();
        let (first, start) = (start.elapsed() - load, std::time::Instant::now());
        let kept = compiler.compile(&source, &options).unwrap();
        println!(
            "{compiler}: loaded in {load:?}, compiled in {first:?}, from the cache in {:?}",
            start.elapsed()
        );
        assert_eq!((made.cache_use(), kept.cache_use()), (&CacheUse::Stored, &CacheUse::Hit));
        assert_eq!((made.ptx(), made.name("n::fill<int, 7>")), (kept.ptx(), kept.name("n::fill<int, 7>")));
    });
}
