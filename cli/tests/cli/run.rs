//! `cuprum run`: programs of C that load `libcuda.so.1`, right and wrong ones.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Ran, compiled, cuprum, folder, ran};

/// A program that loads the driver as others do. Its argument selects its action.
pub(super) const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *driver;
static int call(const char *name, void *a, void *b, void *c, void *d) {
    int (*function)(void *, void *, void *, void *) = dlsym(driver, name);
    return function ? function(a, b, c, d) : -1;
}
static const char *ptx =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry put(.param .u64 at) {\n"
    ".reg .u64 %at; .reg .u32 %v;\nld.param.u64 %at, [at];\nmov.u32 %v, 7;\nst.global.u32 [%at], %v;\nret;\n}\n"
    ".visible .entry unwritten(.param .u64 at) {\n"
    ".reg .u64 %at; .reg .u32 %v, %u;\nld.param.u64 %at, [at];\nst.global.u32 [%at+4], %u;\nmov.u32 %v, 7;\n"
    "st.global.u32 [%at], %v;\nret;\n}\n"
    ".visible .entry endless(.param .u64 at) {\nagain: bra again;\n}\n";

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "abort")) abort();
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) { puts(dlerror()); return 3; }
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        dlsym(driver, "cuLaunchKernel");
    void *context = 0, *module = 0, *function = 0, *table = 0;
    unsigned long long memory = 0;
    unsigned value = 0;
    int failed = call("cuInit", 0, 0, 0, 0) || call("cuCtxCreate_v2", &context, 0, 0, 0)
        || call("cuMemAlloc_v2", &memory, (void *)64, 0, 0)
        || call("cuModuleLoadData", &module, (void *)ptx, 0, 0)
        || call("cuModuleGetFunction", &function, module,
                !strcmp(what, "endless") || !strcmp(what, "unwritten") ? (void *)what : "put", 0);
    if (failed) return 4;
    if (!strcmp(what, "runtime")) return call("cuGetExportTable", &table,
        count > 3 ? "0123456789abcdef" : "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9", 0, 0)
        ? (count > 2 ? atoi(words[2]) : 0) : 5;
    unsigned long long at = memory + (strcmp(what, "outside") ? 0 : 64);
    void *parameters[] = { &at };
    launch(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0);
    int ended = call("cuCtxSynchronize", 0, 0, 0, 0);
    if (!strcmp(what, "outside") || !strcmp(what, "endless")) return 0;
    if (ended || call("cuMemcpyDtoH_v2", &value, (void *)memory, (void *)4, 0) || value != 7) return 6;
    if (!strcmp(what, "hold")) return 0;
    if (!strcmp(what, "twice")) {
        for (int time = 0; time < 4; time++)
            call("cuMemFree_v2", (void *)memory, 0, 0, 0); // here
        return 0;
    }
    if (strcmp(what, "leak")) call("cuMemFree_v2", (void *)memory, 0, 0, 0);
    call("cuModuleUnload", module, 0, 0, 0);
    call("cuCtxDestroy_v2", context, 0, 0, 0);
    printf("done with %s\n", what);
    return count > 2 ? atoi(words[2]) : 0;
}
"#;

pub(super) fn program() -> String {
    static BUILT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let path = || compiled(PROGRAM, "client", &["-g", "-ldl"]).to_str().unwrap().to_owned();
    BUILT.get_or_init(path).clone()
}

pub(super) fn run(options: &[&str], program: &[&str]) -> Ran {
    ran_with(&[], options, program)
}

pub(super) fn ran_with(variables: &[(&str, &str)], options: &[&str], program: &[&str]) -> Ran {
    ran(cuprum().envs(variables.iter().copied()).arg("run").args(options).arg("--").args(program))
}

