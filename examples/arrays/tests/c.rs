//! The C programs, compiled by `cc` and run: against this library and its header, and against
//! `libcuda.so.1`.
//!
//! A separate test program, because it builds libraries and starts others.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use cuprum_testing::c_programs::{compile, folder, library, run, text};
use cuprum_testing::libcuda;

/// Cargo's folder for the files of tests.
const TEMPORARY: &str = env!("CARGO_TARGET_TMPDIR");

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_program_in_c_uses_the_library_and_makes_mistakes() {
    let (library, folder) = (library("libarrays.so"), folder(TEMPORARY, "arrays"));
    let (program, rpath) =
        (folder.join("arrays"), format!("-Wl,-rpath,{}", text(library.parent().expect("a folder"))));
    let include = format!("-I{}", text(&here().join("include")));
    compile(&here().join("c/arrays.c"), &program, &[&include, text(&library), &rpath]);
    let said = run(Command::new(&program).env("CUPRUM_DEVICE", "emulator"));
    let expected = "3 2997\n5 4995\n\
        freed twice: 2, there is no array 2: it was freed\n\
        used after it was freed: 2, there is no array 2: it was freed\n\
        too short: 4, the array has 1000 elements, not 999\n\
        of another type: 3, the array has elements of type 1, not 2\n";
    assert_eq!(said, expected);
}

/// The header is one of C++ too.
#[test]
fn the_header_is_c_and_cpp() {
    for language in ["c", "c++"] {
        let header = here().join("include/arrays.h");
        run(Command::new("cc")
            .args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", language])
            .arg(header));
    }
}

#[test]
fn a_program_in_c_runs_on_libcuda() {
    let (library, folder) = (libcuda::library(TEMPORARY), folder(TEMPORARY, "libcuda"));
    let link = folder.join("libcuda.so.1");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(library, &link).expect("a link");
    let program = folder.join("driver");
    let (search, rpath) = (format!("-L{}", text(&folder)), format!("-Wl,-rpath,{}", text(&folder)));
    compile(&here().join("c/driver.c"), &program, &[&search, "-l:libcuda.so.1", &rpath]);
    let said = run(Command::new(&program)
        .arg(here().join("../../kernels/vector_add.ptx"))
        .env("CUPRUM_EMULATOR_LEAKCHECK", "1"));
    assert_eq!(said, "Software CUDA device: 3 2997\n");
}
