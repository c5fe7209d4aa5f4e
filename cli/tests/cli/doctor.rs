//! Correct diagnoses of `cuprum doctor`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::json::Json;
use super::schema::{At, members, schema};
use super::{Ran, compiled, cuprum, folder, ran};

fn doctor(arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    ran(cuprum().arg("doctor").args(arguments).envs(variables.iter().copied()))
}

/// The report as JSON, with the exit code, which it has too.
#[track_caller]
fn json(arguments: &[&str], variables: &[(&str, &str)]) -> (i32, Json) {
    let ran = doctor(&[&["--json"], arguments].concat(), variables);
    assert_eq!(ran.error, "", "nothing but the report");
    let (code, json) = (ran.code.expect("an exit code"), Json::read(&ran.out).expect("JSON"));
    assert_eq!(json.at("exit_code"), &Json::Number(f64::from(code)));
    assert_eq!(json.at("ok"), &Json::Bool(code == 0));
    (code, json)
}

fn file(name: &str, bytes: &[u8]) -> String {
    let path = folder("doctor").join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

const NONE: (&str, &str) = ("CUPRUM_DRIVER", "/no/such/libcuda.so.1");

#[test]
fn without_a_driver_it_says_so_first() {
    let ran = doctor(&[], &[NONE]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.out.starts_with("CUDA does not work here: no driver can be loaded.\n  - "), "{}", ran.out);
    assert!(ran.out.contains("CUPRUM_DRIVER=/no/such/libcuda.so.1: cuprum loads this driver"), "{}", ran.out);
    let ptx = file("k.ptx", b".version 8.4\n.target sm_90\n.func f() {}\n");
    let (code, json) = json(&["--cuda", "12.2", &ptx], &[NONE]);
    assert_eq!((code, json.at("driver.kind").text(), json.at("driver.cuda")), (3, "unusable", &Json::Null));
    assert!(json.at("features").list().is_empty() && json.at("smoke_test").list().is_empty());
    // The needs of files are reported all the same.
    assert_eq!(json.at("needs.1.cuda").text(), "12.4");
    assert_eq!(json.at("libraries.0.path").text(), NONE.1);
}

#[test]
fn the_software_device_works() {
    let (code, json) = json(&["--software"], &[]);
    assert_eq!((code, json.at("driver.kind").text(), json.at("driver.cuda").text()), (0, "software", "13.5"));
    assert_eq!(json.at("devices.0.compute_capability").text(), "9.0");
    assert_eq!(json.at("devices.0.attributes.warp_size"), &Json::Number(32.0));
    assert!(json.at("features").list().iter().all(|feature| feature.at("has") == &Json::Bool(true)));
    assert_eq!(json.at("smoke_test.0.ok"), &Json::Bool(true));
    for speed in ["launch_us", "to_device_gb_per_s", "to_host_gb_per_s", "on_device_gb_per_s"] {
        let Json::Number(number) = json.at(&format!("smoke_test.0.{speed}")) else { panic!("no {speed}") };
        assert!(*number > 0.0, "{speed}");
    }
    let ran = doctor(&["--software", "--all"], &[("CUPRUM_EMULATOR_DEVICES", "2")]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.starts_with("CUDA works here: the software driver of CUDA 13.5, "), "{}", ran.out);
    for words in [
        "and 1 more; the smoke test passes.",
        "Device 1: ",
        "warp size: 32",
        "has green contexts (CUDA 12.4)",
    ] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
}

#[test]
fn an_old_driver_lacks_features_and_required_functions() {
    let needs = compiled(
        "int cuInit(unsigned); int cuMemAllocAsync(void*, long, void*);\n\
         int f(void) { return cuInit(0) + cuMemAllocAsync(0, 0, 0); }\n",
        "libneeds.so",
        &["-shared", "-fPIC"],
    );
    let old = [("CUPRUM_EMULATOR_DRIVER_VERSION", "11.0")];
    let newer = file("newer.ptx", b".version 7.4\n.target sm_50\n.func f() {}\n");
    let needs = needs.to_str().unwrap();
    let (code, report) = json(&["--software", "--cuda=12.2", needs, &newer], &old);
    assert_eq!((code, report.at("driver.cuda").text()), (1, "11.0"));
    let lacking: Vec<_> =
        report.at("features").list().iter().filter(|one| one.at("has") == &Json::Bool(false)).collect();
    let names: Vec<_> = lacking.iter().map(|one| (one.at("name").text(), one.at("since").text())).collect();
    assert!(names.contains(&("memory in the order of streams", "11.2")), "{names:?}");
    assert!(!names.iter().any(|(name, _)| *name == "graphs"), "{names:?}");
    let missing = |at: usize| match report.at(&format!("needs.{at}.missing")).list() {
        [Json::Text(one)] => one.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(0), "it needs CUDA 12.2, the driver has 11.0");
    assert_eq!(missing(1), "the driver lacks cuMemAllocAsync (CUDA 11.2)");
    assert_eq!(report.at("needs.1.functions").list().len(), 2);
    assert!(missing(2).contains("needs a driver of CUDA 11.4; this one has 11.0"), "{}", missing(2));
    // With a driver that has all of it, nothing is missing.
    assert_eq!(json(&["--software", "--cuda=12.2", needs, &newer], &[]).0, 0);
    // Each driver reads the PTX of its toolkit; a version that is not known yet is not taken for
    // one that it reads.
    let of = |version: &str| {
        file(
            &format!("of{version}.ptx"),
            format!(".version {version}\n.target sm_50\n.func f() {{}}\n").as_bytes(),
        )
    };
    for (driver, reads, refuses) in [("13.2", "9.2", "9.3"), ("13.5", "9.5", "9.9")] {
        let posed = [("CUPRUM_EMULATOR_DRIVER_VERSION", driver)];
        assert_eq!(json(&["--software", &of(reads)], &posed).0, 0, "{reads}");
        let (code, report) = json(&["--software", &of(refuses)], &posed);
        assert_eq!(code, 1, "{refuses}");
        assert!(report.at("needs.0.missing.0").text().contains("for device 0 it has PTX"), "{refuses}");
    }
}

#[test]
fn code_that_no_device_runs_is_reported() {
    let mut cubin = b"\x7fELF\x02\x01\x01\x41\x08".to_vec();
    cubin.resize(128, 0);
    (cubin[18], cubin[49]) = (190, 80);
    // A table of one section.
    (cubin[40], cubin[58], cubin[60]) = (64, 64, 1);
    let files = [
        file("k.cubin", &cubin),
        file("new.ptx", b".version 8.6\n.target sm_100\n.func f() {}\n"),
        file("text.txt", b"hello"),
        "/no/such/file".to_owned(),
        format!("{}/../emulator/tests/data/plain.fatbin", env!("CARGO_MANIFEST_DIR")),
    ];
    let arguments: Vec<&str> = ["--software"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let (code, json) = json(&arguments, &[]);
    assert_eq!(code, 1);
    for (at, kind, words) in [
        (0, "machine code (cubin)", "runs PTX alone"),
        (1, "PTX", "nothing in it runs on device 0 (compute capability 9.0)"),
        (2, "unknown", "neither PTX, cubin, fatbin nor a program"),
        (3, "unreadable", "No such file"),
    ] {
        assert_eq!(json.at(&format!("needs.{at}.kind")).text(), kind);
        assert!(json.at(&format!("needs.{at}.missing.0")).text().contains(words), "{:?}", json.at("needs"));
    }
    assert_eq!(json.at("needs.4.code").text(), "PTX 7.7 for sm_75, PTX 7.7 for sm_52");
    assert!(json.at("needs.4.missing").list().is_empty());
}

/// A driver in C, whose `cuInit` has the body `init`.
fn fake(name: &str, version: &str, init: &str) -> PathBuf {
    let source = format!(
        "#include <stdlib.h>\n#include <unistd.h>\nint cuDriverGetVersion(int *to) {{ {version} }}\n\
         int cuInit(unsigned flags) {{ {init} }}\nint cuDeviceGetCount(int *to) {{ *to = 0; return 0; }}\n"
    );
    compiled(&source, name, &["-shared", "-fPIC"])
}

#[test]
fn a_driver_that_crashes_or_hangs_does_not_end_the_report() {
    const NEW: &str = "*to = 12040; return 0;";
    for (name, init, words) in [
        ("libabort.so", "abort();", "signal 6"),
        ("libcrash.so", "return *(volatile int *)8;", "signal 11, a crash"),
        ("libhang.so", "sleep(60); return 0;", "it did not end within 1 s"),
        ("libexit.so", "_exit(3);", "exit status: 3"),
    ] {
        let path = fake(name, NEW, init);
        let (code, json) = json(&["--limit", "1", "--driver", path.to_str().unwrap()], &[]);
        assert_eq!(
            (code, json.at("driver.cuda").text(), json.at("driver.init")),
            (4, "12.4", &Json::Null),
            "{name}"
        );
        assert!(json.at("reasons.0").text().contains(words), "{name}: {:?}", json.at("reasons"));
    }
}

#[test]
fn stubs_strangers_and_drivers_without_devices_are_distinguished() {
    for (name, version, init, code, kind, words) in [
        ("libstub.so", "return 34;", "return 34;", 3, "stub", "only the toolkit's stub"),
        ("libnone.so", "*to = 12040; return 0;", "return 0;", 4, "real", "has no device"),
        ("libold.so", "*to = 9010; return 0;", "return 999;", 4, "real", "of CUDA 9.1 does not start"),
        ("libmismatch.so", "*to = 12040; return 0;", "return 803;", 4, "real", "does not start"),
        ("libnodevice.so", "*to = 12040; return 0;", "return 100;", 4, "real", "sees no device"),
    ] {
        let path = fake(name, version, init);
        let (given, json) = json(&["--driver", path.to_str().unwrap()], &[]);
        assert_eq!((given, json.at("driver.kind").text()), (code, kind), "{name}");
        assert!(json.at("summary").text().contains(words), "{name}: {}", json.at("summary").text());
    }
    let stranger = compiled("int f(void) { return 0; }", "libstranger.so", &["-shared", "-fPIC"]);
    let (code, json) = json(&["--driver", stranger.to_str().unwrap()], &[]);
    assert_eq!(code, 3);
    assert!(json.at("reasons.0").text().contains("exports no function of the driver API"));
}

#[test]
fn libraries_are_found_in_their_order_and_the_chosen_one_is_named() {
    let library = fake("libcuda-of-a-folder.so", "*to = 11040; return 0;", "return 100;");
    let place = folder("a folder");
    std::fs::copy(&library, place.join("libcuda.so.1")).unwrap();
    let (code, json) = json(&[], &[("LD_LIBRARY_PATH", place.to_str().unwrap())]);
    assert_eq!(code, 4);
    assert_eq!(
        (json.at("libraries.0.from").text(), json.at("libraries.0.cuda").text()),
        ("LD_LIBRARY_PATH", "11.4")
    );
    assert_eq!(json.at("driver.origin").text(), "libcuda.so.1");
    assert_eq!(
        Path::new(json.at("driver.file").text()),
        std::fs::canonicalize(place.join("libcuda.so.1")).unwrap()
    );
    assert!(json.at("driver.why").text().contains("the system's loader finds"));
    assert_eq!(json.at("variables.0.name").text(), "LD_LIBRARY_PATH");
}

#[test]
fn a_command_line_that_makes_no_sense_is_refused() {
    for arguments in
        [&["--cuda", "new"][..], &["--limit", "0"], &["--driver", "x", "--software"], &["--no-such"]]
    {
        let ran = doctor(arguments, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.error.starts_with("cuprum: "), "{}", ran.error);
    }
    let help = doctor(&["--help"], &[]);
    assert_eq!(help.code, Some(0));
    assert!(help.out.contains("exit codes: 0 CUDA works"), "{}", help.out);
    assert_eq!(ran(&mut cuprum()).code, Some(2));
    assert!(ran(cuprum().arg("version")).out.starts_with("cuprum "));
}

/// Every member is in the table with its type, and every row of the table is written by one of
/// these runs.
#[test]
fn the_json_follows_the_schema() {
    let schema = schema();
    assert!(schema.len() > 60, "the table was not read: {schema:?}");
    let crash = fake("libcrash-of-schema.so", "*to = 12040; return 0;", "abort();");
    let place = folder("of the schema");
    std::fs::copy(&crash, place.join("libcuda.so.1")).unwrap();
    let file = file("needs.ptx", b".version 9.9\n.target sm_120\n");
    let cut = self::file("cut.ptx", b".version 8.4\n.target sm_90\n.func f() {");
    let needs =
        compiled("int cuInit(unsigned); int f(void) { return cuInit(0); }", "libs.so", &["-shared", "-fPIC"]);
    let runs = [
        json(
            &["--software", "--cuda", "99.0", &file, &cut, needs.to_str().unwrap()],
            &[("CUDA_LAUNCH_BLOCKING", "1")],
        ),
        json(&["--driver", crash.to_str().unwrap()], &[("LD_LIBRARY_PATH", place.to_str().unwrap())]),
        json(&[], &[NONE]),
    ];
    let mut seen = BTreeSet::new();
    for (_, json) in &runs {
        let mut found = Vec::new();
        members(json, "", &mut found);
        for (path, kind) in found {
            let row = match path.rsplit_once('.') {
                Some((parent, _)) if parent.ends_with(".attributes") => format!("{parent}.*"),
                _ => path.clone(),
            };
            let types = schema.get(&row).unwrap_or_else(|| panic!("{row} is not in SCHEMA.md"));
            assert!(types.split(" or ").any(|one| one == kind), "{path} is a {kind}, not a {types}");
            seen.insert(row);
        }
    }
    // The machine of this run determines the nodes.
    let rare = ["machine.nodes[]", "machine.forbidden_nodes[]"];
    let unseen: Vec<_> =
        schema.keys().filter(|row| !seen.contains(*row) && !rare.contains(&row.as_str())).collect();
    assert!(unseen.is_empty(), "in SCHEMA.md, and written by no run: {unseen:?}");
}

/// Seven drivers, with the features and answers that each lacks without a GPU.
#[test]
#[ignore = "fetches real drivers"]
#[cfg(target_arch = "x86_64")]
fn seven_real_drivers() {
    let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/drivers");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sys/tests/fetch/drivers.sh");
    assert!(Command::new(script).arg(&cache).status().unwrap().success());
    for (driver, cuda, lacks, init, first) in [
        ("340.108", "6.5", 23, "CUDA_ERROR_NO_DEVICE", "primary contexts"),
        ("390.157", "9.1", 19, "CUDA_ERROR_UNKNOWN", "memory and semaphores of other APIs"),
        ("418.226.00", "10.1", 15, "CUDA_ERROR_NO_DEVICE", "virtual memory"),
        ("470.256.02", "11.4", 11, "CUDA_ERROR_NO_DEVICE", "launches with attributes, clusters"),
        ("535.261.03", "12.2", 6, "CUDA_ERROR_NO_DEVICE", "conditional nodes of graphs"),
        ("550.163.01", "12.4", 3, "CUDA_ERROR_NO_DEVICE", "batches of copies"),
        ("555.58.02", "12.5", 3, "CUDA_ERROR_NO_DEVICE", "batches of copies"),
    ] {
        let folder = cache.join(driver);
        let path = folder.join("libcuda.so.1");
        let environment = [("LD_LIBRARY_PATH", folder.to_str().unwrap())];
        let (code, report) = json(&["--cuda", "12.3", "--driver", path.to_str().unwrap()], &environment);
        assert_eq!(
            (code, report.at("driver.kind").text(), report.at("driver.cuda").text()),
            (4, "real", cuda),
            "{driver}"
        );
        assert_eq!(report.at("driver.init").text(), init, "{driver}");
        assert!(
            report.at("driver.file").text().ends_with(&format!("libcuda.so.{driver}")),
            "{:?}",
            report.at("driver")
        );
        assert_eq!(report.at("driver.release").text(), driver);
        let lacking: Vec<_> =
            report.at("features").list().iter().filter(|one| one.at("has") == &Json::Bool(false)).collect();
        assert_eq!((lacking.len(), lacking[0].at("name").text()), (lacks, first), "{driver}: {lacking:?}");
        let missing = report.at("needs.0.missing").list().len();
        assert_eq!(missing, usize::from(!["550.163.01", "555.58.02"].contains(&driver)), "{driver}");
        // The machine of this test has no GPU, which is the reason for either answer.
        let reason = report.at("reasons.0").text();
        assert!(reason.contains(init) && reason.contains("no NVIDIA GPU"), "{driver}: {reason}");
        // The same driver, found as programs find it, in its own folder.
        let (_, found) = json(&[], &environment);
        assert_eq!(
            (found.at("driver.cuda").text(), found.at("libraries.0.cuda").text()),
            (cuda, cuda),
            "{driver}"
        );
    }
}
