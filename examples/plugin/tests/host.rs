//! A host in C loads, uses and unloads the plugin many times, on the software device as
//! `libcuda.so.1`.
//!
//! A separate test program, because it builds libraries and starts another program.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use cuprum_testing::c_programs::{compile, folder, library, outputs};
use cuprum_testing::libcuda;

/// Cargo's folder for the files of tests.
const TEMPORARY: &str = env!("CARGO_TARGET_TMPDIR");

/// Most that a load may leak, in KiB: its table of driver functions, and the allocator's overhead.
/// It is usually 6; 28 was seen during other work, because threads that end later keep their pages
/// for a while.
const KIB: i64 = 64;

#[test]
fn a_host_loads_and_unloads_it_many_times() {
    let (plugin, driver) = (library("libplugin.so"), libcuda::library(TEMPORARY));
    let (program, times) = (folder(TEMPORARY, "plugin").join("host"), 60);
    compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("c/host.c"), &program, &["-ldl", "-lpthread"]);
    for mode in ["eager", "async"] {
        let mut host = Command::new(&program);
        host.arg(&plugin).arg(times.to_string());
        host.env("CUPRUM_DRIVER", &driver)
            .env("CUPRUM_EMULATOR_MODE", mode)
            .env("CUPRUM_EMULATOR_LEAKCHECK", "1");
        let (said, grown) = outputs(&mut host);
        assert_eq!(
            said,
            format!("{times} times, unmapped {times} times\n{times} times on the first thread\n")
        );
        let grown =
            grown.strip_prefix("the later half grew by ").and_then(|rest| rest.strip_suffix(" KiB\n"));
        let grown: i64 = grown.expect("no word but this").parse().expect("a number");
        assert!(grown < KIB * times / 2, "{mode}: {grown} KiB");
    }
}
