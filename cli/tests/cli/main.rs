//! The binary `cuprum`, as a user starts it: on no driver, on drivers that are broken, on seven
//! real ones without a GPU, and on the software device.
#![cfg(target_os = "linux")]

mod damage;
mod doctor;
mod found;
mod json;
mod processes;
mod run;
mod schema;
mod unwritten;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use cuprum_testing::libcuda;

/// The binary, without variables that change the drivers it finds. The software device's library is
/// in the same folder.
fn cuprum() -> Command {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| libcuda::library(env!("CARGO_TARGET_TMPDIR")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuprum"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CUDA_", "CUPRUM_", "NVIDIA_", "LD_"].iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// The outputs of a run and its exit code.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    error: String,
}

fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { code: status.code(), out: text(stdout), error: text(stderr) }
}

/// A folder of this program's.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Compiles C to a file.
#[track_caller]
fn compiled(source: &str, file: &str, options: &[&str]) -> PathBuf {
    let folder = folder("compiled");
    let (text, built) = (folder.join(format!("{file}.c")), folder.join(file));
    std::fs::write(&text, source).expect("a source");
    let output =
        Command::new("cc").arg("-o").arg(&built).arg(&text).args(options).output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    built
}
