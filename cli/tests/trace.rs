//! `cuprum trace` as a command: its outputs, its exit codes, and its messages when it cannot run.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

/// The folder with the programs that cargo built.
fn built() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cuprum")).parent().expect("a folder")
}

/// Builds the libraries that the command looks for in its folder, and the client.
fn client() -> &'static Path {
    static CLIENT: OnceLock<PathBuf> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let target = built().parent().expect("the target folder");
        let libraries = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "-p", "cuprum-tracer", "-p", "cuprum-libcuda", "--target-dir"])
            .arg(target)
            .status();
        assert!(libraries.expect("cargo starts").success());
        compiled("client", &["-pthread", "-ldl"])
    })
}

/// The client as a program of its own kind.
fn compiled(name: &str, options: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracer/tests/client.c");
    let compiled =
        Command::new("cc").arg("-o").arg(&program).arg(source).args(options).stderr(Stdio::null()).status();
    assert!(compiled.expect("a C compiler").success());
    program
}

/// A folder of a test's own, in which the command runs.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("command-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("tmp")).expect("a folder");
        Self(folder)
    }

    fn command(&self, options: &[&str], program: &[&str]) -> Command {
        client();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuprum"));
        command.current_dir(&self.0).env("TMPDIR", self.0.join("tmp")).arg("trace").args(options);
        if !program.is_empty() {
            command.arg("--").args(program);
        }
        command
    }

    fn run(&self, options: &[&str], program: &[&str]) -> Output {
        self.command(options, program).output().expect("it starts")
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// The files in the folder.
    fn files(&self, folder: &str) -> Vec<String> {
        let files = fs::read_dir(self.0.join(folder)).expect("a folder");
        let mut names: Vec<_> =
            files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn client_name() -> &'static str {
    client().to_str().expect("a name")
}

#[test]
fn a_program_runs_and_leaves_its_timeline() {
    let folder = Folder::new("whole");
    let output = folder.run(&["--software"], &[client_name(), "query", "return"]);
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    assert_eq!(folder.files("."), ["tmp", "trace.html", "trace.json"]);
    assert_eq!(folder.files("tmp"), [""; 0], "what was written on the way is gone");
    let (page, trace) = (folder.text("trace.html"), folder.text("trace.json"));
    for text in ["cuLaunchKernel", "twice", "stream 2", "cuMemcpyDtoH_v2"] {
        assert!(page.contains(text) && trace.contains(text), "{text}");
    }
    assert!(page.ends_with("</html>\n") && !page.contains('@'), "the page is whole");
    assert!(
        told.contains("1 call answered with an error\n") && told.contains("calls of 1 thread took"),
        "{told}"
    );
    assert!(told.contains("\n  cuDeviceGet: CUDA_ERROR_INVALID_DEVICE (101)\n"), "{told}");
    assert!(told.contains("trace.html for a browser, trace.json for Perfetto"), "{told}");
}

#[test]
fn the_exit_status_is_the_programs() {
    let folder = Folder::new("ends");
    for (end, code, text) in [
        ("_exit", 3, "exit status: 3"),
        ("crash", 128 + 11, "signal: 11"),
        ("abort", 128 + 6, "signal: 6"),
        ("killed", 128 + 9, "signal: 9"),
    ] {
        let output = folder.run(&["--software", "--output", end], &[client_name(), "dlsym", end]);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(text) && told.contains("all calls up to then are here"), "{told}");
        assert!(folder.text(&format!("{end}.html")).contains("all calls up to then are here"));
        assert!(folder.text(&format!("{end}.json")).contains("12345"), "the last call");
    }
}

