//! The built library between programs that do not know it and the software device: their work,
//! their exits, and the trace read back.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::{fs, io};

use cuprum_testing::libcuda;
use cuprum_tracer::{Recording, Timeline, variables};

/// The software device's library, which calls are forwarded to.
fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| libcuda::library(env!("CARGO_TARGET_TMPDIR")))
}

/// The client, compiled.
fn client() -> &'static Path {
    static CLIENT: OnceLock<PathBuf> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("client-{}", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client.c");
        let built =
            Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).arg("-ldl").status();
        assert!(built.expect("a C compiler").success());
        program
    })
}

/// A folder with the library under the driver's name, and one for calls.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("trace-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("calls")).expect("a folder");
        let link = folder.join("libcuda.so.1");
        match std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cuprum-trace-library"), link) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => panic!("{error}"),
            _ => {}
        }
        Self(folder)
    }

    /// The client on the traced driver.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(client());
        command.args(words).env("LD_LIBRARY_PATH", &self.0).env(variables::DRIVER, driver());
        command.env(variables::FOLDER, self.0.join("calls")).env("CUPRUM_EMULATOR_REPORTS", "0");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the client starts")
    }

    fn read(&self) -> Recording {
        Recording::read(&self.0.join("calls")).expect("the files are there")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Number of calls of a function in a timeline.
fn calls_of(events: &str, function: &str) -> usize {
    events.matches(&format!("\"name\":\"{function}\"")).count()
}

/// The client's calls before its end.
#[track_caller]
fn assert_worked(events: &str) {
    for function in ["cuInit", "cuModuleLoadData", "cuMemAlloc_v2", "cuStreamSynchronize", "cuMemcpyDtoH_v2"]
    {
        assert_eq!(calls_of(events, function), 1, "{function} in {events}");
    }
    assert_eq!(calls_of(events, "cuLaunchKernel"), 2);
    // Two launches, on lanes of their own, under the kernel's name.
    assert_eq!(events.matches("\"cat\":\"kernel\"").count(), 2, "{events}");
    assert_eq!(calls_of(events, "twice"), 2);
    for text in [
        "\"name\":\"stream 1\"",
        "\"name\":\"stream 2\"",
        "\"name\":\"default stream\"",
        "\"name\":\"copy to device, 128 B\"",
        "\"waited for\":\"twice\"",
        "\"waited for\":\"copy to host, 128 B\"",
        "\"answer\":\"CUDA_ERROR_INVALID_DEVICE\"",
        "\"ordinal\":\"12345\"",
        "\"name\":\"\\\"twice\\\"\"",
    ] {
        assert!(events.contains(text), "{text} in {events}");
    }
    // It waited for nothing but its own copy.
    let copy = events.lines().find(|line| line.contains("\"cuMemcpyDtoH_v2\"")).expect("it was counted");
    assert!(!copy.contains("waited for"), "{copy}");
    assert!(!events.contains("nobody waited for it"), "{events}");
}

#[test]
fn every_call_is_there_whichever_way_functions_are_found() {
    for way in ["dlsym", "query"] {
        let folder = Folder::new(way);
        let output = folder.run(&[way, "return"]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stderr, b"", "{}", String::from_utf8_lossy(&output.stderr));
        let recording = folder.read();
        let events = Timeline::of(&recording).trace_events().to_string();
        assert_worked(&events);
        // The first function is found by its symbol; for the others, the library replaces the
        // results of queries.
        assert_eq!(calls_of(&events, "cuGetProcAddress_v2") > 10, way == "query", "{events}");
        assert_eq!(recording.lost(), 0);
    }
}

#[test]
fn no_end_of_a_process_loses_a_call() {
    for (end, code) in
        [("return", Some(0)), ("_exit", Some(3)), ("crash", None), ("abort", None), ("killed", None)]
    {
        let folder = Folder::new(end);
        let output = folder.run(&["dlsym", end]);
        assert_eq!(output.status.code(), code, "{end}: {output:?}");
        assert_worked(&Timeline::of(&folder.read()).trace_events().to_string());
    }
}

#[test]
fn calls_can_be_read_while_the_program_runs() {
    use std::io::Read;
    let folder = Folder::new("running");
    let mut child =
        folder.command(&["dlsym", "terminated"]).stdout(Stdio::piped()).spawn().expect("the client starts");
    let mut ready = [0; 6];
    child.stdout.take().expect("it is piped").read_exact(&mut ready).expect("it says so");
    let recording = folder.read();
    assert_worked(&Timeline::of(&recording).trace_events().to_string());
    assert_eq!(recording.running().collect::<Vec<_>>(), [child.id()]);
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    assert_eq!(recording.running().count(), 0);
}

#[test]
fn a_forked_child_and_a_program_that_is_started_have_files_of_their_own() {
    let folder = Folder::new("fork");
    let output = folder.run(&["dlsym", "fork"]);
    assert!(output.status.success(), "{output:?}");
    let recording = folder.read();
    let events = Timeline::of(&recording).trace_events().to_string();
    assert_eq!(calls_of(&events, "cuDriverGetVersion"), 200);
    // A process and its streams, twice.
    assert_eq!(events.matches("\"name\":\"process_name\"").count(), 4);

    let folder = Folder::new("exec");
    let output = folder.run(&["dlsym", "exec"]);
    assert!(output.status.success(), "{output:?}");
    let events = Timeline::of(&folder.read()).trace_events().to_string();
    assert_eq!(calls_of(&events, "cuInit"), 2);
    assert_eq!(calls_of(&events, "twice"), 4);
}

#[test]
fn threads_write_concurrently() {
    let folder = Folder::new("threads");
    let output = folder.run(&["dlsym", "threads", "20000"]);
    assert!(output.status.success(), "{output:?}");
    let recording = folder.read();
    let events = Timeline::of(&recording).trace_events().to_string();
    assert_eq!(calls_of(&events, "cuDriverGetVersion"), 8 * 20_000);
    assert_eq!(events.matches("\"name\":\"thread_name\"").count(), 9 + 3, "threads and streams");
}

#[test]
fn calls_without_room_are_counted() {
    let folder = Folder::new("room");
    let output = folder
        .command(&["dlsym", "threads", "5000"])
        .env(variables::MOST_BYTES, "100000")
        .output()
        .expect("the client starts");
    assert!(output.status.success(), "{output:?}");
    let recording = folder.read();
    assert!(recording.lost() > 0);
    let events = Timeline::of(&recording).trace_events().to_string();
    let written = calls_of(&events, "cuDriverGetVersion") as u64;
    assert!(written > 0, "{events}");
    assert_eq!(written + recording.lost(), 8 * 5000);
    let bytes: u64 = fs::read_dir(folder.0.join("calls"))
        .expect("a folder")
        .map(|file| file.expect("a file").metadata().expect("its size").len())
        .sum();
    assert!(bytes <= 100_000, "{bytes}");
}

#[test]
fn a_program_that_calls_nothing_leaves_nothing() {
    let folder = Folder::new("nothing");
    assert!(folder.run(&["dlsym", "nothing"]).status.success());
    assert!(folder.read().is_empty());
}

#[test]
fn a_missing_driver_is_reported_once() {
    let folder = Folder::new("none");
    let itself = folder.0.join("libcuda.so.1");
    for (path, told) in [
        (Path::new("/nowhere/libcuda.so.1"), "/nowhere"),
        (&itself, "itself"),
        (Path::new("libcuda.so.1"), "absolute"),
    ] {
        let output = folder
            .command(&["dlsym", "return"])
            .env(variables::DRIVER, path)
            .output()
            .expect("the client starts");
        assert_eq!(output.status.code(), Some(8), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(told) && said.contains("cuInit(0): 100"), "{said}");
        assert_eq!(said.matches("cuprum trace").count(), 1, "{said}");
    }
}

/// All five pieces are measured, and the calls that it takes are not among the program's.
#[test]
fn the_times_of_the_device_are_measured_where_that_is_asked_for() {
    for mode in ["eager", "async"] {
        let folder = Folder::new(&format!("times-{mode}"));
        let mut command = folder.command(&["dlsym", "return"]);
        command.env(variables::DEVICE_TIMES, "1").env("CUPRUM_EMULATOR_MODE", mode);
        let output = command.output().expect("the client starts");
        assert!(output.status.success(), "{output:?}");
        let events = Timeline::of(&folder.read()).trace_events().to_string();
        assert_worked(&events);
        assert_eq!(events.matches("measured on the device").count(), 5, "{events}");
        assert_eq!(calls_of(&events, "cuEventCreate"), 1);
        assert_eq!(calls_of(&events, "cuEventRecord"), 1);
    }
}

/// An older driver: missing functions return "not supported", and the others work.
#[test]
fn an_older_driver_works() {
    let folder = Folder::new("old");
    let output = folder
        .command(&["dlsym", "return"])
        .env("CUPRUM_EMULATOR_DRIVER_VERSION", "11.0")
        .output()
        .expect("the client starts");
    assert!(output.status.success(), "{output:?}");
    assert_worked(&Timeline::of(&folder.read()).trace_events().to_string());
}
