//! The numbered examples: each runs to its end and prints the expected output.
//!
//! A program of its own, which starts others and needs no device itself. They run as the programs
//! that they are. Under cargo they are built first, as `cargo test` alone does by itself.

#[cfg(target_os = "linux")]
use cuprum_testing::mesa;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::time::SystemTime;

/// The most lines of an example that shows one thing.
const LINES: usize = 60;

/// The folder of examples: cargo puts it next to the folder of this program.
fn folder() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let target = program.parent().and_then(|deps| deps.parent()).expect("the folder of builds");
    target.join("examples")
}

/// The numbered examples.
fn sources() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).expect("the examples");
    // Examples in other languages are in folders.
    folder.map(|entry| entry.expect("an entry").path()).filter(|path| !path.is_dir()).collect()
}

/// When a file, or one below a folder, was changed last; `None` if it is not there.
fn changed(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return path.metadata().ok()?.modified().ok();
    }
    path.read_dir().ok()?.filter_map(|entry| changed(&entry.ok()?.path())).max()
}

/// True if all examples exist and are newer than their sources, as cargo leaves them before it runs
/// all tests.
fn are_current() -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made_of = [
        "Cargo.toml",
        "src",
        "sys",
        "emulator/ptx/src",
        "emulator/engine/src",
        "emulator/src",
        "examples",
        "kernels",
        "tests/crates",
    ];
    let newest = made_of.iter().filter_map(|part| changed(&root.join(part))).max();
    sources().iter().filter_map(|source| source.file_stem()).all(|name| {
        let program = folder().join(name).with_extension(std::env::consts::EXE_EXTENSION);
        changed(&program) > newest
    })
}

/// Builds the examples, if cargo has not: for a build with other features than now it would make
/// all of them anew.
fn build() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let Some(cargo) = std::env::var_os("CARGO").filter(|_| !are_current()) else { return };
        let folder = folder();
        let target = folder.ancestors().nth(2).expect("the folder of builds");
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--examples", "--manifest-path"]);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).arg("--target-dir").arg(target);
        if !cfg!(debug_assertions) {
            command.arg("--release");
        }
        assert!(command.status().expect("cargo").success(), "the examples are not built");
    });
}

/// The output of an example, which must succeed.
fn run(name: &str, environment: &[(&str, &str)], arguments: &[&str]) -> String {
    build();
    let output = Command::new(folder().join(name))
        .envs(environment.iter().copied())
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {}\n{out}\n{err}", output.status);
    assert!(err.is_empty(), "{name}: {err}");
    out.into_owned()
}

/// Names the device. In two parts, since `tests/gpu.sh` takes the tests that have the word along to
/// a GPU, where it runs the examples by itself.
const DEVICE: &str = concat!("CUPRUM", "_DEVICE");

/// Runs an example on the emulator.
fn says(name: &str, environment: &[(&str, &str)], words: &[&str]) {
    let mut all = vec![(DEVICE, "emulator")];
    all.extend(environment);
    let said = run(name, &all, &[]);
    for words in words {
        assert!(said.contains(words), "{name} does not say {words:?}:\n{said}");
    }
}

#[test]
fn vector_add() {
    says("01_vector_add", &[], &["1000000 sums, every one right"]);
}

#[test]
fn find_the_fault() {
    let innocent = "cuMemAlloc_v2 failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)";
    says("02_find_the_fault", &[], &["out-of-bounds access in kernel `oob_write`", "faults.cu:17", innocent]);
}

#[test]
fn older_driver() {
    says("17_older_driver", &[], &["1000 numbers in the order of a stream\n"]);
    let old = [("CUPRUM_EMULATOR_DRIVER_VERSION", "11.0")];
    says("17_older_driver", &old, &["\n1000 numbers by an allocation that waits\n"]);
}

/// Outputs in the README and the guide, each below a comment that names its example (see
/// `tests/rules/pages.rs`).
#[test]
fn outputs_on_pages_match_the_examples() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_dir(root.join("guide/src")).expect("the guide");
    let pages = guide.map(|entry| entry.expect("an entry").path()).chain([root.join("README.md")]);
    let mut seen = 0;
    for page in pages.filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let text = std::fs::read_to_string(&page).expect("a page");
        for block in text.split("<!-- output: ").skip(1) {
            let (command, rest) = block.split_once(" -->\n```text\n").expect("a comment above a block");
            let (shown, _) = rest.split_once("\n```\n").expect("the end of the block");
            let mut words = command.split(' ');
            let name = words.next().expect("an example");
            let variables: Vec<_> = words.filter_map(|word| word.split_once('=')).collect();
            says(name, &variables, &[shown]);
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} outputs");
}

#[test]
fn state_in_a_struct() {
    let words = ["this thread: [2.0, 4.0, 6.0]", "another:     [3.0, 6.0, 9.0]", "first: 0 errors"];
    says("03_struct", &[], &words);
}

#[test]
fn pool_of_threads() {
    says(
        "04_pool",
        &[],
        &[
            "[0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 26.0, 28.0, 30.0] from four threads",
        ],
    );
}

#[test]
fn lazy_global() {
    says(
        "05_global",
        &[],
        &["[1.5, 3.5]\n[2.5, 5.5]\n[3.5, 7.5]\n", "[5.5, 11.5] with a context on the stack"],
    );
}

