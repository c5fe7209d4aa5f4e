//! The contents of the published crates: sources, licenses and texts, and nothing that cannot run
//! outside of this repository.

use std::path::Path;
use std::process::Command;

/// The published crates, and the files that each ships in addition to the common ones.
const CRATES: &[(&str, &[&str])] = &[
    ("cuprum-sys", &["README.md", "examples/driver_info.rs"]),
    ("cuprum-derive", &["README.md"]),
    ("cuprum-tracer", &["README.md", "build.rs", "exports.map"]),
    ("cuprum-ptx", &["README.md", "build.rs"]),
    ("cuprum-engine", &["README.md"]),
    ("cuprum-emulator", &["ARCHITECTURE.md", "README.md"]),
    ("cuprum", &["CHANGELOG.md", "README.md"]),
    ("cuprum-nccl", &["README.md"]),
    ("cuprum-compile", &["README.md"]),
    ("cuprum-dlpack", &["README.md"]),
    ("cuprum-cli", &["README.md"]),
];
const ALL: &[&str] = &["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT"];
/// Written by cargo.
const CARGO: &[&str] = &[".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"];

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo, which runs this");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names of files")
}

#[test]
fn crates_ship_their_sources_and_licenses_alone() {
    for (name, more) in CRATES {
        let listed = cargo(&["package", "--list", "--allow-dirty", "--offline", "-p", name]);
        let files: Vec<_> = listed.lines().map(|file| file.replace('\\', "/")).collect();
        let others: Vec<_> =
            files.iter().map(String::as_str).filter(|file| !file.starts_with("src/")).collect();
        let mut wanted: Vec<_> = [ALL, CARGO, more].concat();
        wanted.sort_unstable();
        // Without a lock file of the workspace, or outside of git, cargo leaves out its own.
        let ours = |file: &&&str| !CARGO.contains(file);
        let (others, wanted): (Vec<_>, Vec<_>) =
            (others.iter().filter(ours).collect(), wanted.iter().filter(ours).collect());
        assert_eq!(others, wanted, "{name}");
        assert!(files.iter().any(|file| file == "src/lib.rs" || file == "src/main.rs"), "{name}");
    }
}

#[test]
fn crates_have_the_fields_that_a_registry_requires() {
    for (name, _) in CRATES {
        let folder = match name.strip_prefix("cuprum-").unwrap_or(".") {
            inside @ ("ptx" | "engine") => format!("emulator/{inside}"),
            folder => folder.to_owned(),
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let package = manifest.split("[package]").nth(1).expect("a package");
        for key in [
            "description = ",
            "readme = \"README.md\"",
            "include = [\"/src/**\", ",
            "license.workspace",
            "categories.workspace",
            "keywords.workspace",
            "rust-version.workspace",
        ] {
            assert!(package.contains(key), "{name}: {key}");
        }
        let license =
            std::fs::read_to_string(folder.join("LICENSE-MIT")).expect("a license, not a link to nowhere");
        assert!(license.contains("Permission is hereby granted"), "{name}");
    }
}

/// Each comes after its dependencies, as a registry requires.
#[test]
fn ci_packs_all_of_them_in_their_order() {
    let ci =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/run")).expect("a script");
    let command = ci.lines().find(|line| line.starts_with("cargo publish --dry-run")).expect("a dry run");
    let packed: Vec<_> = command.split(" -p ").skip(1).collect();
    let names: Vec<_> = CRATES.iter().map(|(name, _)| *name).collect();
    assert_eq!(packed, names);
}
