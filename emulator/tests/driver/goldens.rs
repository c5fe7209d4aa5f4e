//! Mistakes and edge cases: compares the results of a real driver with the exported library's.
//!
//! `tests/gpu/probe_driver.py` runs each query in a separate process, because some of them crash
//! real drivers. `tests/gpu/compare_driver.py` lists the intended differences, with reasons.
//!
//! `cargo test -p cuprum-emulator --test driver -- --ignored goldens::mistakes` (needs python3).
use std::path::{Path, PathBuf};
use std::process::Command;

use cuprum_testing::libcuda;

/// Returns a folder in which the library has the name that programs load.
fn library_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver_goldens");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let library = libcuda::library(env!("CARGO_TARGET_TMPDIR"));
    std::fs::copy(library, folder.join("libcuda.so.1")).expect("cargo has built the library");
    folder
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}:\n{said}{errors}");
}

#[test]
#[ignore = "needs python3"]
fn mistakes_are_answered_as_a_real_driver_does() {
    let folder = library_folder();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (scripts, recorded) =
        (repository.join("tests/gpu"), repository.join("tests/data/goldens/driver.json"));
    let measured = folder.join("driver.json");
    let mut probe = Command::new("python3");
    probe.arg(scripts.join("probe_driver.py")).arg(&measured);
    // One query is made while a kernel waits for the host.
    run(probe.env("LD_LIBRARY_PATH", &folder).env("CUPRUM_EMULATOR_MODE", "async"));
    run(Command::new("python3").arg(scripts.join("compare_driver.py")).arg(recorded).arg(&measured));
}
