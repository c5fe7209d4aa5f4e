//! The output of the programs that work: `CUPRUM_TROUBLES=overwrite cargo test -p cuprum-troubles`
//! records it.
//!
//! A separate test program, because it starts another one. `run.py` runs the failing programs,
//! which are in Python.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn each_says_what_it_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let overwrite = env::var("CUPRUM_TROUBLES").is_ok_and(|value| value == "overwrite");
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("this folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("works.rs").exists())
        .collect();
    names.sort();
    assert_eq!(names.len(), 8, "{names:?}");
    for path in names {
        let name = path.file_name().expect("a folder").to_str().expect("ASCII");
        let mut command = Command::new(env!("CARGO_BIN_EXE_troubles"));
        let output = command.arg(name).env("CUPRUM_DEVICE", "emulator").output().expect("the program starts");
        // The reports of the device go to standard error, and are in `fails.expected`.
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {said}{}", String::from_utf8_lossy(&output.stderr));
        let expected = path.join("works.expected");
        if overwrite {
            fs::write(&expected, &*said).expect("it is written");
        }
        assert_eq!(said, fs::read_to_string(&expected).unwrap_or_default(), "{name}");
    }
}