#[test]
fn a_right_program_ends_as_it_does() {
    let ran = run(&["--all-checks"], &[&program(), "well"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done with well\n"), "{}", ran.error);
    assert_eq!(ran.error, "", "nothing is to be told");
    let own = run(&["--quiet"], &[&program(), "well", "7"]);
    assert_eq!((own.code, own.error.as_str()), (Some(7), ""));
}

#[test]
fn a_fault_that_the_program_ignores_is_reported_and_counted() {
    let ran = run(&[], &[&program(), "outside"]);
    assert_eq!(ran.code, Some(99), "{}", ran.error);
    for words in [
        "out-of-bounds access in kernel `put`",
        "64 bytes of device memory",
        "reported 1 fault of a kernel\n",
    ] {
        assert!(ran.error.contains(words), "{words}: {}", ran.error);
    }
    assert_eq!(run(&["--error-exitcode", "5"], &[&program(), "outside"]).code, Some(5));
}

#[test]
fn checks_are_on_if_they_are_asked_for() {
    assert_eq!(run(&[], &[&program(), "leak"]).code, Some(0));
    let ran = run(&["--leakcheck"], &[&program(), "leak"]);
    assert_eq!(ran.code, Some(99), "{}", ran.error);
    assert!(ran.error.contains("reported 1 context with leaks"), "{}", ran.error);
    // Caches, such as Numba's, are held until the process ends.
    let held = run(&["--all-checks"], &[&program(), "hold"]);
    assert_eq!(held.code, Some(0), "{}", held.error);
    for words in [
        "held until the process ended",
        "64 bytes of device memory",
        "1 process that held something to its end",
    ] {
        assert!(held.error.contains(words), "{words}: {}", held.error);
    }
}

/// Without a limit this run would not end.
#[test]
fn a_kernel_that_never_ends_is_ended() {
    let ran = run(&["--time-limit", "1"], &[&program(), "endless"]);
    assert_eq!(ran.code, Some(99), "{}", ran.error);
    assert!(
        ran.error.contains("kernel `endless`") && ran.error.contains("1 fault of a kernel"),
        "{}",
        ran.error
    );
}

#[test]
fn options_and_libraries_are_tried_before_the_program_starts() {
    for (options, words) in [
        (&["--mode", "lazy"][..], "--mode lazy: expected eager, async, deferred"),
        (&["--devices=17"], "--devices 17: expected a number from 1 to 16"),
        (&["--time-limit", "0"], "--time-limit 0: expected a number of seconds above 0"),
        (&["--all-checks", "--memory", "much"], "--memory much: expected a number of bytes"),
        (&["--error-exitcode", "256"], "--error-exitcode 256: expected a number from 0 to 255"),
    ] {
        let ran = run(options, &["/bin/sh", "-c", "echo started"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.error);
        assert!(ran.error.contains(words), "{words}: {}", ran.error);
    }
    let shell = ["run", "--", "/bin/sh", "-c", "echo started"];
    let by_variable = ran(cuprum().args(shell).env("CUPRUM_EMULATOR_MODE", "lazy"));
    assert_eq!((by_variable.code, by_variable.out.as_str()), (Some(125), ""), "{}", by_variable.error);
    assert!(by_variable.error.contains("CUPRUM_EMULATOR_MODE=lazy: expected"), "{}", by_variable.error);
    for (source, name, words) in [
        ("int f(void) { return 0; }", "libstranger-of-run.so", "exports no function of the driver API"),
        (
            "int cuDriverGetVersion(int *to) { *to = 12040; return 0; }\nint cuInit(unsigned f) { return 0; }",
            "libhardware.so",
            "a driver of hardware",
        ),
        (
            "__attribute__((constructor)) void f(void) { __builtin_trap(); }",
            "libtrap.so",
            "ended with signal",
        ),
    ] {
        let library = compiled(source, name, &["-shared", "-fPIC"]);
        let ran = run(&["--library", library.to_str().unwrap()], &["/bin/sh", "-c", "echo started"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(125), ""), "{}", ran.error);
        assert!(ran.error.contains(words), "{words}: {}", ran.error);
    }
}

#[test]
fn a_program_that_cannot_run_is_explained() {
    let runtime = run(&[], &[&program(), "runtime", "7"]);
    assert_eq!(runtime.code, Some(7));
    assert!(runtime.error.contains("a program of the CUDA runtime"), "{}", runtime.error);
    assert!(runtime.error.contains("it cannot run here; build it with"), "{}", runtime.error);
    let went_on = run(&[], &[&program(), "runtime"]);
    assert_eq!(went_on.code, Some(0));
    assert!(went_on.error.contains("went on without it"), "{}", went_on.error);
    assert!(!went_on.error.contains("cannot run here"), "a verdict that its end refutes: {}", went_on.error);
    // NVRTC asks for a table of its own.
    let other = run(&[], &[&program(), "runtime", "7", "other"]);
    assert_eq!(other.code, Some(7));
    assert!(!other.error.contains("CUDA runtime"), "{}", other.error);

    let alone = compiled("int main(void) { return 0; }", "static", &["-static"]);
    let alone = run(&[], &[alone.to_str().unwrap()]);
    assert_eq!(alone.code, Some(125));
    assert!(alone.error.contains("is linked statically"), "{}", alone.error);

    let library = compiled("int f(void) { return 0; }", "library.so", &["-shared", "-fPIC"]);
    assert_eq!(run(&[], &[library.to_str().unwrap()]).code, Some(125));

    let useless = compiled("int main(void) { return 0; }", "useless", &[]);
    let useless = run(&[], &[useless.to_str().unwrap()]);
    assert_eq!(useless.code, Some(0));
    for words in ["will hardly use it", "it did not call the driver"] {
        assert!(useless.error.contains(words), "{words}: {}", useless.error);
    }

    let text = folder("run").join("text");
    std::fs::write(&text, "no program").unwrap();
    for (name, code, words) in [
        (text.to_str().unwrap(), 126, "neither a program"),
        ("/no/such/program", 127, "there is no program"),
        ("no-such-program-anywhere", 127, "there is no program"),
    ] {
        let ran = run(&[], &[name]);
        assert_eq!(ran.code, Some(code), "{}", ran.error);
        assert!(ran.error.contains(words), "{}", ran.error);
    }
}

#[test]
fn scripts_run_with_all_that_they_start() {
    let script = folder("run").join("script");
    std::fs::write(&script, format!("#!/bin/sh\n{0} well && {0} outside\n", program())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let ran = run(&[], &[script.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(99), "done with well\n"), "{}", ran.error);
}

#[test]
fn a_signal_is_reported_and_nothing_remains() {
    let own = folder("temporary files");
    let mut command = cuprum();
    let ran = ran(command.env("TMPDIR", &own).args(["run", "--", &program(), "abort"]));
    assert_eq!(ran.code, Some(134), "{}", ran.error);
    assert!(ran.error.contains("was ended by signal 6"), "{}", ran.error);
    assert_eq!(std::fs::read_dir(&own).unwrap().count(), 0);
}

#[test]
fn a_signal_for_both_ends_the_program_alone() {
    let waits = "trap 'echo told; exit 3' TERM; echo waits; while :; do sleep 0.1; done";
    let mut child = cuprum()
        .args(["run", "--", "/bin/sh", "-c", waits])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "waits");
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(lines.next().unwrap().unwrap(), "told");
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("`/bin/sh` ended with 3"), "{ended:?}");
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let _built = cuprum();
    let script = "trap '' HUP; exec \"$0\" run --quiet -- /bin/sh -c 'kill -HUP $$; echo still there'";
    let mut shell = Command::new("/bin/sh");
    let ran = ran(shell.args(["-c", script, env!("CARGO_BIN_EXE_cuprum")]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "still there\n"), "{}", ran.error);
}

#[test]
fn the_library_is_the_one_named_or_it_is_said_where_it_was_looked_for() {
    let missing = run(&["--library", "/no/such/library"], &[&program()]);
    assert_eq!(missing.code, Some(125));
    assert!(missing.error.contains("the option names /no/such/library"), "{}", missing.error);
    // A copy of the binary in a folder of its own, without a library.
    let copy = folder("alone").join("cuprum");
    std::fs::copy(env!("CARGO_BIN_EXE_cuprum"), &copy).unwrap();
    let alone =
        ran(Command::new(&copy).args(["run", "--", &program()]).env_remove("CUPRUM_SOFTWARE_LIBRARY"));
    assert_eq!(alone.code, Some(125));
    for words in ["CUPRUM_SOFTWARE_LIBRARY", "cargo build --release -p cuprum-libcuda"] {
        assert!(alone.error.contains(words), "{words}: {}", alone.error);
    }
    let library = Path::new(env!("CARGO_BIN_EXE_cuprum")).with_file_name("libcuprum_libcuda.so");
    let _built = cuprum();
    // The library of the Python package, at its place in a virtual environment.
    let environment = folder("environment");
    let package = environment.join("lib/python3.12/site-packages/cuda_software/lib");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::copy(&library, package.join("libcuda.so.1")).unwrap();
    let packaged = ran(Command::new(&copy)
        .args(["run", "--", &program(), "well"])
        .env_remove("CUPRUM_SOFTWARE_LIBRARY")
        .env("VIRTUAL_ENV", &environment));
    assert_eq!((packaged.code, packaged.out.as_str()), (Some(0), "done with well\n"), "{}", packaged.error);
    let named = ran(Command::new(&copy)
        .args(["run", "--", &program(), "well"])
        .env("CUPRUM_SOFTWARE_LIBRARY", library));
    assert_eq!((named.code, named.out.as_str()), (Some(0), "done with well\n"), "{}", named.error);
}

#[test]
fn programs_that_assemble_get_their_ptx_back() {
    let script = r#"cd "$1" && echo "// text" > a.ptx && "$TRITON_PTXAS_PATH" -v --gpu-name=sm_90 a.ptx -o a.cubin &&
        cmp -n 7 a.ptx a.cubin && [ "$TRITON_PTXAS_PATH" = "$TRITON_PTXAS_BLACKWELL_PATH" ] && echo same"#;
    let ran = run(&[], &["sh", "-c", script, "sh", folder("assembled").to_str().unwrap()]);
    assert_eq!((ran.code, &*ran.out), (Some(0), "same\n"), "{}", ran.error);
    let own = ["sh", "-c", "echo $TRITON_PTXAS_PATH"];
    let own = super::ran(cuprum().env("TRITON_PTXAS_PATH", "own").args(["run", "--"]).args(own));
    assert_eq!(own.out, "own\n", "{}", own.error);
}

/// A library that says whose it is, under the name of the CUDA runtime, and a program that has a
/// path of its own to another.
#[test]
fn a_runtime_next_to_the_software_device_comes_before_the_programs_own() {
    let runtime = |folder: &Path, whose: &str| {
        let path = folder.join("libcudart.so.13");
        let text = format!("const char *cudaWhose(void) {{ return \"{whose}\"; }}");
        let built = compiled(&text, whose, &["-shared", "-fPIC", "-Wl,-soname,libcudart.so.13"]);
        std::fs::copy(built, &path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (theirs, ours) = (folder("theirs"), folder("with a runtime"));
    let linked = runtime(&theirs, "theirs");
    runtime(&ours, "ours");
    let path = format!("-Wl,--disable-new-dtags,-rpath,{}", theirs.display());
    let says = r#"#include <stdio.h>
        #include <stdlib.h>
        const char *cudaWhose(void);
        int main(void) { printf("%s %s\n", cudaWhose(), getenv("PYTORCH_NO_CUDA_MEMORY_CACHING")); }"#;
    let says = compiled(says, "says", &[&linked, &path]);
    let says = says.to_str().unwrap();
    let _built = cuprum();
    let library = Path::new(env!("CARGO_BIN_EXE_cuprum")).with_file_name("libcuprum_libcuda.so");
    let copy = ours.join("libcuda.so.1");
    std::fs::copy(library, &copy).unwrap();

    let options = ["--library", copy.to_str().unwrap()];
    let given = run(&options, &[says]);
    assert_eq!(given.out, "ours 1\n", "{}", given.error);
    assert!(!given.error.contains("CUDA runtime"), "{}", given.error);
    let set =
        ran(cuprum().env("PYTORCH_NO_CUDA_MEMORY_CACHING", "0").arg("run").args(options).args(["--", says]));
    assert_eq!(set.out, "ours 0\n", "{}", set.error);
    // In addition to others that are loaded first.
    let other = compiled("int other;", "other.so", &["-shared", "-fPIC"]);
    let shows = ["sh", "-c", "echo $LD_PRELOAD"];
    let more = ran(cuprum().env("LD_PRELOAD", &other).arg("run").args(options).arg("--").args(shows));
    let (first, second) = more.out.trim_end().split_once(':').expect("two libraries");
    assert_eq!(Path::new(first), other, "{}", more.error);
    assert!(second.ends_with("/libcudart.so.13"), "{second}");

    std::fs::remove_file(ours.join("libcudart.so.13")).unwrap();
    let alone = run(&options, &[says]);
    assert_eq!(alone.out, "theirs (null)\n", "{}", alone.error);
    for words in ["libcudart.so.13", "no driver but NVIDIA's", "emulator/cudart/link.sh"] {
        assert!(alone.error.contains(words), "{words}: {}", alone.error);
    }
}

#[test]
fn a_command_line_without_a_program_is_refused() {
    for arguments in
        [&["run"][..], &["run", "prog"], &["run", "x", "--", "prog"], &["run", "--no-such", "--", "prog"]]
    {
        let ran = ran(cuprum().args(arguments));
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.error);
    }
    let hint = ran(cuprum().args(["run", "prog"])).error;
    assert!(hint.contains("cuprum run [OPTIONS] -- prog"), "{hint}");
}

/// On a terminal, such as `script`, a wait of more than two seconds prints a message; elsewhere it
/// prints nothing.
#[test]
fn a_wait_of_more_than_two_seconds_shows_progress_on_a_terminal() {
    let slow = compiled("#include <unistd.h>\nint main(void) { sleep(3); return 0; }", "slow", &[]);
    let hangs = "#include <unistd.h>\nint cuDriverGetVersion(int *to) { *to = 12040; return 0; }\n\
                 int cuInit(unsigned flags) { sleep(60); return 0; }";
    let hangs = compiled(hangs, "libhangs-of-progress.so", &["-shared", "-fPIC"]);
    let (slow, hangs) = (slow.to_str().unwrap(), hangs.to_str().unwrap());
    let binary = env!("CARGO_BIN_EXE_cuprum");
    let _built = cuprum();
    let on_terminal = |line: String| {
        std::thread::spawn(move || {
            let typed =
                std::process::Command::new("script").args(["-qec", &line, "/dev/null"]).output().unwrap();
            String::from_utf8_lossy(&typed.stdout).into_owned()
        })
    };
    let run_shown = on_terminal(format!("'{binary}' run -- '{slow}'"));
    let doctor_shown = on_terminal(format!("'{binary}' doctor --limit 4 --driver '{hangs}'"));
    let quiet = run(&[], &[slow]);
    let shown = run_shown.join().unwrap();
    assert!(shown.contains("cuprum run: still running after 2 s, 0 report(s) so far"), "{shown}");
    assert!(!quiet.error.contains("still running"), "{}", quiet.error);
    let shown = doctor_shown.join().unwrap();
    assert!(
        shown.contains("starting the driver: 2 s") && shown.contains("starting the driver: 3 s"),
        "{shown}"
    );
    assert!(shown.contains("it did not end within 4 s"), "{shown}");
}