/// The command, while its program waits for a signal.
fn waiting(folder: &Folder) -> Child {
    let mut child = folder
        .command(&["--software"], &[client_name(), "dlsym", "terminated"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    child.stdout.take().expect("it is piped").read_exact(&mut [0; 6]).expect("the client is ready");
    child
}

#[test]
fn a_signal_to_the_command_ends_the_program_and_still_gives_its_timeline() {
    let folder = Folder::new("signal");
    let mut child = waiting(&folder);
    assert!(Command::new("kill").arg(child.id().to_string()).status().expect("kill").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(128 + 15));
    assert!(folder.text("trace.json").contains("12345"));
}

#[test]
fn files_of_an_interrupted_run_can_be_read_later() {
    let folder = Folder::new("recover");
    let mut child = waiting(&folder);
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    let left = folder.files("tmp");
    assert_eq!(left.len(), 1, "{left:?}");
    let output = folder.run(&["--recover", &format!("tmp/{}", left[0]), "--output", "found"], &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(folder.text("found.json").contains("12345"));
    assert!(said(&output).contains("is still running"), "{}", said(&output));
    let process = left_running(&folder.text("found.json"));
    assert!(Command::new("kill").arg(process).status().expect("kill").success());
}

/// Number of the traced process.
fn left_running(trace: &str) -> String {
    let number = trace.split("\"pid\":").nth(1).expect("a process");
    number.split(',').next().expect("a number").to_owned()
}

#[test]
fn where_there_is_nothing_to_show_it_says_why() {
    let folder = Folder::new("nothing");
    fs::write(folder.0.join("trace.html"), "an earlier one").expect("a file");
    let output = folder.run(&["--software"], &[client_name(), "dlsym", "nothing"]);
    assert!(output.status.success());
    assert!(said(&output).contains("no process of it called libcuda.so.1"), "{}", said(&output));
    assert_eq!(folder.text("trace.html"), "an earlier one");
    assert_eq!(folder.files("."), ["tmp", "trace.html"]);
}

#[test]
fn a_driver_that_is_opened_by_its_path_is_named() {
    let folder = Folder::new("path");
    // The program opens the software device under a driver's name, by its path, whatever the
    // environment says.
    let path = folder.0.join("libcuda.so.1");
    client();
    fs::copy(built().join("libcuprum_libcuda.so"), &path).expect("the library");
    let code = format!("import ctypes, time; ctypes.CDLL({path:?}).cuInit(0); time.sleep(0.5)");
    let output = folder.run(&["--software"], &["python3", "-c", &code]);
    let told = said(&output);
    assert!(told.contains(&format!("opened {}, by its path", path.display())), "{told}");
}

/// Programs ask with `dlsym` for the driver's functions: a function that the driver lacks is
/// missing from the library in between, too.
#[test]
fn functions_that_the_driver_lacks_are_not_found() {
    let folder = Folder::new("lacks");
    let code = "int cuInit(unsigned flags) { return flags; } int cuDriverGetVersion(int *v) { *v = 13000; return 0; }";
    fs::write(folder.0.join("driver.c"), code).expect("a file");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o", "driver.so", "driver.c"]).current_dir(&folder.0);
    assert!(compile.status().expect("a C compiler").success());
    let look = "import ctypes; c = ctypes.CDLL('libcuda.so.1'); print(c.cuInit(7), hasattr(c, 'cuDriverGetVersion'), \
                hasattr(c, 'cuDeviceGet'), hasattr(c, 'cuFuncGetParamCount'), hasattr(c, 'cuMemcpyHtoD_v2_ptds'))";
    let output = folder.run(&["--driver", "driver.so"], &["python3", "-c", look]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7 True False False False\n");
    let output = folder.run(&["--software"], &["python3", "-c", &look.replace("cuInit(7)", "cuInit(0)")]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 True True True True\n", "{}", said(&output));
}

#[test]
fn a_program_that_cannot_be_started_is_reported_with_its_code() {
    let folder = Folder::new("cannot");
    fs::write(folder.0.join("text"), "no program").expect("a file");
    let fixed = compiled("static", &["-static", "-pthread"]);
    let fixed = fixed.to_str().expect("a name");
    let cases: &[(&[&str], &[&str], i32, &str)] = &[
        (&["--software"], &["./there-is-none"], 127, "there is no program"),
        (&["--software"], &["./text"], 126, "neither a program"),
        (&["--software"], &[fixed, "dlsym", "return"], 125, "statically"),
        (&["--driver", "nowhere.so"], &["true"], 125, "nowhere.so"),
        (&["--library", "nowhere.so"], &["true"], 125, "nowhere.so"),
        (&["--software", "--output", "nowhere/trace"], &["true"], 125, "nowhere/trace.html"),
        (&["--software", "--driver", "x"], &["true"], 2, "two drivers"),
        (&["--software"], &[], 2, "a program is missing"),
        (&["--most-mib", "many"], &["true"], 2, "a number of MiB"),
        (&["--recover", "tmp"], &[], 125, "there are no calls in tmp"),
    ];
    for &(options, program, code, text) in cases {
        let output = folder.run(options, program);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(code), "{options:?} {program:?}: {told}");
        assert!(told.contains(text), "{options:?} {program:?}: {told}");
    }
    assert_eq!(folder.files("."), ["text", "tmp"], "nothing is left");
}

#[test]
fn the_times_of_the_device_are_measured_where_that_is_asked_for() {
    let folder = Folder::new("times");
    let output = folder.run(&["--software", "--device-times"], &[client_name(), "dlsym", "return"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(folder.text("trace.json").matches("measured on the device").count(), 5);
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_runs() {
    let folder = Folder::new("options");
    for most in ["0", "-1", "1048577", "99999999999999", "much"] {
        let output = folder.run(&["--software", "--most-mib", most], &["/bin/sh", "-c", "echo ran"]);
        let told = said(&output);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{most}: {told}");
        assert!(told.contains(&format!("--most-mib {most}: expected a number of MiB from 1 to")), "{told}");
    }
}
