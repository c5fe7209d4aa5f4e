//! Libraries read variables in one place, which obeys none in a program with the setuid bit.

use crate::sizes::each_source;

/// The sources of libraries.
const LIBRARIES: [&str; 10] = [
    "sys/src/",
    "src/",
    "compile/src/",
    "dlpack/src/",
    "emulator/src/",
    "emulator/engine/src/",
    "emulator/ptx/src/",
    "emulator/libcuda/src/",
    "emulator/cudart/src/",
    "tracer/src/",
];

/// Sources that read variables themselves, each with the reason.
const LEFT: &[(&str, &str)] = &[
    ("sys/src/environment.rs", "the one place"),
    ("src/diagnosis/machine.rs", "told to people, and not obeyed"),
    ("src/device/visibility.rs", "told to people, and not obeyed"),
    ("emulator/libcuda/src/lib.rs", "CUDA_VISIBLE_DEVICES hides devices; it leads to no file"),
    ("emulator/src/driver/code/fatbin/reference.rs", "of tests"),
    ("src/region/naive.rs", "in builds that are unsound on purpose, for tests"),
];

/// Lines of a text that read a variable. Words in comments are none.
fn readers(text: &str) -> impl Iterator<Item = &str> {
    let reads = |line: &&str| ["env::var", "getenv"].iter().any(|word| line.contains(word));
    text.lines().map(str::trim).filter(|line| !line.starts_with("//")).filter(reads)
}

#[test]
fn libraries_ask_one_place_for_variables() {
    assert_eq!(readers("// env::var\nlet x = std::env::var_os(\"PATH\");\nenv::args();").count(), 1);
    let (mut unused, mut wrong) = (LEFT.to_vec(), Vec::new());
    each_source(|path, text| {
        let is_of_library = LIBRARIES.iter().any(|folder| path.starts_with(folder));
        if !is_of_library {
            return;
        }
        let (known, read) = (LEFT.iter().any(|left| left.0 == path), readers(&text).count());
        match known {
            true if read == 1 => unused.retain(|left| left.0 != path),
            _ => wrong.extend(readers(&text).map(|line| format!("{path}: {line}"))),
        }
    });
    assert!(wrong.is_empty(), "not by `cuprum_sys::environment`:\n{}", wrong.join("\n"));
    assert!(unused.is_empty(), "in this list, and read nothing: {unused:?}");
}
