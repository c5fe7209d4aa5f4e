//! NVRTC as NVIDIA ships it, of every CUDA line: the table compared with the exports of each
//! library and the declarations of its header.
//!
//! `cargo test -p cuprum-compile --test compile -- --ignored shipped::`: fetches the wheels on the
//! first run (x86-64 Linux, pip, network) and fails when it cannot.

use crate::nvrtc_releases::RELEASES;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuprum_compile::nvrtc::{FnId, Library, nvrtcResult};
use cuprum_sys::Version;
use cuprum_testing::processes::{cache, in_child, run};

/// Each function of the table and the names of its parameters, read from its source.
fn table() -> BTreeMap<&'static str, Vec<&'static str>> {
    let lines = include_str!("../../src/nvrtc/fns.rs").lines();
    let functions = lines.filter_map(|line| line.split_once(" fn ")?.1.strip_suffix(");")?.split_once('('));
    let names = |list: &'static str| list.split(", ").filter_map(|one| Some(one.split_once(": ")?.0));
    let table: BTreeMap<_, _> = functions.map(|(name, list)| (name, names(list).collect())).collect();
    assert_eq!(table.len(), FnId::ALL.len());
    table
}

/// Functions that later releases took out, and the first one without.
const GONE: &[(FnId, Version)] =
    &[(FnId::nvrtcGetNVVMSize, Version::new(13, 0)), (FnId::nvrtcGetNVVM, Version::new(13, 0))];

/// Exported or declared, and left out of the table: see the documentation of the module.
const LEFT_OUT: [&str; 2] = ["nvrtcGetErrorString", "nvrtcGetTypeName"];

fn fetched((package, version, library): (&str, &str, &str)) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sys/tests/fetch/wheel.sh");
    let folder = run(Command::new(script).arg(cache().join("wheels")).args([package, version]));
    Path::new(folder.trim()).join("nvidia").join(library)
}

/// The names that a library exports, read by another program.
fn exported(path: &Path) -> BTreeSet<String> {
    let names = run(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(path));
    let of_nvrtc = names.lines().filter(|name| name.starts_with("nvrtc"));
    of_nvrtc.map(|name| name.split('@').next().unwrap().to_owned()).collect()
}

/// Each release has exactly the functions that the table says of its version.
#[test]
#[ignore = "fetches NVRTC"]
fn each_release_has_the_functions_of_its_version() {
    for &release in RELEASES {
        let path = fetched(release);
        // SAFETY: NVIDIA's own library.
        let library = unsafe { Library::open_from(&path) }.unwrap();
        assert!(release.1.starts_with(&format!("{}.", library.version())), "{library:?}");
        let exported = exported(&path);
        for &function in FnId::ALL {
            let gone = GONE.iter().any(|(name, since)| *name == function && library.version() >= *since);
            let expected = function.since() <= library.version() && !gone;
            assert_eq!(library.has(function), expected, "{function} in {library:?}");
            assert_eq!(exported.contains(&function.to_string()), expected, "{function} in {library:?}");
        }
        let known: BTreeSet<_> = FnId::ALL.iter().map(FnId::to_string).collect();
        let unknown: Vec<_> =
            exported.difference(&known).filter(|name| !LEFT_OUT.contains(&name.as_str())).collect();
        assert!(unknown.is_empty(), "{library:?} exports {unknown:?}");
        println!("{library:?}: {} functions", exported.len());
    }
}

/// The header of each release: parameters by name, and result codes.
#[test]
#[ignore = "fetches NVRTC"]
fn each_header_declares_the_parameters_and_codes_of_the_table() {
    let table = table();
    for &release in RELEASES {
        let header = fetched(release).ancestors().nth(2).unwrap().join("include/nvrtc.h");
        let text = without_comments(&fs::read_to_string(header).unwrap());
        let text = text.split("NVRTC_GET_TYPE_NAME").next().unwrap();
        let mut seen = 0;
        for declared in text.split("nvrtcResult nvrtc").skip(1) {
            let (name, rest) = declared.split_once('(').unwrap();
            let name = format!("nvrtc{}", name.trim());
            let parameters =
                parameters(rest.split_once(';').unwrap().0.trim_end().strip_suffix(')').unwrap());
            assert_eq!(parameters, table[name.as_str()], "{name} in {release:?}");
            seen += 1;
        }
        assert!(seen >= 16, "{release:?} declares {seen}");
        let mut codes = 0;
        let body = text.split_once("typedef enum {").unwrap().1.split_once('}').unwrap().0;
        for code in body.split(',').filter(|code| !code.trim().is_empty()) {
            let (name, number) = code.split_once('=').unwrap();
            let number = number.trim().parse().unwrap();
            assert_eq!(nvrtcResult(number).name(), Some(name.trim()), "{release:?}");
            codes += 1;
        }
        assert!(codes >= 12, "{release:?} has {codes}");
    }
}

/// The names of C parameters.
fn parameters(list: &str) -> Vec<&str> {
    // The name of a function pointer is in parentheses, before its own parameters.
    if let Some((before, rest)) = list.split_once("int (*callback)(void*, void*)") {
        let after = rest.trim_start_matches(',');
        return [parameters(before.trim().trim_end_matches(',')), vec!["callback"], parameters(after)]
            .concat();
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    list.split(',').map(|one| one.trim().rsplit(|c| !is_word(c)).next().unwrap()).collect()
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut code = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| code.push_str(part.split_once("*/").map_or("", |(_, after)| after)));
    code
}

/// Found where pip puts it, with the folder of its second library in no path.
#[test]
#[ignore = "fetches NVRTC"]
fn each_release_is_found_as_a_wheel() {
    for &release in RELEASES {
        let path = fetched(release);
        let site = path.ancestors().nth(4).unwrap().to_str().unwrap().to_owned();
        let names =
            ["CUPRUM_NVRTC", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"];
        let mut variables = names.map(|name| (name, "")).to_vec();
        variables.push(("PYTHONPATH", &site));
        in_child("shipped::each_release_is_found_as_a_wheel", &variables, || {
            let file = Library::open().unwrap().file().unwrap();
            assert_eq!(fs::canonicalize(file).unwrap(), fs::canonicalize(&path).unwrap());
        });
    }
}
