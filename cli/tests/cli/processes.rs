//! `cuprum run --processes`: groups of processes, and their ends.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::cuprum;
use super::run::{program, run};

/// A shell script as the program.
fn group(options: &[&str], script: &str) -> super::Ran {
    run(&[&["--quiet"], options].concat(), &["/bin/sh", "-c", script])
}

#[test]
fn each_process_gets_its_number_and_all_one_address() {
    let ran = group(&["--processes", "3"], "echo $RANK $LOCAL_RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT");
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    let mut lines: Vec<_> = ran.out.lines().collect();
    lines.sort_unstable();
    let port = lines[0].rsplit(' ').next().unwrap();
    assert!(port.parse::<u16>().unwrap() > 0);
    let wanted: Vec<_> = (0..3).map(|rank| format!("{rank} {rank} 3 127.0.0.1 {port}")).collect();
    assert_eq!(lines, wanted);
    let alone = group(&[], "echo none: $RANK $WORLD_SIZE");
    assert_eq!(alone.out, "none:\n");
}

#[test]
fn each_process_has_a_device_unless_another_number_is_given() {
    let devices = "echo $CUPRUM_EMULATOR_DEVICES";
    assert_eq!(group(&["--processes=2"], devices).out, "2\n2\n");
    assert_eq!(group(&["--processes=2", "--devices=5"], devices).out, "5\n5\n");
    assert_eq!(group(&[], devices).out, "\n");
}

#[test]
fn a_process_that_fails_is_named_and_ends_the_others() {
    let start = Instant::now();
    let ends = [
        ("exit 7", "cuprum run: member 2 of 3 ended with 7\n", 7),
        ("kill -9 $$", "cuprum run: member 2 of 3 was ended by signal 9\n", 137),
    ];
    // Each waits some seconds for the others to end by themselves.
    std::thread::scope(|threads| {
        for (end, words, code) in ends {
            threads.spawn(move || {
                let script = format!("[ $RANK != 2 ] || {end}; exec sleep 100");
                let ran = group(&["--processes", "3"], &script);
                assert_eq!((ran.code, ran.error.as_str()), (Some(code), words));
            });
        }
    });
    assert!(start.elapsed() < Duration::from_secs(60), "the others were waited for");
}

#[test]
fn the_others_may_end_by_themselves_and_the_first_failure_counts() {
    let script = "[ $RANK != 1 ] || exit 3; sleep 1; echo $RANK noticed; exit 4";
    let ran = group(&["--processes", "2"], script);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), "0 noticed\n"), "{}", ran.error);
    assert_eq!(ran.error, "cuprum run: member 1 of 2 ended with 3\n");
}

#[test]
fn a_report_of_any_process_counts() {
    let script = format!("if [ $RANK = 1 ]; then exec {0} outside; else exec {0} well; fi", program());
    let ran = run(&["--processes", "2"], &["/bin/sh", "-c", &script]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(99), "done with well\n"), "{}", ran.error);
    assert!(ran.error.contains("reported 1 fault of a kernel"), "{}", ran.error);
}

#[test]
fn a_signal_reaches_all_processes() {
    let waits = "trap 'echo ended; exit 0' TERM; echo waits; while :; do sleep 0.1; done";
    let mut child = cuprum()
        .args(["run", "--quiet", "--processes", "3", "--", "/bin/sh", "-c", waits])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.by_ref().take(3).collect::<Vec<_>>(), ["waits"; 3]);
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(lines.collect::<Vec<_>>(), ["ended"; 3]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn numbers_of_processes_that_make_no_sense_are_refused() {
    for count in ["0", "17", "many"] {
        let ran = group(&["--processes", count], "echo started");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.error);
        assert!(ran.error.contains("expected a number from 1 to 16"), "{}", ran.error);
    }
}
