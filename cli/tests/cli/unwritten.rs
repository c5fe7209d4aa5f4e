//! Output that cannot be written fails the command: none ends with 0, and none with a panic.

use std::fs::OpenOptions;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::{compiled, cuprum};

/// A device that is always full.
fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

/// A pipe whose reader has closed it.
fn closed() -> Stdio {
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
    let writer = reader.stdin.take().unwrap();
    assert!(reader.wait().unwrap().success());
    writer.into()
}

fn code(command: &mut Command) -> Option<i32> {
    command.status().unwrap().code()
}

#[test]
fn a_report_that_cannot_be_written_is_no_success() {
    for to in [full, closed] {
        for arguments in [
            &["doctor", "--software", "--no-smoke-test"][..],
            &["doctor", "--software", "--no-smoke-test", "--json"],
            &["help"],
            &["version"],
            &["doctor", "--help"],
            &["run", "--help"],
            &["trace", "--help"],
        ] {
            assert_eq!(code(cuprum().args(arguments).stdout(to())), Some(7), "{arguments:?}");
        }
        let missing = ["doctor", "--software", "--no-smoke-test", "--cuda", "99.0"];
        assert_eq!(code(cuprum().args(missing).stdout(to())), Some(1), "the verdict comes first");
        // Its word on a wrong command line is lost too.
        assert_eq!(code(cuprum().args(["doctor", "--no-such"]).stderr(to())), Some(2));
    }
}

#[test]
fn a_summary_that_cannot_be_written_is_no_success() {
    let nothing = compiled("int main(void) { return 0; }", "nothing", &[]);
    let fails = compiled("int main(void) { return 5; }", "fails", &[]);
    for to in [full, closed] {
        assert_eq!(code(cuprum().args(["run", "--"]).arg(&nothing).stderr(to())), Some(7));
        assert_eq!(code(cuprum().args(["run", "--quiet", "--"]).arg(&nothing).stderr(to())), Some(0));
        assert_eq!(code(cuprum().args(["run", "--"]).arg(&fails).stderr(to())), Some(5), "the program's own");
    }
}

/// Standard output that was closed before the start: nothing can be read, and nothing panics.
#[test]
fn a_closed_standard_output_is_no_panic() {
    let mut shell = Command::new("/bin/sh");
    let _built = cuprum();
    let binary = env!("CARGO_BIN_EXE_cuprum");
    let ended =
        shell.args(["-c", "exec \"$0\" doctor --software --no-smoke-test >&-", binary]).arg0("sh").output();
    let ended = ended.unwrap();
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("panicked"), "{ended:?}");
}