#[test]
fn libraries_that_share_a_library() {
    let words = [
        "album:  [11, 12, 255]\nposter: [7, 20, 7]\nalbum:  [11, 12, 255]\n",
        "[7, 20, 7] on another thread",
    ];
    says("06_libraries", &[], &words);
}

#[test]
fn own_wrapper() {
    let words =
        ["no file: Err(Error(cuModuleLoad failed: CUDA_ERROR_FILE_NOT_FOUND (301)", "functions: Ok(2)"];
    says("11_own_wrapper", &[], &words);
    says("11_own_wrapper", &[], &["dropped on another thread: 0 errors"]);
    let old = [("CUPRUM_EMULATOR_DRIVER_VERSION", "12.3")];
    let words = "cuModuleGetFunctionCount needs CUDA 12.4, the driver has 12.3: update the driver";
    says("11_own_wrapper", &old, &[words, "0 errors"]);
}

#[test]
fn overlap_of_copies_and_kernels() {
    let words = ["chunk stream  copied in", "\n    0      0  ", "\n    5      1  "];
    says("07_overlap", &[("CUPRUM_EMULATOR_MODE", "async")], &words);
}

#[test]
fn queue_of_requests() {
    for mode in ["eager", "async", "deferred", "shuffled:3"] {
        says("08_requests", &[("CUPRUM_EMULATOR_MODE", mode)], &["3\n4\n5\n6\n7\n8\n9\n10\n"]);
    }
}

#[test]
fn futures_and_an_executor() {
    for mode in ["eager", "async", "deferred", "shuffled:3"] {
        let words = ["task 0: 2\n", "task 1: 12\n", "task 2: 22\n", "task 3: 32\n"];
        says("09_futures", &[("CUPRUM_EMULATOR_MODE", mode)], &words);
    }
}

#[test]
fn trace_of_all_calls() {
    let path = std::env::temp_dir().join(format!("cuprum_timeline_{}.json", std::process::id()));
    let said = run("12_trace", &[(DEVICE, "emulator")], &[path.to_str().expect("a name")]);
    let line = said.lines().find(|line| line.contains("cuLaunchKernel(")).expect("the launch");
    assert!(line.contains("gridDimX: 4, ") && line.contains(" -> CUDA_SUCCESS in "), "{line}");
    let timeline = std::fs::read_to_string(&path).expect("the timeline");
    std::fs::remove_file(&path).expect("it is removed");
    assert_eq!(timeline.matches("\"ph\":\"X\"").count(), said.matches(" -> CUDA_SUCCESS in ").count());
    assert!(timeline.contains("name: ") && timeline.contains("\"cuModuleGetFunction\""), "{timeline}");
}

#[test]
fn arguments_on_the_host() {
    says("13_host_arguments", &[], &["100000 sums and 100000 products, every one right\n"]);
}

#[test]
fn two_devices() {
    for mode in ["eager", "async", "deferred", "shuffled:3"] {
        let words = ["copied: [20.0, 20.0, 20.0]\n", "read where it lies: [12.0, 12.0, 12.0]\n"];
        says("14_two_devices", &[("CUPRUM_EMULATOR_MODE", mode)], &words);
    }
}

/// Without a driver; `examples/python/run.sh` runs it with one.
#[test]
fn without_a_driver() {
    let said = run("16_without_a_driver", &[("CUPRUM_DRIVER", "/nowhere/libcuda.so.1")], &[]);
    assert!(
        said.contains("without a GPU: no CUDA driver could be loaded: /nowhere/libcuda.so.1: "),
        "{said}"
    );
    assert!(said.ends_with("\nwith the CPU\n5\n"), "{said}");
    #[cfg(target_os = "linux")]
    {
        let mut readelf = Command::new("readelf");
        let output =
            readelf.arg("--dynamic").arg(folder().join("16_without_a_driver")).output().expect("readelf");
        let needed = String::from_utf8_lossy(&output.stdout);
        assert!(needed.contains("NEEDED") && !needed.contains("cuda"), "{needed}");
    }
}

/// If EGL has no display, the example says so.
#[test]
fn no_opengl() {
    build();
    let output = Command::new(folder().join("19_opengl"))
        .envs([(DEVICE, "emulator"), ("__EGL_VENDOR_LIBRARY_FILENAMES", "/nowhere.json")])
        .output()
        .expect("the example");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(77), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("no OpenGL: ") && said.lines().count() == 1, "{said}");
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "fetches OpenGL"]
fn opengl() {
    let fetched = mesa::environment();
    let environment: Vec<_> = fetched.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let words = ["OpenGL: llvmpipe", "frame 1: OpenGL sees 9.0\n", "frame 3: OpenGL sees 7.0\n"];
    says("19_opengl", &environment, &words);
}

/// The test that runs the example that needs NVRTC, with each release of it.
const RELEASES: &str = include_str!("../compile/tests/compile/releases.rs");

/// Every numbered example is among the tests above, and those that show one thing are short.
#[test]
fn examples_are_short_and_all_of_them_run() {
    let this = include_str!("examples.rs");
    let mut seen = 0;
    for path in sources() {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = if ["10_from_source", "18_from_c"].contains(&&*name) { RELEASES } else { this };
        assert!(text.contains(&format!("\"{name}\"")), "{name} is not run");
        let lines = std::fs::read_to_string(&path).expect("an example").lines().count();
        let shown = ["01_vector_add", "12_trace"].contains(&&*name);
        assert!(lines <= LINES || shown, "{name} has {lines} lines");
        seen += 1;
    }
    assert!(seen >= 7);
}
